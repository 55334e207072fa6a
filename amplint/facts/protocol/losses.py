"""Which values are losses multiplied by which scale, as expressions, assignments and collections hand them on.

Knows nothing of the order of events. What comes out of a collection may be a scaled loss where one went in.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from amplint.facts.program.bindings import Binding
from amplint.facts.program.classes import assigned
from amplint.facts.protocol.carriers import Carriers
from amplint.facts.protocol.guards import passed_as
from amplint.facts.protocol.left_losses import is_left_by_call
from amplint.facts.protocol.loss_sources import comes_from, given, may_scale, reads_gradient, unpacked_from
from amplint.facts.protocol.scene import Scene
from amplint.facts.protocol.standing import Share, Standing
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Await,
    Binary,
    BoolOp,
    Call,
    Comprehension,
    Dict,
    Expr,
    For,
    Generator,
    Global,
    IfExp,
    List,
    Module,
    Name,
    NamedExpr,
    Node,
    Starred,
    Subscript,
    Tuple,
    Unary,
    WithItem,
)
from amplint.model.walks import last_name, walk

Scalers = frozenset[Term]
Shares = frozenset[Share]
NO_SHARES: Shares = frozenset()
# What these give is a number or a tensor outside the graph: nothing to run backward from.
DETACHING = frozenset({"item", "detach", "tolist", "numpy", "cpu", "get_scale", "size", "dim"})
HANDING_ON = frozenset({"cast", "sum", "mean", "stack", "cat", "squeeze", "float", "add", "mul", "div"})
COLLECTING = frozenset({"tuple", "list", "reversed", "sorted", "enumerate", "zip", "iter", "next"})


class Losses(Struct):
    """Follows scaled losses through expressions and assignments of a scene.

    nobody_scales: what comes from outside of it cannot have been scaled by its scalers either.
    """

    scene: Scene
    carriers: Carriers
    nobody_scales: bool = False

    def scalers(self, expr: Node, frame: int, here: Standing) -> Scalers:
        """The scalers whose scale the value of an expression carries, or may carry."""
        return frozenset(scaler for scaler, _ in self.shares(expr, frame, here))

    def carries(self, expr: Node, scaler: Term, frame: int, here: Standing) -> bool:
        """Whether the value of an expression surely carries the scale of a scaler."""
        return (scaler, True) in self.shares(expr, frame, here)

    def shares(self, expr: Node, frame: int, here: Standing) -> Shares:
        """The scalers whose scale the value of an expression carries, each with whether it surely does."""
        if not here.scaled and not here.results:
            return NO_SHARES
        return self._shares(expr, frame, here)

    def _shares(self, expr: Node, frame: int, here: Standing) -> Shares:
        match expr:
            case Name() | Attribute() | Subscript():
                return self._held(expr, frame, here)
            case Call():
                return self._returned(expr, frame, here)
            case NamedExpr(target=Name() as target):
                return self._held(target, frame, here) | self._shares(expr.value, frame, here)
            case Await() | Starred():
                return self._shares(expr.value, frame, here)
            case Unary():
                return self._shares(expr.operand, frame, here)
            case Binary():
                return self._shares(expr.left, frame, here) | self._shares(expr.right, frame, here)
            case IfExp():
                return self._some((expr.body, expr.orelse), frame, here)
            case BoolOp() | Dict():
                return self._some(expr.values, frame, here)
            case Tuple() | List():
                return self._some(expr.elts, frame, here)
            case Comprehension():
                return self._some((expr.value or expr.element,), frame, here)
            case _:
                return NO_SHARES

    def _some(self, parts: Iterable[Expr], frame: int, here: Standing) -> Shares:
        """What one of several values may carry."""
        return NO_SHARES.union(*(_perhaps(self._shares(part, frame, here)) for part in parts))

    def _held(self, expr: Name | Attribute | Subscript, frame: int, here: Standing) -> Shares:
        place = self.scene.terms.of(expr, frame)
        found = frozenset(share for held, share in here.scaled if held == place)
        if found or isinstance(expr, Name):
            return found
        return _perhaps(self._shares(expr.value, frame, here)) if isinstance(expr, Subscript) else NO_SHARES

    def _returned(self, call: Call, frame: int, here: Standing) -> Shares:
        found = frozenset(share for result, share in here.results if result == id(call))
        if found:
            return found
        func = call.func
        name = last_name(func)
        if name in DETACHING:
            return NO_SHARES
        if isinstance(func, Attribute):
            found = self._shares(func.value, frame, here)
        if not found and name in HANDING_ON:
            found = NO_SHARES.union(*(self._shares(argument.value, frame, here) for argument in call.args))
        if not found and name in COLLECTING:
            found = self._some((argument.value for argument in call.args), frame, here)
        return found

    def is_plain(self, loss: Expr, frame: int) -> bool:
        """Whether a loss that carries no scale was surely made here, so that nobody unseen can have scaled it."""
        if self.carriers.is_collected(loss, frame):
            return False
        if isinstance(loss, Attribute) and (
            self._is_made_plain(loss, frame) or is_left_by_call(self.scene, loss, frame)
        ):
            return True
        root: Node = loss
        while isinstance(root, Attribute | Subscript | Call):
            root = _inner(root) if isinstance(root, Call) else root.value
        term = self.scene.terms.of(root, frame)
        if not isinstance(root, Name):
            return True
        if term[0] != "name":
            passed, at = passed_as(self.scene, root, frame)
            return passed is root or self.is_plain(passed, at)
        _, name, owner = term
        if not isinstance(owner, int):
            return True
        function = self.scene.frames[owner].function
        bindings = self.scene.homes[owner].names.bindings(function).get(str(name), ())
        values = [binding.value for binding in bindings if binding.value is not None]
        if any(may_scale(value) for value in values) or self._hold_gradients(bindings, owner):
            return False
        if any(binding.kind == "parameter" for binding in bindings):
            return bool(values) or self.nobody_scales
        return bool(bindings)

    def _is_made_plain(self, loss: Attribute, frame: int) -> bool:
        """Whether an attribute gets its values in the methods of a class in sight, and none of them may be scaled."""
        klass = self.scene.callees.klass_of(loss.value, frame, self.scene.frames)
        values = [value for _, value in assigned(*klass, loss.attr)] if klass is not None else []
        if klass is not None and None in values:
            values = [*(each for each in values if each is not None), *unpacked_from(*klass, loss.attr)]
        return bool(values) and not any(
            value is None or isinstance(value, Name | Attribute) or may_scale(value) or reads_gradient(value)
            for value in values
        )

    def _hold_gradients(self, bindings: Iterable[Binding], frame: int) -> bool:
        """Whether a `.grad` went into a value: it may carry the scale of the backward that left it there."""
        home = self.scene.homes[frame]
        stack = [(home, node) for binding in bindings for node in given(home.index, binding)]
        seen: set[int] = set()
        while stack:
            here, root = stack.pop()
            if reads_gradient(root):
                return True
            for node in walk(root):
                new = [pair for pair in comes_from(here, node) if id(pair[1]) not in seen]
                seen.update(id(source) for _, source in new)
                stack.extend(new)
        return False

    def assigned(self, step: Step, here: Standing) -> Standing:
        """After an assignment, or at a turn of a loop: the targets hold what the value carries."""
        if not here.scaled and not here.results:
            return here
        scaled = here.scaled
        for target, shares in list(self._bound(step.node, step.frame, here)):
            place = self.scene.terms.of(target, step.frame)
            kept = isinstance(step.node, AugAssign)
            scaled = scaled if kept else frozenset(pair for pair in scaled if pair[0] != place)
            # Others may write to what is no local variable while nobody looks.
            is_local = place[0] == "name" and (isinstance(place[-1], int) or self._is_of_script(place, step.frame))
            scaled |= {(place, share) for share in (shares if is_local else _perhaps(shares))}
            if isinstance(target, Subscript):
                holder = self.scene.terms.of(target.value, step.frame)
                scaled |= {(holder, share) for share in _perhaps(shares)}
        return replace(here, scaled=scaled, results=frozenset())

    def _is_of_script(self, place: Term, frame: int) -> bool:
        """Whether a name of the module is bound by its own statements alone."""
        home = self.scene.homes[frame]
        is_own = home is self.scene.facts and isinstance(self.scene.frames[frame].function, Module)
        return is_own and not any(place[1] in node.names for node in home.index.each(Global))

    def _bound(self, node: Node, frame: int, here: Standing) -> Iterator[tuple[Expr, Shares]]:
        """What an assignment or a loop binds, with what it carries."""
        match node:
            case Assign():
                for target in node.targets:
                    yield from self._parts(target, node.value, frame, here)
            case AnnAssign() | AugAssign() | NamedExpr():
                if node.value is not None:
                    yield from self._parts(node.target, node.value, frame, here)
            case WithItem(target=target) if target is not None:
                yield from self._parts(target, node.context, frame, here)
            case For() | Generator():
                yield from self._turn(node.target, node.iter, frame, here)
            case _:
                pass

    def _parts(self, target: Expr, value: Expr, frame: int, here: Standing) -> Iterator[tuple[Expr, Shares]]:
        match target, value:
            case Tuple() | List(), Tuple() | List() if len(value.elts) == len(target.elts):
                for part, given in zip(target.elts, value.elts, strict=True):
                    yield from self._parts(part, given, frame, here)
            case _:
                yield from _each(target, self.shares(value, frame, here))

    def _turn(self, target: Expr, iterated: Expr, frame: int, here: Standing) -> Iterator[tuple[Expr, Shares]]:
        """What one turn of a loop binds."""
        given = iterated.args if isinstance(iterated, Call) else ()
        name = last_name(iterated.func) if isinstance(iterated, Call) else ""
        match target, iterated:
            case Tuple(elts=(counter, element)), Call(args=(_, *_)) if name == "enumerate":
                yield counter, NO_SHARES
                yield from self._turn(element, given[0].value, frame, here)
            case Tuple(elts=elements), Call(args=args) if name == "zip" and len(args) == len(elements):
                for element, argument in zip(elements, given, strict=True):
                    yield from self._turn(element, argument.value, frame, here)
            case Tuple(elts=(key, element)), Call(func=Attribute(attr="items") as func):
                yield key, NO_SHARES
                yield from _each(element, _perhaps(self.shares(func.value, frame, here)))
            case _:
                yield from _each(target, _perhaps(self.shares(iterated, frame, here)))

    def taken_in(self, step: Step, here: Standing) -> Standing:
        """After a call that puts its arguments into a collection."""
        func = step.node.func if isinstance(step.node, Call) else None
        if not isinstance(step.node, Call) or not isinstance(func, Attribute):
            return here
        shares = self._some((argument.value for argument in step.node.args), step.frame, here)
        place = self.scene.terms.of(func.value, step.frame)
        return replace(here, scaled=here.scaled | {(place, share) for share in shares}) if shares else here

    def opened(self, step: Step, here: Standing) -> Standing:
        """At the start of a call: its parameters hold what its arguments carry."""
        scaled = here.scaled
        for passing in self.scene.frames[step.opened].passed:
            place: Term = ("name", passing.parameter.name, step.opened)
            scaled = frozenset(pair for pair in scaled if pair[0] != place)
            if passing.value is not None:
                scaled |= {(place, share) for share in self.shares(passing.value, passing.frame, here)}
        return replace(here, scaled=scaled) if scaled != here.scaled else here


def _inner(call: Call) -> Expr:
    """What the value of a call is made of: what `sum` and its like are given, or else what is called."""
    is_of_its_argument = isinstance(call.func, Name) and call.func.id in HANDING_ON and len(call.args) > 0
    return call.args[0].value if is_of_its_argument else call.func


def _perhaps(shares: Shares) -> Shares:
    return frozenset((scaler, False) for scaler, _ in shares)


def _each(target: Expr, shares: Shares) -> Iterator[tuple[Expr, Shares]]:
    """Every part of a target, which one value with these shares is unpacked to."""
    if isinstance(target, Starred):
        yield from _each(target.value, _perhaps(shares))
    elif isinstance(target, Tuple | List):
        for part in target.elts:
            yield from _each(part, _perhaps(shares))
    else:
        yield target, shares
