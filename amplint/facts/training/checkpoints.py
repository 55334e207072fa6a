"""Checkpoints: where training state is saved, and whether the scaler's state is in it.

Refuses to know what a library saves that is not seen.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from amplint.facts.program.callers import bind
from amplint.facts.program.classes import lookup_order
from amplint.facts.training.idle_scalers import serves_nothing
from amplint.facts.training.scaler_lives import ScalerLives
from amplint.facts.training.scaler_states import SCALER, forgotten_beside, gives_state, is_only_handed_on, makes_wrapper
from amplint.knowledge import training_names as known
from amplint.model.data import Entity
from amplint.model.tree import (
    Assign,
    Attribute,
    Call,
    ClassDef,
    Constant,
    Dict,
    FunctionDef,
    Lambda,
    Module,
    Name,
    Node,
    Subscript,
)
from amplint.model.walks import children, dotted, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_SAVE = re.compile(r"(^|_)(save|dump)", re.IGNORECASE)
_KEEPS = re.compile(r"save|checkpoint|ckpt|recover|register|resume|snapshot|persist", re.IGNORECASE)
_OPTIONS = re.compile(r"^(cfg|config|conf|args|opts?|options|params|hparams|settings)$", re.IGNORECASE)
_LOADS = re.compile(r"_*(load|restore|resume|read)", re.IGNORECASE)
_OPTIMIZER = re.compile(r"optim|(^|_)opt(_|$)", re.IGNORECASE)


class Checkpoint(Entity):
    """Training state that is saved.

    writer is the module whose function owner (None at module level) reads the optimizer's state at state and writes
    it at save; place is what a finding points at, in the module that drives the scaler.
    """

    writer: "Facts"
    place: Node
    state: Node
    save: Node
    owner: FunctionDef | None


class Checkpoints:
    """The checkpoints of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def without_scaler(self) -> Iterator[Checkpoint]:
        """Checkpoints with the optimizer's state but not the scaler's, where the module drives a scaler."""
        if not self.drives_scaler:
            return
        if self.keeps_scaler:
            yield from self._of_one_of_two()
            return
        lives = ScalerLives(self._facts)
        found = chain(self.written, self._of_objects(), self._through_functions(), self._through_bases())
        yield from (checkpoint for checkpoint in found if lives.reach(checkpoint.place))

    def _of_one_of_two(self) -> Iterator[Checkpoint]:
        """Checkpoints with the state of one scaler, and not that of another one beside it."""
        for holder in self._facts.index.each(Dict):
            read = forgotten_beside(self._facts, holder)
            states = [value for value in holder.values if isinstance(value, Call) and self._is_optimizer_state(value)]
            if read is not None and states:
                yield Checkpoint(self._facts, holder, states[0], holder, None)

    @cached_property
    def written(self) -> tuple[Checkpoint, ...]:
        """Checkpoints that functions of this module write, none for one that mentions a scaler in what it saves."""
        found = [self._in_scope(function, list(own_nodes(function))) for function in self._facts.index.functions]
        found.append(self._in_scope(None, list(_module_nodes(self._facts.module))))
        return tuple(each for each in found if each is not None)

    @cached_property
    def keeps_scaler(self) -> bool:
        """Whether the module reads the state of a scaler, or hands a scaler to what saves or registers things."""
        for call in self._facts.index.calls:
            last = _last(call.func)
            if last == "state_dict" and isinstance(call.func, Attribute) and self._is_scaler(call.func.value):
                if not is_only_handed_on(self._facts, call):
                    return True
                continue
            if (
                _KEEPS.search(last)
                and not _LOADS.match(last)
                and any(self._is_scaler(argument.value) for argument in call.args)
                and not self._is_ignored(call)
            ):
                return True
        return any(any(self._is_scaler(value) for value in node.values) for node in self._facts.index.each(Dict))

    def never_loaded(self) -> Iterator[tuple[Call, Call]]:
        """Loads of an optimizer's state in a module that saves the scaler's state and reads it nowhere."""
        calls = [call for call in self._facts.index.calls if isinstance(call.func, Attribute)]
        saved = [call for call in calls if _last(call.func) == "state_dict" and self._is_receiver(call)]
        if not saved or not self.drives_scaler or self._may_load_scaler:
            return
        for call in calls:
            assert isinstance(call.func, Attribute)
            if call.func.attr == "load_state_dict" and _OPTIMIZER.search(_last(call.func.value)):
                yield call, saved[0]
                return

    @property
    def _may_load_scaler(self) -> bool:
        """Whether anything here may give a scaler its state: a load, a function that gets it, a key that is read."""
        index = self._facts.index
        is_loaded = any(
            (_last(call.func) == "load_state_dict" and (self._is_receiver(call) or not _last(_receiver(call))))
            or (_LOADS.match(_last(call.func)) and any(self._is_scaler(argument.value) for argument in call.args))
            for call in index.calls
        )
        read = (node for node in index.each(Subscript) if not index.is_target(node))
        keys = (node.index for node in read if not _OPTIONS.search(_last(node.value)))
        gets = (call.args[0].value for call in index.calls if _last(call.func) in ("get", "pop") and call.args)
        is_read = any(isinstance(key, Constant) and SCALER.search(str(key.value)) for key in (*keys, *gets))
        is_listed = any(self._is_scaler(value) for node in index.each(Dict) for value in node.values)
        return is_loaded or is_read or is_listed

    def _is_receiver(self, call: Call) -> bool:
        return self._is_scaler(_receiver(call))

    def _is_ignored(self, call: Call) -> bool:
        """Whether a call hands a scaler to a function in sight that makes nothing of it."""
        callee = self._facts.targets.function(call)
        if callee is None or any(argument.star for argument in call.args):
            return False
        given = bind(callee[1], call, has_self=isinstance(callee[0].index.parents.get(callee[1]), ClassDef))
        names = {name for name, value in given.items() if value is not None and self._is_scaler(value)}
        read = {node.id for statement in callee[1].body for node in walk(statement) if isinstance(node, Name)}
        return bool(names) and names.isdisjoint(read | {"locals"})

    @cached_property
    def drives_scaler(self) -> bool:
        """Whether the module steps with a scaler, or makes one that serves for something, not switched off for good."""
        training = self._facts.training
        if training.scalers and any("step" in training.uses[handle] for handle in training.scalers):
            return not self._is_disabled
        calls = self._facts.index.calls
        made = [call for call in calls if self._facts.constructors.may_make(call, known.is_scaler)]
        if made:
            return not self._is_disabled and not serves_nothing(self._facts, made)
        return any(makes_wrapper(self._facts, call) for call in self._facts.index.calls)

    @property
    def _is_disabled(self) -> bool:
        made = [m for c in self._facts.index.calls for m in self._facts.constructors.of(c) if known.is_scaler(m.name)]
        return bool(made) and all(map(self._facts.training.is_switched_off, made))

    def _in_scope(self, owner: FunctionDef | None, nodes: list[Node]) -> Checkpoint | None:
        states = [node for node in nodes if isinstance(node, Call) and self._is_optimizer_state(node)]
        named = [node for node in nodes if isinstance(node, Call) and _SAVE.search(_last(node.func))]
        saves: list[Node] = [save for save in named if not _last(save.func).endswith("save_dir")]
        saves = saves or list(gives_state(self._facts, owner))
        if not states or not saves or self._mentions_scaler_key(nodes):
            return None
        state = states[0]
        holder = next(
            (outer for outer in self._facts.index.ancestors(state) if isinstance(outer, Dict) and outer in nodes), None
        )
        save = next((each for each in saves if each.span.start >= state.span.start or _holds(each, state)), saves[-1])
        if holder is None:
            record = self._facts.index.parents.get(self._facts.index.parents[state])
            is_record = isinstance(record, Call) and record is not save and _last(record.func)[:1].isupper()
            place: Node = record if is_record and record is not None else save
        else:
            place = holder if holder.span.line != save.span.line else save
        return Checkpoint(self._facts, place, state, save, owner)

    def _of_objects(self) -> Iterator[Checkpoint]:
        """Dictionaries of objects that a library is told to save: `to_save = {"model": …, "optimizer": …}`."""
        for node in self._facts.index.each(Dict):
            if len(node.values) < 2:
                continue
            optimizers = [value for value in node.values if self._facts.training.is_optimizer(value)]
            holder = self._facts.index.parents[node]
            named = holder.targets[0] if isinstance(holder, Assign) else None
            name = _last(named) if named is not None else getattr(holder, "name", None) or ""
            if optimizers and isinstance(name, str) and _SAVE.search(name):
                yield Checkpoint(self._facts, node, optimizers[0], node, None)

    def _through_functions(self) -> Iterator[Checkpoint]:
        """Calls of functions of other modules, and of those that are handed the optimizer, that write a checkpoint."""
        for call in self._facts.index.calls:
            callee = self._facts.targets.function(call)
            if callee is None or callee[0] is self._facts or not _KEEPS.search(callee[1].name):
                continue
            facts, function = callee
            if facts.checkpoints.keeps_scaler or any(argument.star for argument in call.args):
                continue
            for checkpoint in facts.checkpoints.written:
                if checkpoint.owner is function and self._hands_optimizer(call):
                    yield Checkpoint(facts, call, checkpoint.state, checkpoint.save, function)

    def _through_bases(self) -> Iterator[Checkpoint]:
        """Classes that keep a scaler, and inherit from another module what writes the checkpoint."""
        keepers = [self._facts.index.klass(call) for calls in self._scaler_steps for call in calls]
        for klass in dict.fromkeys(keeper for keeper in keepers if keeper is not None):
            for facts, owner in lookup_order(self._facts, klass):
                if facts is self._facts or facts.checkpoints.keeps_scaler or facts.checkpoints.drives_scaler:
                    continue
                own = [c for c in facts.checkpoints.written if c.owner is not None and c.owner in owner.body]
                for checkpoint in own[:1]:
                    yield Checkpoint(facts, klass.bases[0].value, checkpoint.state, checkpoint.save, checkpoint.owner)

    @property
    def _scaler_steps(self) -> Iterator[list[Call]]:
        training = self._facts.training
        return (training.uses[handle].get("step", []) for handle in training.scalers)

    def _mentions_scaler_key(self, nodes: list[Node]) -> bool:
        """Whether a dictionary, or a subscript that is assigned, has a key for a scaler."""
        for node in nodes:
            keys: list[Node | None] = []
            if isinstance(node, Dict):
                keys.extend(k for k, v in zip(node.keys, node.values, strict=True) if not self._is_optimizers(v))
            elif isinstance(node, Subscript) and self._facts.index.is_target(node):
                keys.append(node.index)
            for key in keys:
                if isinstance(key, Constant) and isinstance(key.value, str) and SCALER.search(key.value):
                    return True
        return any(
            isinstance(node, Call)
            and any(a.name is not None and "scaler" in a.name for a in node.args)
            and _KEEPS.search(_last(node.func))
            for outer in nodes
            for node in walk(outer)
        )

    def _hands_optimizer(self, call: Call) -> bool:
        return any(
            self._facts.training.is_optimizer(argument.value) or _OPTIMIZER.search(_last(argument.value))
            for argument in call.args
        )

    def _is_optimizer_state(self, call: Call) -> bool:
        func = call.func
        if not isinstance(func, Attribute) or func.attr != "state_dict":
            return False
        if isinstance(self._facts.index.parents.get(call), Subscript):
            return False  # a part of it is read: `optimizer.state_dict()["param_groups"][0]["lr"]`
        if _OPTIMIZER.search(_last(func.value)):
            return True
        return self._facts.training.is_optimizer(func.value)

    def _is_optimizers(self, value: Node) -> bool:
        """Whether a value is the state of an optimizer, whatever it is called."""
        return isinstance(value, Call) and self._is_optimizer_state(value)

    def _is_scaler(self, expr: Node) -> bool:
        last = _last(expr)
        if isinstance(expr, Attribute | Name):
            return bool(SCALER.search(last)) or self._facts.training.handle(expr) in self._facts.training.scalers
        return False


def _module_nodes(module: Module) -> Iterator[Node]:
    stack: list[Node] = list(reversed(module.body))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, FunctionDef | ClassDef | Lambda):
            stack.extend(reversed(list(children(node))))


def _receiver(call: Call) -> Node:
    return call.func.value if isinstance(call.func, Attribute) else call.func


def _holds(outer: Node, inner: Node) -> bool:
    return outer.span.contains(inner.span)


def _last(node: Node) -> str:
    text = dotted(node)
    if text is not None:
        return text.rpartition(".")[2]
    if isinstance(node, Attribute):
        return node.attr
    return _last(node.value) if isinstance(node, Subscript) else ""
