"""Switches of autocast against the switch of the scaler beside it: whether one can be off while the other is on.

Refuses to compare switches that are computed in different ways.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.dtypes import dtype_names
from amplint.facts.autocast.regions import Autocast, Region, truth
from amplint.facts.autocast.scaler_switch import switch_of
from amplint.facts.program.branches import leaves, sides
from amplint.facts.program.classes import lookup_order
from amplint.facts.program.constructors import Construction
from amplint.facts.program.values import Origin
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    BoolOp,
    Call,
    ClassDef,
    Compare,
    Constant,
    Expr,
    FunctionDef,
    If,
    MatchCase,
    Module,
    Name,
    Node,
    Tuple,
)
from amplint.model.walks import is_none, is_of_self, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class DeafAutocast(Value):
    """An autocast object that stays on whatever its switch says.

    why is 'type' for a switch that is no bool, 'compare' for one that is always true, 'scaler' where only the scaler
    of its losses has a switch; scaler is set for the last.
    """

    autocast: Autocast
    shown: Expr
    why: str
    scaler: Construction | None = None


class Switches:
    """The switches of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def deaf(self) -> Iterator[DeafAutocast]:
        """Autocast objects that their switch cannot turn off."""
        for autocast in self._facts.regions.constructed:
            if autocast.switch is None:
                continue
            is_named = any(a.name == "enabled" and a.value is autocast.switch for a in autocast.call.args)
            if is_named and (isinstance(autocast.switch, Tuple) or _is_text(autocast.switch)):
                yield DeafAutocast(autocast, autocast.switch, "type")
            elif isinstance(autocast.switch, Compare) and self._is_always_true(autocast.switch):
                yield DeafAutocast(autocast, autocast.switch, "compare")
        yield from self._beside_scalers()

    def _beside_scalers(self) -> Iterator[DeafAutocast]:
        seen: set[Call] = set()
        for pair in self._facts.pairing.pairs:
            switch = switch_of(pair.made)
            if switch is None or switch.node is None or len(pair.region.autocasts) != 1:
                continue
            if truth(switch.facts, switch.node) is not None or _is_on_somewhere(switch):
                continue
            autocast = pair.region.autocasts[0]
            if autocast.device == "cuda" and _asks_for_cuda(switch):
                continue
            if autocast.dtypes != {"float16"} or autocast.facts is not self._facts or autocast.call in seen:
                continue
            if autocast.is_enabled is not True and not self._asks_for_scaler(autocast, pair.made):
                continue
            entered = pair.region.facts.switches.is_guarded(switch.node, pair.region.opening)
            if not entered and not self.is_guarded(switch.node, autocast.call, *self._callees(pair.region)):
                seen.add(autocast.call)
                yield DeafAutocast(autocast, autocast.call, "scaler", pair.made)

    def _asks_for_scaler(self, autocast: Autocast, made: Construction) -> bool:
        """Whether a region is on wherever there is a scaler: one that is switched off is there all the same."""
        found = self._facts.values.origins(autocast.switch, is_local=True) if autocast.switch is not None else ()
        match [origin.node for origin in found if origin.facts is self._facts]:
            case [Compare(left=scaler, ops=["is not"], comparators=[other])] if len(found) == 1 and is_none(other):
                return any(each.call is made.call for each in self._facts.pairing.made(scaler))
            case _:
                return False

    def _callees(self, region: Region) -> Iterator[Node]:
        """What is called to make a context, where that is a partial or a lambda of this module."""
        context = region.shown
        for origin in region.facts.values.origins(context.func) if isinstance(context, Call) else ():
            if origin.node is not None and origin.node in self._facts.index.parents:
                yield origin.node

    def is_guarded(self, switch: Node, *nodes: Node) -> bool:
        """Whether a test decides about a region, other than a test of the device: around it, or, if it asks for what
        the switch asks for, with an exit before it.
        """
        for node in nodes:
            if any(isinstance(outer, MatchCase) for outer in self._facts.index.ancestors(node)):
                return True
            if any(not _is_of_device(side.choice.test) for side in sides(self._facts, node)):
                return True
            if any(_names(branch.test) & _names(switch) for branch in self._exits_before(node)):
                return True
        return False

    def _exits_before(self, node: Node) -> Iterator[If]:
        """The branches before a node, in the blocks around it, that leave the function or the turn of the loop."""
        index = self._facts.index
        statement = index.statement(node)
        while not isinstance(statement, FunctionDef | ClassDef):
            holder, block = index.block(statement)
            for before in block[: block.index(statement)]:
                if isinstance(before, If) and leaves(before.body):
                    yield before
            if isinstance(holder, Module):
                return
            statement = index.statement(holder)

    def _is_always_true(self, test: Compare) -> bool:
        """A text that is compared with a dtype for inequality."""
        if len(test.ops) != 1 or test.ops[0] not in ("!=", "is not"):
            return False
        for one, other in ((test.left, test.comparators[0]), (test.comparators[0], test.left)):
            if None not in dtype_names(self._facts, one) and self._is_a_text(other):
                return True
        return False

    def _is_a_text(self, expr: Expr) -> bool:
        """Whether a value is compared with, or made from, text elsewhere: `precision == "fp16"`."""
        if any(_is_text(origin.node) for origin in self._facts.values.origins(expr) if origin.node is not None):
            return True
        if not is_of_self(expr):
            return False
        klass = self._facts.index.klass(expr)
        for facts, owner in lookup_order(self._facts, klass) if klass is not None else ():
            for node in facts.index.each(Compare):
                if facts.index.klass(node) is not owner:
                    continue
                sides = (node.left, *node.comparators)
                is_same = any(isinstance(side, Attribute) and side.attr == expr.attr for side in sides)
                if is_same and any(_is_text(side) for side in sides):
                    return True
        return False


def _is_on_somewhere(switch: Origin) -> bool:
    """Whether some maker of a wrapper leaves its scaler on for good: the region may be that one's."""
    found = switch.facts.values.origins(switch.node) if switch.node is not None else ()
    return any(o.node is not None and truth(o.facts, o.node) is True for o in found)


def _asks_for_cuda(switch: Origin) -> bool:
    """Whether a switch is off only where there is no CUDA: a region for CUDA does nothing there either."""
    found = switch.facts.values.origins(switch.node) if switch.node is not None else ()
    return bool(found) and all(o.node is not None and _is_about_cuda(o.facts, o.node) for o in found)


def _is_about_cuda(facts: "Facts", test: Expr) -> bool:
    match test:
        case Call():
            return facts.names.canonical(test.func) == "torch.cuda.is_available"
        case Compare():
            sides = (test.left, *test.comparators)
            return any(isinstance(side, Constant) and side.value in ("cpu", "cuda") for side in sides)
        case BoolOp():
            return all(_is_about_cuda(facts, part) for part in test.values)
        case _:
            return False


def _names(expr: Node) -> set[str]:
    nodes = [node for node in walk(expr) if isinstance(node, Name | Attribute)]
    return {node.attr if isinstance(node, Attribute) else node.id for node in nodes} - {"self", "args", "cfg", "config"}


def _is_text(node: Node) -> bool:
    return isinstance(node, Constant) and isinstance(node.value, str)


def _is_of_device(test: Expr) -> bool:
    """Whether a test asks for the device, or only whether the file is the program, or nothing at all."""
    if not isinstance(test, Compare):
        return isinstance(test, Constant)
    sides = (test.left, *test.comparators)
    is_main = any(isinstance(side, Name) and side.id == "__name__" for side in sides)
    return is_main or any(isinstance(side, Constant) and side.value in ("cpu", "cuda") for side in sides)
