"""What may stand behind an expression: through names, attributes of self, returns, arguments and files.

An origin is an expression that leads no further: a call of something unseen, a class's constructor, a constant.
Refuses to guess: where a way ends in something unseen, the origins are incomplete.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.callers import bind, calls_of, constructions
from amplint.facts.program.classes import assigned, class_of_self, method, seen_class
from amplint.facts.program.latest import latest
from amplint.facts.program.records import field_values, made_by_factory
from amplint.flow.graph import Frame
from amplint.knowledge.training_names import SCALER_CLASSES
from amplint.model.data import Value
from amplint.model.tree import (
    Alias,
    Attribute,
    Await,
    BoolOp,
    Call,
    ClassDef,
    Constant,
    Expr,
    FunctionDef,
    IfExp,
    Name,
    NamedExpr,
    Node,
    Parameter,
    Subscript,
)
from amplint.model.walks import element, own_returns

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Of which class expressions are instances.
Classes = dict[Expr, "tuple[Facts, ClassDef] | None"]

DEEPEST = 10
MOST = 24


class Origin(Value):
    """An expression that leads no further, in its module; a parameter without a known argument is a Parameter node."""

    facts: "Facts"
    expr: Expr | Parameter


class Activation(Value):
    """Where an expression is evaluated: frames of a graph, so that parameters lead to this call's arguments.

    homes tells the module of each frame; number is the frame, -1 where there is no graph.
    """

    frames: tuple[Frame, ...] = ()
    homes: "tuple[Facts, ...]" = ()
    number: int = -1

    def outer(self, number: int) -> "Activation":
        """The same graph, seen from another of its frames."""
        return Activation(self.frames, self.homes, number)


NOWHERE = Activation()


class Origins:
    """One search; is_complete says afterwards whether every way was followed to its end.

    is_of_call: an argument of the call of some frame was among the ways, so another call may have other origins.
    is_of_root: so was a parameter of the graph's root, which in other graphs is called and gets one argument.
    """

    def __init__(self) -> None:
        self.is_complete = True
        self.is_of_call = False
        self.is_of_root = False
        self._seen: set[tuple[int, int]] = set()
        self._count = 0

    def of(self, facts: "Facts", expr: Expr, where: Activation = NOWHERE, depth: int = DEEPEST) -> Iterator[Origin]:
        """All origins of an expression of a module."""
        key = (id(expr), where.number)
        if key in self._seen:
            return
        self._seen.add(key)
        self._count += 1
        if depth <= 0 or self._count > MOST:
            self.is_complete = False
            return
        match expr:
            case Name():
                yield from self._name(facts, expr, where, depth - 1)
            case Attribute():
                yield from self._attribute(facts, expr, where, depth - 1)
            case IfExp():
                yield from self.of(facts, expr.body, where, depth - 1)
                yield from self.of(facts, expr.orelse, where, depth - 1)
            case BoolOp():
                for value in expr.values:
                    yield from self.of(facts, value, where, depth - 1)
            case NamedExpr() | Await():
                yield from self.of(facts, expr.value, where, depth - 1)
            case Call():
                yield from self._call(facts, expr, where, depth - 1)
            case Subscript():
                yield from self._item(facts, expr, where, depth - 1)
            case _:
                yield Origin(facts, expr)

    def _name(self, facts: "Facts", name: Name, where: Activation, depth: int) -> Iterator[Origin]:
        bindings = latest(facts.index, facts.names.lookup(name.id, name), name)
        self.is_complete = self.is_complete and bool(bindings)
        for binding in bindings:
            yield from self._binding(facts, binding, where, depth)

    def _binding(self, facts: "Facts", binding: Binding, where: Activation, depth: int) -> Iterator[Origin]:
        if binding.value is not None:
            yield from self.of(facts, binding.value, _around(binding.scope, where), depth)
        elif binding.kind == "parameter" and isinstance(binding.node, Parameter):
            yield from self._parameter(facts, binding.node, binding.scope, where, depth)
        elif isinstance(binding.node, Alias) and binding.canonical is not None:
            yield from self._imported(facts, binding.canonical, depth)
        elif binding.kind != "definition":
            self.is_complete = False

    def _imported(self, facts: "Facts", canonical: str, depth: int) -> Iterator[Origin]:
        module, _, name = canonical.rpartition(".")
        owner = facts.context.modules.get(module)
        if owner is None or depth <= 0 or facts.definition(canonical) is not None:
            self.is_complete = False
            return
        for binding in owner.names.bindings(owner.module).get(name, ()):
            yield from self._binding(owner, binding, NOWHERE, depth - 1)

    def _parameter(
        self, facts: "Facts", parameter: Parameter, function: Node, where: Activation, depth: int
    ) -> Iterator[Origin]:
        inside = _activation_of(function, where)
        self.is_of_root = self.is_of_root or (inside is not None and inside.number == 0)
        if inside is not None and inside.number > 0:
            self.is_of_call = True
            for passing in inside.frames[inside.number].passed:
                if passing.parameter is parameter and passing.value is not None:
                    outer = inside.outer(passing.frame)
                    home = inside.homes[passing.frame] if passing.value is not parameter.default else facts
                    yield from self.of(home, passing.value, outer, depth)
                    return
        found = 0
        for caller, value in _arguments(facts, function, parameter):
            found += 1
            yield from self.of(caller, value, NOWHERE, depth)
        if parameter.default is not None:
            yield from self.of(facts, parameter.default, NOWHERE, depth)
        if not found:
            self.is_complete = False
            yield Origin(facts, parameter)

    def _attribute(self, facts: "Facts", expr: Attribute, where: Activation, depth: int) -> Iterator[Origin]:
        klass = self.klass(facts, expr.value, where, depth)
        values = list(assigned(*klass, expr.attr)) if klass is not None else []
        values = [(owner, made_by_factory(value)) for owner, value in values]
        values += field_values(*klass, expr.attr) if klass is not None else []
        if not values:
            canonical = facts.names.canonical(expr)
            if canonical is not None:
                yield from self._imported(facts, canonical, depth)
            self.is_complete = False
        for owner, value in values:
            if value is None:
                self.is_complete = False
            else:
                yield from self.of(owner, value, NOWHERE, depth)

    def _call(self, facts: "Facts", call: Call, where: Activation, depth: int) -> Iterator[Origin]:
        name = facts.names.canonical(call.func)
        target: tuple[Facts, Node] | None = facts.definition(name) if name is not None else None
        if target is None and isinstance(call.func, Attribute):
            is_complete = self.is_complete
            klass = self.klass(facts, call.func.value, where, depth)
            target = method(*klass, call.func.attr) if klass is not None else None
            self.is_complete = is_complete if target is None else self.is_complete  # an unseen call is an end
        owner, function = target or (facts, None)
        returned = list(returns(function)) if isinstance(function, FunctionDef) else []
        if not returned:
            yield Origin(facts, call)
        for value in returned:
            yield from self.of(owner, value, NOWHERE, depth)

    def _item(self, facts: "Facts", expr: Subscript, where: Activation, depth: int) -> Iterator[Origin]:
        for container in self.of(facts, expr.value, where, depth):
            found = element(container.expr, expr.index.value) if isinstance(expr.index, Constant) else None
            if found is None:
                self.is_complete = False
                yield Origin(container.facts, container.expr)
            else:
                yield from self.of(container.facts, found, where, depth)

    def klass(
        self, facts: "Facts", expr: Expr, where: Activation = NOWHERE, depth: int = DEEPEST
    ) -> "tuple[Facts, ClassDef] | None":
        """The class in sight of which an object is an instance, where all that is known of it agrees."""
        if isinstance(expr, Name):
            mine = class_of_self(facts, expr)
            if mine is not None:
                return mine
        found = [made for origin in self.of(facts, expr, where, depth) for made in _made_by(origin)]
        return found[0] if found and all(klass is found[0][1] for _, klass in found) else None


def klass_of(facts: "Facts", expr: Expr, where: Activation) -> "tuple[Facts, ClassDef] | None":
    """What `Origins.klass` says, remembered where it is the same for every call of the function around.

    Or for every graph whose root that is.
    """
    always, at_root = facts.classes
    if expr in always:
        return always[expr]
    if where.number == 0 and expr in at_root:
        return at_root[expr]
    search = Origins()
    found = search.klass(facts, expr, where)
    if not search.is_of_call and not search.is_of_root:
        always[expr] = found
    elif not search.is_of_call and where.number == 0:
        at_root[expr] = found
    return found


def returns(function: FunctionDef) -> Iterator[Expr]:
    """The expressions that a function returns, the last one first."""
    return (each.value for each in reversed(own_returns(function)) if each.value is not None)


def _around(scope: Node, where: Activation) -> Activation:
    """The frame in which a name of some scope has its value."""
    inside = _activation_of(scope, where)
    return inside if inside is not None else NOWHERE


def _activation_of(scope: Node, where: Activation) -> Activation | None:
    number = where.number
    while number >= 0:
        if where.frames[number].function is scope:
            return where.outer(number)
        number = where.frames[number].parent
    return None


def _arguments(facts: "Facts", function: Node, parameter: Parameter) -> "Iterator[tuple[Facts, Expr]]":
    """What the visible callers pass for a parameter."""
    if not isinstance(function, FunctionDef):
        return
    klass = facts.index.parents.get(function)
    is_constructor = isinstance(klass, ClassDef) and function.name == "__init__"
    if isinstance(klass, ClassDef) and not is_constructor:
        return
    calls = constructions(facts, klass) if isinstance(klass, ClassDef) else calls_of(facts, function)
    for caller, call in calls:
        value = bind(function, call, has_self=is_constructor).get(parameter.name)
        if value is not None:
            yield caller, value


def _made_by(origin: Origin) -> "Iterator[tuple[Facts, ClassDef]]":
    """The classes in sight of which an origin may be an instance."""
    facts, expr = origin.facts, origin.expr
    if isinstance(expr, Parameter):
        annotation = expr.annotation
        if annotation is None or isinstance(annotation, Constant):
            return
        names = facts.names.meaning(annotation).names
    elif isinstance(expr, Call):
        names = facts.names.meaning(expr.func).names
    else:
        return
    if names & SCALER_CLASSES:
        return
    seen = (seen_class(facts, name) for name in sorted(names))
    yield from (klass for klass in seen if klass is not None)
