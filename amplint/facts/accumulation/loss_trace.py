"""How the value that runs backward came about: what it was divided by on its way, and whether a mean is known in it.

Follows names, augmented assignments, arguments, returns and the scaler's `scale`; any division by something that is
not a constant counts, so that a wrong reading errs towards silence.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import field

from amplint.facts.accumulation.loss_factors import is_changed_in_place, is_number, is_torch, may_undo
from amplint.facts.accumulation.loss_items import comprised, source_of, yielded
from amplint.facts.accumulation.loss_returns import Later, LossParts, ReturnedLoss
from amplint.facts.accumulation.models_in_sight import definition, forward_of, is_mean_head, lambdas, written
from amplint.facts.accumulation.returned_parts import Part, parts_of
from amplint.facts.program.callers import bind
from amplint.facts.program.classes import assigned
from amplint.facts.program.given import given_back
from amplint.facts.program.latest import last_given
from amplint.facts.protocol.readings import Reading
from amplint.model.tree import (
    AnnAssign,
    Assign,
    Attribute,
    AugAssign,
    Await,
    Binary,
    Call,
    ClassDef,
    Comprehension,
    Constant,
    Dict,
    Expr,
    For,
    FunctionDef,
    IfExp,
    List,
    Name,
    NamedExpr,
    Node,
    Starred,
    Subscript,
    Tuple,
    Unary,
)
from amplint.model.walks import element, last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST = 60
# Where the outputs of transformers' models have their loss.
LOSS_PARTS = ("loss", 0)


class LossTrace(LossParts, kw_only=True):
    """The parts of a loss that some frame of a graph runs backward."""

    reading: Reading
    loss: Expr
    frame: int
    _seen: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._follow(self.loss, self.frame, ())

    def _follow(self, expr: Node | None, frame: int, later: Later) -> None:
        if expr is None or (id(expr), frame) in self._seen or len(self._seen) > MOST:
            return
        self._seen.add((id(expr), frame))
        match expr:
            case _ if is_number(expr):  # a record of the loss, which nothing runs backward
                pass
            case Name() | Subscript() | Attribute():
                self._place(expr, frame, later)
            case Binary():
                self._binary(expr, frame, later)
            case Unary():
                self._follow(expr.operand, frame, later)
            case NamedExpr() | Await():
                self._follow(expr.value, frame, later)
            case IfExp():
                self._follow(expr.body, frame, later)
                self._follow(expr.orelse, frame, later)
            case Tuple() | List() | Dict():
                for part in expr.values if isinstance(expr, Dict) else expr.elts:
                    self._follow(part, frame, later)
            case Comprehension():
                for part in comprised(expr):
                    self._follow(part, frame, later)
            case Call():
                self._call(expr, frame, later)
            case _:
                pass

    def _binary(self, expr: Binary, frame: int, later: Later) -> None:
        if is_number(expr.left):
            self._follow(expr.right, frame, later)
        elif expr.op in ("/", "//"):
            self._follow(expr.left, frame, self.divided(expr.right, expr, later))
        elif expr.op == "*":
            for side, other in ((expr.left, expr.right), (expr.right, expr.left)):
                if not isinstance(side, Constant):
                    self._follow(side, frame, self._factor(other, later))
        else:
            self._follow(expr.left, frame, later)
            self._follow(expr.right, frame, later)

    def _factor(self, factor: Expr, later: Later) -> Later:
        """`loss * (1 / n)` divides; a constant factor is a weight of the loss that has nothing to do with groups."""
        if isinstance(factor, Binary) and factor.op == "/" and isinstance(factor.left, Constant):
            return self.divided(factor.right, factor, later)
        if isinstance(factor, Name | Attribute) and may_undo(factor):
            self.is_weighted = True
        return later

    def _place(self, expr: Name | Attribute | Subscript, frame: int, later: Later) -> None:
        """What was put into a place, the last first: a division in place comes after all that was put in before."""
        place = self.reading.scene.terms.of(expr, frame)
        function = self.reading.scene.frames[frame].function
        for node in self._since_given(expr, place, list(walk(function)), frame):
            match node:
                case Assign(targets=targets, value=value):
                    for target in targets:
                        collection = target.value if isinstance(target, Subscript) else target
                        if self._is_at(target, place, frame) or self._is_at(collection, place, frame):
                            self._follow(value, frame, later)
                        elif isinstance(target, Tuple | List):
                            self._unpacked(target, value, place, frame, later)
                case AnnAssign(target=target, value=value) | NamedExpr(target=target, value=value):
                    if self._is_at(target, place, frame):
                        self._follow(value, frame, later)
                case Call(func=Attribute(attr="append", value=collection), args=(added,)):
                    if self._is_at(collection, place, frame):
                        self._follow(added.value, frame, later)
                case For():
                    self._turn(node, place, frame, later)
                case AugAssign() if self._is_at(node.target, place, frame):
                    later = self._augmented(node, frame, later)
                case _:
                    pass
        for passing in self.reading.scene.frames[frame].passed:
            if isinstance(expr, Name) and passing.parameter.name == expr.id:
                self._follow(passing.value, passing.frame, later)
        if isinstance(expr, Attribute | Subscript):
            self._part(expr, frame, later)
        if isinstance(expr, Attribute):
            self._kept(expr, frame, later)

    def _since_given(self, expr: Expr, place: object, nodes: list[Node], frame: int) -> list[Node]:
        """The nodes of a function that may make what stands in a place, the last first."""
        index = self.reading.scene.homes[frame].index
        given = last_given(index, nodes, expr, lambda node: isinstance(node, Expr) and self._is_at(node, place, frame))
        if given is not None:
            nodes = [node for node in nodes if given.span.line <= node.span.line and node.span < expr.span]
        return sorted(nodes, key=lambda node: node.span, reverse=True)

    def _kept(self, expr: Attribute, frame: int, later: Later) -> None:
        """`self.loss`, `model.last_loss`: what other methods put there."""
        scene = self.reading.scene
        home = scene.homes[frame]
        klass = scene.callees.klass_of(expr.value, frame, scene.frames) or home.targets.klass(expr.value)
        here = scene.frames[frame].function
        for owner, value in assigned(*klass, expr.attr) if klass is not None else ():
            function = owner.index.function(value) if value is not None else None
            opened = [n for n, each in enumerate(scene.frames) if each.function is function and function is not here]
            if value is None or is_changed_in_place(owner, expr.attr):
                self.is_weighted = True
            elif opened:
                self._follow(value, opened[0], later)
            elif function is not here:
                ReturnedLoss(self, later).value(owner, value)

    def _part(self, expr: Attribute | Subscript, frame: int, later: Later) -> None:
        """`output["loss"]`, `output.loss`: a part of what a model or a function returned."""
        index = expr.index if isinstance(expr, Subscript) else None
        part = index.value if isinstance(index, Constant) else expr.attr if isinstance(expr, Attribute) else None
        holder: Expr = expr.value
        if not isinstance(part, int | str):
            if isinstance(expr, Subscript):  # whichever it is
                self._follow(holder, frame, later)
            return
        home = self.reading.scene.homes[frame]
        for each in parts_of(home, holder, part) if isinstance(holder, Name) else ():
            if home.index.function(each) is self.reading.scene.frames[frame].function:
                self._follow(each, frame, later)
        calls = [holder] if isinstance(holder, Call) else self._calls_given(holder, frame)
        for call in calls:
            self._returned(call, frame, later, part)

    def _calls_given(self, holder: Expr, frame: int) -> list[Call]:
        """The calls whose whole value a local name is given."""
        scene = self.reading.scene
        bindings = scene.homes[frame].names.lookup(holder.id, holder) if isinstance(holder, Name) else ()
        own = (b.value for b in bindings if b.scope is scene.frames[frame].function)
        return [value for value in own if isinstance(value, Call)]

    def _unpacked(self, target: Tuple | List, value: Expr, place: object, frame: int, later: Later) -> None:
        """`loss, accuracy = self.losses(batch)`: the element of a pair, or of what a function returns."""
        number = next((n for n, part in enumerate(target.elts) if self._is_at(part, place, frame)), None)
        if number is None or any(isinstance(part, Starred) for part in target.elts):
            return
        given = element(value, number) if isinstance(value, Tuple | List) else None
        if given is not None:
            self._follow(given, frame, later)
            return
        for call in [value] if isinstance(value, Call) else self._calls_given(value, frame):
            self._returned(call, frame, later, number)

    def _turn(self, loop: For, place: object, frame: int, later: Later) -> None:
        """`for loss in losses(batches)`: what a generator in sight yields."""
        source, part = source_of(loop.target, loop.iter, lambda target: self._is_at(target, place, frame))
        for home, function in self._callees(source, frame) if isinstance(source, Call) else ():
            for value in yielded(home, function, part):
                ReturnedLoss(self, later).value(home, value)

    def _augmented(self, node: AugAssign, frame: int, later: Later) -> Later:
        if node.op in ("/", "//"):
            return self.divided(node.value, node, later)
        if node.op == "*":
            later = self._factor(node.value, later)
            if not isinstance(node.value, Constant):
                self.is_weighted = True
        elif node.op in ("+", "-"):
            self._follow(node.value, frame, later)
        return later

    def _is_at(self, target: Node, place: object, frame: int) -> bool:
        return not isinstance(target, Tuple | List | Starred) and self.reading.scene.terms.of(target, frame) == place

    def _call(self, call: Call, frame: int, later: Later) -> None:
        func = call.func
        name = last_name(func)
        if name == "scale" and call.args:
            self._follow(call.args[0].value, frame, later)
            return
        if isinstance(func, Attribute) and name in ("mean", "sum", "values", "items") and not is_torch(func.value):
            self.is_mean = self.is_mean or name == "mean"
            self._follow(func.value, frame, later)
            return
        if isinstance(func, Attribute) and name in ("div", "div_", "true_divide") and call.args:
            self._follow(func.value, frame, self.divided(call.args[0].value, call, later))
            return
        if name in ("sum", "cast", "mean", "float", "stack", "cat") and call.args:
            self.is_mean = self.is_mean or name == "mean"
            self._follow(call.args[-1 if name == "cast" else 0].value, frame, later)
            return
        scene = self.reading.scene
        if not self.is_torch_loss(scene.homes[frame], call):
            self.made_by(scene.homes[frame], call.func, scene.activation(frame))
            self._returned(call, frame, later)
            for home, made in lambdas(scene.homes[frame], call.func, scene.activation(frame)):
                ReturnedLoss(self, later).value(home, made.body)

    def _returned(self, call: Call, frame: int, later: Later, part: Part | None = None) -> None:
        """What a function in sight returns, or that part of it."""
        opened = self._opened(call, frame)
        scene = self.reading.scene
        if opened is None:
            for home, function in self._callees(call, frame):
                self._unopened(home, function, call, frame, later, part)
            if part in LOSS_PARTS and is_mean_head(scene.homes[frame], call.func, scene.activation(frame)):
                self.is_mean = True
            return
        entered = scene.frames[opened].function
        for value in given_back(scene.homes[opened], entered, call) if isinstance(entered, FunctionDef) else ():
            for each in (value,) if part is None else parts_of(scene.homes[opened], value, part):
                self._follow(each, opened, later)

    def _unopened(
        self, home: "Facts", function: FunctionDef, call: Call, frame: int, later: Later, part: Part | None
    ) -> None:
        """What a function returns that is not part of the graph, and what it makes of the losses that it is given."""
        given = bind(function, call, has_self=isinstance(home.index.parents.get(function), ClassDef))
        read = ReturnedLoss(self, later, frozenset(name for name, value in given.items() if value is not None))
        read.of(home, function, call, part)
        for name, divisions in read.passed:
            self._follow(given[name], frame, divisions)

    def _opened(self, call: Call, frame: int) -> int | None:
        frames = self.reading.scene.frames
        return next((n for n, f in enumerate(frames) if f.call is call and f.parent == frame), None)

    def _callees(self, call: Call, frame: int) -> "Iterator[tuple[Facts, FunctionDef]]":
        """Functions in sight that are not part of the graph because nothing in them concerns a step."""
        scene = self.reading.scene
        found = scene.callees.function(call, frame, scene.frames)
        if found is not None:
            yield from written(*found)
            return
        home = scene.homes[frame]
        canonical = home.names.canonical(call.func)
        target = definition(home, canonical) if canonical is not None else None
        if target is not None and isinstance(target[1], FunctionDef):
            yield target[0], target[1]
            return
        forward = forward_of(home, call.func, scene.activation(frame))
        if forward is not None:
            yield forward
