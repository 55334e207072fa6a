"""Which functions an expression may hold: by names, arguments, attributes and tables, chosen by the tests around them.

Knows lambdas, functions and what makers return; refuses where a choice hangs on what no frame of the graph can ask.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.bound_functions import BoundFunction, closure, named_function
from amplint.facts.program.callers import bind
from amplint.facts.program.classes import assigned, method, seen_class
from amplint.facts.program.held import (
    Choice,
    Held,
    HeldClass,
    chosen,
    free_names,
    is_of_truths,
    returns_of,
    tests_of,
)
from amplint.facts.program.latest import latest
from amplint.facts.program.origins import klass_of
from amplint.model.tree import (
    Attribute,
    Call,
    ClassDef,
    Constant,
    Dict,
    Expr,
    FunctionDef,
    IfExp,
    Lambda,
    Module,
    Name,
    Node,
    Parameter,
    Subscript,
    Tuple,
)
from amplint.model.walks import element

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.program.origins import Activation

MOST_HOPS = 6
MOST_BINDINGS = 4
# Makers of objects that hold what they are given by keyword.
NAMESPACES = frozenset({"types.SimpleNamespace", "argparse.Namespace", "builtins.dict"})


class HeldFunctions:
    """One search. where is the place at which the expression is evaluated."""

    def __init__(self, where: "Activation") -> None:
        self._where = where

    def of(self, home: "Facts", expr: Node, frame: int, hops: int = MOST_HOPS) -> Held:
        """What an expression holds that a frame evaluates; -1 is none: it runs when its module is imported."""
        if not hops:
            return None
        match expr:
            case Lambda():
                return self._lambda(home, expr, frame)
            case IfExp():
                yes, no = self.of(home, expr.body, frame, hops - 1), self.of(home, expr.orelse, frame, hops - 1)
                return chosen(expr.test, frame, yes, no)
            case Name():
                return self._name(home, expr, frame, hops - 1)
            case Attribute():
                return self._attribute(home, expr, frame, hops - 1)
            case Subscript():
                return self._item(home, expr, frame, hops - 1)
            case Call():
                return self._made(home, expr, None, frame, hops - 1)
            case _:
                return None

    def _lambda(self, home: "Facts", function: Lambda, frame: int, me: Expr | None = None) -> Held:
        """A lambda, where everything that it takes from around itself can be told where it is called.

        me: the object whose method makes it, evaluated by the frame; without it, the frame evaluates the lambda.
        """
        around = home.index.function(function)
        if around is None or (me is None and self._number_of(around, frame) >= 0):
            return BoundFunction(home, function)
        first = around.parameters[0] if around.parameters else None
        names = set(free_names(function, around))
        if me is None or first is None or names - {first.name}:
            return None
        return BoundFunction(home, function, captured=((first, me),), frame=frame)

    def _name(self, home: "Facts", name: Name, frame: int, hops: int) -> Held:
        found = latest(home.index, home.names.lookup(name.id, name), name)
        if not found or len(found) > MOST_BINDINGS:
            return None
        scope = found[0].scope
        if any(binding.scope is not scope for binding in found):
            return None
        if isinstance(scope, Module):
            return self._chosen(home, found, name, -1, hops)
        at = self._number_of(scope, frame)
        if len(found) == 1 and isinstance(found[0].node, Parameter):
            return self._passed(found[0].node, frame, hops)
        return self._chosen(home, found, name, at, hops) if at >= 0 else None

    def _passed(self, parameter: Parameter, frame: int, hops: int) -> Held:
        """What a parameter of a frame, or of one around it, was given."""
        number = frame
        while number >= 0:
            for passing in self._where.frames[number].passed:
                if passing.parameter is parameter:
                    value = passing.value
                    home = self._where.homes[passing.frame]
                    return self.of(home, value, passing.frame, hops) if value is not None else None
            number = self._where.frames[number].parent
        return None

    def _chosen(self, home: "Facts", found: tuple[Binding, ...], use: Node, frame: int, hops: int) -> Held:
        """The last of some bindings where the tests around it let it be, or else one of those before it."""
        ordered = sorted(found, key=lambda binding: binding.node.span)
        return self._last(home, ordered, set(home.index.ancestors(use)), frame, {}, hops)

    def _last(
        self,
        home: "Facts",
        ordered: list[Binding],
        shared: set[Node],
        frame: int,
        known: dict[Node, bool],
        hops: int,
    ) -> Held:
        while ordered:
            *before, binding = ordered
            tests = tests_of(home, binding, shared)
            if tests is None:
                return None
            if all(known.get(test, is_true) is is_true for test, is_true in tests):
                opened = [pair for pair in tests if pair[0] not in known] if before else []
                if not opened:
                    return self._bound(home, binding, frame, hops)
                test = opened[0][0]
                sides = [self._last(home, ordered, shared, frame, known | {test: said}, hops) for said in (True, False)]
                return chosen(test, frame, *sides)
            ordered = before
        return None

    def _bound(self, home: "Facts", binding: Binding, frame: int, hops: int) -> Held:
        if isinstance(binding.node, FunctionDef):
            return BoundFunction(home, binding.node)
        if isinstance(binding.node, ClassDef):
            return HeldClass(home, binding.node)
        if binding.value is not None:
            return self.of(home, binding.value, frame, hops)
        if binding.kind == "import" and binding.canonical is not None:
            return self._imported(home, binding.canonical, hops)
        given = home.values.unpacked(binding.node) if isinstance(binding.node, Name) else None
        if given is None or given.value is None or given.part is None:
            return None
        return self._part(home, given.value, given.part, frame, hops)

    def _part(self, home: "Facts", value: Expr, part: int, frame: int, hops: int) -> Held:
        """What one part of a tuple is, counted from 0."""
        match value:
            case Tuple() if (found := element(value, part)) is not None:
                return self.of(home, found, frame, hops)
            case IfExp():
                sides = [self._part(home, side, part, frame, hops) for side in (value.body, value.orelse)]
                return chosen(value.test, frame, *sides)
            case Call():
                return self._made(home, value, part, frame, hops)
            case _:
                return None

    def _imported(self, home: "Facts", canonical: str, hops: int) -> Held:
        klass = seen_class(home, canonical)
        if klass is not None:
            return HeldClass(*klass)
        module, _, name = canonical.rpartition(".")
        owner = home.context.modules.get(module)
        found = owner.names.bindings(owner.module).get(name, ()) if owner is not None else ()
        if owner is None or len(found) != 1 or not hops:
            return None
        return self._bound(owner, found[0], -1, hops - 1)

    def _attribute(self, home: "Facts", expr: Attribute, frame: int, hops: int) -> Held:
        canonical = home.names.canonical(expr)
        if canonical is not None:
            return self._imported(home, canonical, hops)
        kept = self._kept(home, expr.value, frame)
        if kept is not None:
            given = next((argument.value for argument in kept.args if argument.name == expr.attr), None)
            return self.of(home, given, frame, hops) if given is not None else None
        receiver = self.of(home, expr.value, frame, hops)
        found = _method(receiver, expr, frame)
        if found is not None or isinstance(receiver, Choice):
            return found
        klass = klass_of(home, expr.value, self._where.outer(frame)) if frame >= 0 else None
        values = list(assigned(*klass, expr.attr)) if klass is not None else []
        owner, value = values[0] if len(values) == 1 else (home, None)
        return self._lambda(owner, value, frame, expr.value) if isinstance(value, Lambda) else None

    def _kept(self, home: "Facts", expr: Expr, frame: int) -> Call | None:
        """The call by which a namespace or a dictionary is made that a name of a frame holds."""
        value = self._value(home, expr, frame)
        is_namespace = isinstance(value, Call) and home.names.canonical(value.func) in NAMESPACES
        return value if isinstance(value, Call) and is_namespace else None

    def _value(self, home: "Facts", expr: Expr, frame: int) -> Expr | None:
        """What a name of a frame, or of its module, was assigned, where that was once."""
        found = home.names.lookup(expr.id, expr) if isinstance(expr, Name) else ()
        if len(found) != 1 or not (isinstance(found[0].scope, Module) or self._number_of(found[0].scope, frame) >= 0):
            return None
        return found[0].value

    def _item(self, home: "Facts", expr: Subscript, frame: int, hops: int) -> Held:
        table = self._value(home, expr.value, frame)
        if isinstance(expr.index, Constant):
            return self._under(home, table, expr.index.value, frame, hops)
        match expr.index:
            case IfExp(body=Constant() as yes, orelse=Constant() as no):
                sides = [self._under(home, table, key.value, frame, hops) for key in (yes, no)]
                return chosen(expr.index.test, frame, *sides)
            case Name() | Attribute() if isinstance(table, Dict) and is_of_truths(table):
                sides = [self._under(home, table, key, frame, hops) for key in (True, False)]
                return chosen(expr.index, frame, *sides)
            case _:
                return None

    def _under(self, home: "Facts", table: Expr | None, key: object, frame: int, hops: int) -> Held:
        """What a written table holds under a key."""
        found = element(table, key)
        if isinstance(table, Call) and home.names.canonical(table.func) in NAMESPACES:
            found = next((argument.value for argument in table.args if argument.name == key), None)
        return self.of(home, found, frame, hops) if found is not None else None

    def _made(self, home: "Facts", call: Call, part: int | None, frame: int, hops: int) -> Held:
        """What a call gives: an instance of a class, or what a function in sight returns that it has made."""
        maker = named_function(home, call.func)
        if maker is None:
            held = self.of(home, call.func, frame, hops) if part is None else None
            return _instance(held)
        if frame < 0 or not hops:
            return None
        inner = closure(*maker, call, part, frame)
        return inner if inner is not None or part is not None else self._returned(*maker, call, frame, hops)

    def _returned(self, home: "Facts", maker: FunctionDef, call: Call, frame: int, hops: int) -> Held:
        """An instance that a function makes, chosen by what it is given."""
        given = bind(maker, call)
        found: Held = None
        for value, tests in reversed(returns_of(home, maker)):
            made = self.of(home, value, -1, hops) if isinstance(value, Call) else None
            if found is None and made is None:
                return None
            for test, is_true in reversed(tests):
                asked = given.get(test.id) if isinstance(test, Name) else None
                if asked is None:
                    return None
                made = chosen(asked, frame, *((made, found) if is_true else (found, made)))
            found = made
        return found

    def _number_of(self, scope: Node, frame: int) -> int:
        """The frame of a function, from a frame outwards; -1 where none is its."""
        while frame >= 0 and self._where.frames[frame].function is not scope:
            frame = self._where.frames[frame].parent
        return frame


def _instance(held: Held) -> Held:
    """What a call of something gives, where that is a class."""
    if isinstance(held, Choice):
        return chosen(held.test, held.frame, _instance(held.yes), _instance(held.no))
    return HeldClass(held.home, held.klass, is_made=True) if isinstance(held, HeldClass) and not held.is_made else None


def _method(receiver: Held, expr: Attribute, frame: int) -> Held:
    """The method of an object; that of torch's scaler stays a call of it."""
    if isinstance(receiver, Choice):
        sides = (_method(side, expr, frame) for side in (receiver.yes, receiver.no))
        return chosen(receiver.test, receiver.frame, *sides)
    found = method(receiver.home, receiver.klass, expr.attr) if isinstance(receiver, HeldClass) else None
    if found is None or not isinstance(receiver, HeldClass) or not receiver.is_made or found[1].decorators:
        return None
    return BoundFunction(*found, me=expr.value, frame=frame)
