"""How autocast objects are entered: never, twice at once, or inside a region of another dtype.

Refuses to follow objects that are handed to code that is not seen.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Autocast, Region
from amplint.facts.program.reach import Reached, reached
from amplint.model.data import Value
from amplint.model.tree import (
    Assign,
    BoolOp,
    Call,
    Expr,
    ExprStmt,
    FunctionDef,
    Name,
    Node,
    Try,
    With,
    WithItem,
)
from amplint.model.walks import last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_EXPECTS = re.compile(r"raises|warns|catch_warnings|suppress|deprecated_call", re.IGNORECASE)
_GIVES = re.compile(r"cast|(^|_)amp(_|$)|precision", re.IGNORECASE)


class NeverEntered(Value):
    """An autocast object that no `with` enters; way says how it is lost."""

    node: Expr
    way: str


class Reentry(Value):
    """A place at which the object of a region is entered again while it is entered."""

    region: Region
    place: Node
    inner: Reached


class OtherDtype(Value):
    """An autocast object that forces its own default dtype inside a region of another one."""

    region: Region
    place: Node
    inner: Autocast
    via: tuple[Call, ...]


class Entering:
    """The ways in which one module enters autocast."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def never_entered(self) -> Iterator[NeverEntered]:
        """Autocast objects that are made and lost."""
        for call in self._made:
            match self._facts.index.parents[call]:
                case ExprStmt() if not self._is_tried(call):
                    yield NeverEntered(call, "dropped")
                case Assign(targets=(Name() as target,), value=value) if value is call and self._is_unread(target):
                    yield NeverEntered(call, "unread")
                case _:
                    pass
        for call in self._given:
            if not self._is_tried(call):
                yield NeverEntered(call, "dropped")
        for item in self._facts.index.each(WithItem):
            match item.context:
                case BoolOp(op="and", values=values):
                    for value in values[:-1]:
                        if self._facts.regions.autocasts(value)[0]:
                            yield NeverEntered(value, "and")
                case BoolOp(op="or", values=values) if self._is_object(values[0]):
                    yield from (NeverEntered(value, "or") for value in values[1:] if self._is_autocast(value))
                case _:
                    pass

    def reentered(self) -> Iterator[Reentry]:
        """Objects that are entered again while they are entered: nested, or by a function that calls itself."""
        for region in self._facts.regions.all:
            if region.is_off or len(region.autocasts) != 1:
                continue
            if isinstance(region.opening, WithItem) and not isinstance(region.shown, Call):
                yield from self._reentered_object(region)
            elif isinstance(self._facts.index.parents.get(region.opening), FunctionDef):
                yield from self._reentered_decorator(region)

    def other_dtypes(self) -> Iterator[OtherDtype]:
        """Old autocast calls without a dtype inside a region that is surely of another dtype."""
        seen: set[Call] = set()
        for region in self._facts.regions.all:
            if region.is_off or None in region.dtypes or len(region.dtypes) != 1:
                continue
            for each in reached(self._facts, region.body, kind=(WithItem, Call)):
                for inner in self._old_autocasts(each):
                    if inner.call not in seen and not inner.dtypes <= region.dtypes and None not in inner.dtypes:
                        seen.add(inner.call)
                        via = (*each.via, each.node) if isinstance(each.node, Call) else each.via
                        yield OtherDtype(region, via[0] if via else inner.call, inner, via)

    def _old_autocasts(self, each: Reached) -> Iterator[Autocast]:
        if isinstance(each.node, WithItem):
            autocasts = each.facts.regions.autocasts(each.node.context)[0]
        elif isinstance(each.node, Call) and (callee := each.facts.targets.function(each.node)) is not None:
            home, function = callee
            autocasts = [a for r in home.regions.all if r.opening in function.decorators for a in r.autocasts]
        else:
            return
        for autocast in autocasts:
            if not autocast.is_device_first and autocast.dtype_expr is None and autocast.is_enabled is not False:
                yield autocast

    def _reentered_object(self, region: Region) -> Iterator[Reentry]:
        training = self._facts.training
        handle = training.handle(region.shown)
        owner = self._facts.index.function(region.opening)
        for each in reached(self._facts, region.body, kind=WithItem):
            if not isinstance(each.node, WithItem) or isinstance(each.node.context, Call):
                continue
            inner = each.facts.regions.autocasts(each.node.context)[0]
            if len(inner) != 1 or inner[0].call is not region.autocasts[0].call:
                continue
            is_own = each.facts is self._facts and training.handle(each.node.context) == handle
            is_shared = self._facts.index.function(region.autocasts[0].call) is not owner if is_own else False
            if is_own and (not each.via or is_shared):
                yield Reentry(region, each.via[0] if each.via else each.node.context, each)

    def _reentered_decorator(self, region: Region) -> Iterator[Reentry]:
        function = self._facts.index.parents[region.opening]
        for each in reached(self._facts, region.body, kind=Call):
            if not isinstance(each.node, Call):
                continue
            callee = each.facts.targets.function(each.node)
            if callee is not None and callee[1] is function:
                yield Reentry(region, each.via[0] if each.via else each.node, each)
                return

    @cached_property
    def _made(self) -> tuple[Call, ...]:
        return tuple(dict.fromkeys(made.call for made in self._facts.regions.constructed))

    @property
    def _given(self) -> Iterator[Call]:
        """Calls that stand alone and give what another function makes: `self.precision.autocast()`."""
        for statement in self._facts.index.each(ExprStmt):
            call = statement.value
            if not isinstance(call, Call) or call in self._made or not _GIVES.search(last_name(call.func)):
                continue
            if self._facts.regions.autocasts(call)[0]:
                yield call

    def _is_autocast(self, expr: Expr) -> bool:
        found, has_other = self._facts.regions.autocasts(expr)
        return bool(found) and not has_other

    def _is_tried(self, call: Call) -> bool:
        """Whether a call is made only to see what it raises or warns."""
        for outer in self._facts.index.ancestors(call):
            if isinstance(outer, Try):
                return not any(_trains(node) for statement in outer.body for node in walk(statement))
            if isinstance(outer, With):
                for item in outer.items:
                    func = item.context.func if isinstance(item.context, Call) else item.context
                    if _EXPECTS.search(last_name(func)):
                        return True
        return False

    def _is_object(self, expr: Expr) -> bool:
        """Whether an expression is a context manager, which is always true."""
        made = isinstance(expr, Call) and self._facts.names.canonical(expr.func)
        return self._is_autocast(expr) or (isinstance(made, str) and made.startswith("torch."))

    def _is_unread(self, target: Name) -> bool:
        function = self._facts.index.function(target)
        if function is None:
            return False
        bindings = self._facts.names.lookup(target.id, target)
        if len(bindings) != 1 or bindings[0].scope is not function:
            return False
        return not any(node.id == target.id and node is not target for node in self._facts.index.each(Name))


def _trains(node: Node) -> bool:
    """Whether a node runs backward: what is tried then is training, and not what autocast raises."""
    return isinstance(node, Call) and last_name(node.func) == "backward"
