"""When a scaler comes to be against when its state is loaded, and how code asks whether a step was skipped.

Refuses to follow scalers through containers.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.reach import reached
from amplint.facts.training.events import EventKind
from amplint.knowledge import training_names as known
from amplint.model.data import Value
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    Compare,
    Continue,
    Expr,
    FunctionDef,
    If,
    Name,
    Node,
    Return,
    Stmt,
)
from amplint.model.walks import is_of_self, last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_LOADS = re.compile(r"load|restore|resume", re.IGNORECASE)
_ASKS = re.compile(r"skip|step|run|ran|overflow|updated|applied|taken", re.IGNORECASE)
_UNEQUAL = ("!=", "==", "is not", "is")


class LostState(Value):
    """A load of a scaler's state that does not reach the scaler that is used. is_early: the scaler is made later."""

    load: Node
    made: Node
    is_early: bool


class ScalerLifecycle:
    """The scalers of one module from creation to checkpoint."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def lost_states(self) -> Iterator[LostState]:
        """Loads before the scaler is made, and scalers that are made anew after the load."""
        for call in self._facts.index.calls:
            func = call.func
            if isinstance(func, Attribute) and func.attr == "load_state_dict":
                made = self._made_later(call, func.value)
                if made is not None:
                    yield LostState(call, made, True)
        yield from self._made_after_method()
        yield from self._replaced()

    def inequality_tests(self) -> Iterator[Compare]:
        """`scale != scaler.get_scale()` where it decides, or tells, whether a step was skipped."""
        for node in self._facts.index.each(Compare):
            if len(node.ops) != 1 or node.ops[0] not in _UNEQUAL:
                continue
            if self._reads_scale(node.left) and self._reads_scale(node.comparators[0]) and self._decides(node):
                yield node

    def _made_later(self, call: Call, receiver: Expr) -> Node | None:
        """Where a local scaler is first made, if that is below the load of its state in the same function."""
        function = self._facts.index.function(call)
        if not isinstance(receiver, Name) or function is None or not self._is_made(receiver):
            return None
        bindings = self._facts.names.lookup(receiver.id, receiver)
        if any(binding.scope is not function or binding.value is None for binding in bindings):
            return None
        places = [binding.node for binding in bindings]
        return places[0] if places and all(place.span.start > call.span.end for place in places) else None

    def _made_after_method(self) -> Iterator[LostState]:
        """`__init__` calls a method that loads `self.scaler`, and makes `self.scaler` only after that."""
        for function in self._facts.index.functions:
            klass = self._facts.index.klass(function)
            if function.name != "__init__" or klass is None:
                continue
            for each in reached(self._facts, function.body, kind=Call):
                func = each.node.func if isinstance(each.node, Call) else None
                if not isinstance(func, Attribute) or func.attr != "load_state_dict" or not each.via:
                    continue
                scaler = func.value
                if not is_of_self(scaler):
                    continue
                given = self._facts.values.attribute(klass, scaler.attr)
                values = [g.value for facts, g in given if facts is self._facts and g.value is not None]
                entry = each.via[0]
                is_later = all(
                    self._facts.index.function(value) is function and value.span.start > entry.span.end
                    for value in values
                )
                if values and len(values) == len(given) and is_later and self._is_made(scaler):
                    yield LostState(entry, values[0], True)

    def _replaced(self) -> Iterator[LostState]:
        for node in self._facts.index.each(Assign):
            if len(node.targets) != 1 or not self._facts.constructors.may_make(node.value, known.is_scaler):
                continue
            handle = self._facts.training.handle(node.targets[0])
            load = self._load_before(node, handle) if handle is not None else None
            if load is not None:
                yield LostState(load, node, False)

    def _load_before(self, statement: Stmt, handle: object) -> Node | None:
        """A load of the state of one scaler earlier in a block: its own, or by a function that gets the scaler."""
        index = self._facts.index
        holder, block = index.block(statement)
        for load in self._loads.get(handle, ()):
            if load.span.start >= statement.span.start:
                return None
            outer = next((node for node in (load, *index.ancestors(load)) if index.parents.get(node) is holder), None)
            if isinstance(outer, Stmt) and outer in block:
                return load
        return None

    @cached_property
    def _loads(self) -> dict[object, list[Call]]:
        """The calls that may load the state of an object, by the object's handle, in source order."""
        training, found = self._facts.training, defaultdict[object, list[Call]](list)
        for node in self._facts.index.calls:
            func = node.func
            name = last_name(func)
            given = [argument.value for argument in node.args] if _LOADS.search(name) else []
            if isinstance(func, Attribute) and name == "load_state_dict":
                given.append(func.value)
            for handle in {training.handle(value) for value in given} - {None}:
                found[handle].append(node)
        return dict(found)

    def _is_made(self, expr: Expr) -> bool:
        facts = self._facts
        return facts.training.is_scaler(expr) or bool(facts.training.made_by(expr, known.is_scaler))

    def _reads_scale(self, expr: Expr) -> bool:
        return any(
            isinstance(o.node, Call) and isinstance(o.node.func, Attribute) and o.node.func.attr == "get_scale"
            for o in self._facts.values.origins(expr, is_local=True)
        )

    def _decides(self, test: Compare) -> bool:
        """Whether the answer steps a scheduler, or is kept under a name that tells of a step."""
        index = self._facts.index
        child: Node = test
        for outer in index.ancestors(test):
            if isinstance(outer, If) and child is outer.test:
                return self._has_steps(outer)
            if isinstance(outer, Assign):
                names = [n for target in outer.targets for n in walk(target) if isinstance(n, Name | Attribute)]
                return any(_ASKS.search(n.id if isinstance(n, Name) else n.attr) for n in names)
            if isinstance(outer, FunctionDef):
                return bool(_ASKS.search(outer.name))
            child = outer
        return False

    def _has_steps(self, branch: If) -> bool:
        decided: tuple[Stmt, ...] = (*branch.body, *branch.orelse)
        if isinstance(branch.body[-1], Continue | Return):
            _, block = self._facts.index.block(branch)
            decided += block[block.index(branch) + 1 :]
        for node in (n for s in decided for n in walk(s)):
            if isinstance(node, Call) and self._facts.training.kind(node) is EventKind.SCHEDULER_STEP:
                return True
            if isinstance(node, Name | Attribute):
                name = node.id if isinstance(node, Name) else node.attr
                if "skip" in name.lower():
                    return True
        return False
