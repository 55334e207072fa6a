"""Which function a local name runs that a partial made, or another function that returns it from inside itself.

Knows names that are assigned once; refuses to follow a name whose arguments mean something else at its call.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.callers import bind
from amplint.flow.terms import bindings, sole_return
from amplint.model.data import Entity
from amplint.model.tree import Argument, Call, Expr, FunctionDef, If, IfExp, Lambda, Module, Name, Node, Parameter, Try
from amplint.model.walks import element, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.bindings import Binding

COMPILERS = frozenset({"torch.compile", "torch.jit.script"})


class BoundFunction(Entity):
    """A function, the arguments that a partial gives it, and what the parameters of its maker got.

    frame evaluates what they got, and the object whose method it is; -1 is that of the call.
    """

    home: "Facts"
    function: FunctionDef | Lambda
    given: tuple[Argument, ...] = ()
    captured: tuple[tuple[Parameter, Expr | None], ...] = ()
    frame: int = -1
    me: Expr | None = None

    @property
    def is_bare(self) -> bool:
        """Whether a call runs the function with its own arguments alone."""
        return not self.given and not self.captured and self.me is None

    def called(self, call: Call) -> Call:
        """The call with the arguments of the partial put in front of its own."""
        if not self.given:
            return call
        own = {argument.name for argument in call.args if argument.name is not None}
        placed = [a for a in self.given if a.name is None]
        named = [a for a in self.given if a.name is not None and a.name not in own]
        return Call(call.span, call.func, (*placed, *call.args, *named))


def bound_function(home: "Facts", func: Node, owner: Node) -> BoundFunction | None:
    """The function that a name of some owner (a function, or the module) runs, where it was bound so."""
    if not isinstance(func, Name):
        return None
    found = home.names.lookup(func.id, func)
    wrapped = _compiled(home, found)
    if wrapped is not None:
        return BoundFunction(home, wrapped)
    made = found[0].value if len(found) == 1 else None
    if not isinstance(made, Call) or not _means_the_same(home, made, found[0].scope, owner):
        return None
    if home.names.canonical(made.func) == "functools.partial":
        target = named_function(home, made.args[0].value) if made.args else None
        is_plain = not any(argument.star for argument in made.args)
        return BoundFunction(*target, given=made.args[1:]) if target is not None and is_plain else None
    maker = named_function(home, made.func)
    return closure(*maker, made) if maker is not None else None


def _compiled(home: "Facts", found: "tuple[Binding, ...]") -> FunctionDef | None:
    """The function that a name stands for in a compiled form, perhaps on request: `step = torch.compile(step)`."""
    values = [each.value for each in found if each.value is not None]
    defined = [each.node for each in found if isinstance(each.node, FunctionDef)]
    inner = [uncompiled(home, value) for value in values]
    is_plain = all(value is name for value, name in zip(values, inner, strict=True))
    if is_plain or len(values) + len(defined) != len(found):
        return None
    functions = {*defined}
    for name in inner:
        named = home.names.lookup(name.id, name) if isinstance(name, Name) else ()
        own = [each.node for each in named if isinstance(each.node, FunctionDef)]
        if len(own) != 1 or not all(each.value in values for each in named if each.node is not own[0]):
            return None
        functions.add(own[0])
    return functions.pop() if len(functions) == 1 else None


def uncompiled(home: "Facts", value: Expr) -> Expr | None:
    """What an expression compiles, or itself; of a choice, what both sides are; None for any other call."""
    match value:
        case Call():
            is_compiler = home.names.canonical(value.func) in COMPILERS and bool(value.args)
            return value.args[0].value if is_compiler else None
        case IfExp():
            yes, no = uncompiled(home, value.body), uncompiled(home, value.orelse)
            return yes if isinstance(yes, Name) and isinstance(no, Name) and yes.id == no.id else None
        case _:
            return value


def closure(
    home: "Facts", maker: FunctionDef, made: Call, part: int | None = None, frame: int = -1
) -> BoundFunction | None:
    """The function that a function defines, and returns from its only return; with a part, in that place of a tuple."""
    returned: Expr | None = sole_return(maker)
    if part is not None:
        returned = element(returned, part)
    inner: Node | None = returned
    if isinstance(returned, Name):
        found = home.names.lookup(returned.id, returned)
        is_own = len(found) == 1 and found[0].scope is maker
        inner = (found[0].value or found[0].node) if is_own else None
    if not isinstance(inner, FunctionDef | Lambda) or home.index.function(inner) is not maker:
        return None
    own, given = bindings(inner), bind(maker, made)
    captured = ((p, given.get(p.name)) for p in maker.parameters if p.name not in own)
    return BoundFunction(home, inner, captured=tuple(captured), frame=frame)


def _means_the_same(home: "Facts", made: Call, scope: Node, owner: Node) -> bool:
    """Whether the arguments of a call mean the same in an owner as where the call stands."""
    if scope is owner:
        return True
    is_around = isinstance(scope, Module) or scope in home.index.ancestors(owner)
    if not is_around or not isinstance(owner, FunctionDef):
        return False
    names = {node.id for argument in made.args for node in walk(argument.value) if isinstance(node, Name)}
    return names.isdisjoint(bindings(owner))


def named_function(home: "Facts", expr: Node) -> "tuple[Facts, FunctionDef] | None":
    """The function in sight that an expression names, with its module; None where a test decides which of several."""
    name = home.names.canonical(expr)
    found = home.definition(name) if name is not None else None
    if found is None or not isinstance(found[1], FunctionDef) or _is_one_of_several(found[0], found[1]):
        return None
    return found[0], found[1]


def _is_one_of_several(home: "Facts", function: FunctionDef) -> bool:
    """Whether its scope defines a function under both answers of a test."""
    others = home.names.bindings(home.index.scope(function)).get(function.name, ())
    return len(others) > 1 and any(isinstance(home.index.parents.get(each.node), If | Try) for each in others)
