"""Scalers that are made again and again: in a loop over batches or epochs, or in a function that such a loop calls.

A loop that makes its optimizer anew as well trains from the start each time, and is right to make a scaler; so is one
in which whole runs, of epochs of batches, go on.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.bound_functions import named_function
from amplint.facts.program.callers import all_importers, calls_of
from amplint.facts.program.classes import class_made
from amplint.facts.program.origins import Origins
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.epoch_loops import is_loop, is_over_batches, trains_epochs
from amplint.facts.protocol.filled_places import fills_a_place
from amplint.facts.protocol.guards import loop_around, ways_up
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.training_names import is_optimizer, is_scaler
from amplint.model.data import Entity
from amplint.model.tree import (
    Assign,
    Attribute,
    BoolOp,
    Call,
    ClassDef,
    Compare,
    Constant,
    For,
    FunctionDef,
    If,
    IfExp,
    Name,
    Node,
    Return,
    Try,
    While,
)
from amplint.model.walks import assigned_value, is_none, last_name, own_nodes, own_returns, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# What shows that a scaler is there to train: where nothing but a scale is in sight, something is measured.
USED = (EventKind.UNSCALE, EventKind.STEP, EventKind.UPDATE, EventKind.FORGET)


class Creation(Entity):
    """A constructor call of a scaler that a loop repeats.

    caller and call are where the loop calls the function that makes it; None where the loop is around the
    constructor itself. is_per_batch: nothing but batches can be what the loop goes through.
    """

    call: Call
    loop: For | While
    is_per_batch: bool
    caller: "Facts | None" = None
    through: Call | None = None


class ScalerCreations:
    """The repeated creations of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._alone: dict[FunctionDef, bool] = {}
        self._inside: dict[FunctionDef, _Inside] = {}
        found = tuple(self._creations())
        calls = {creation.call for creation in found}
        self.found = (*found, *(each for each in self._of_each_batch() if each.call not in calls))

    def _creations(self) -> Iterator[Creation]:
        for call in self._facts.index.calls:
            makes_scaler = self._facts.names.may_mean(call.func, is_scaler) or self._gives_scaler(call)
            if not makes_scaler and self._facts.names.canonical(call.func) is None:
                continue
            loops = self._facts.index.loops(call)
            if not (makes_scaler or (loops and self._makes_wrapper(call))) or self._is_once(call):
                continue
            if not loops:
                yield from self._through_callers(call)
            elif not self._is_meant(call, loops[0]):
                yield Creation(call, loops[0], is_over_batches(self._facts, loops[0]))

    def _is_meant(self, call: Call, loop: For | While) -> bool:
        """Whether each turn of a loop has a use for a scaler of its own."""
        return fills_a_place(self._facts, call, loop) or _makes_optimizer(self._facts, loop) or trains_epochs(loop)

    def _of_each_batch(self) -> Iterator[Creation]:
        """Scalers that a function makes in which they scale one loss, where a loop over batches leads to it."""
        seen: set[Call] = set()
        for reading in self._facts.protocol:
            scene = reading.scene
            for _, _, step in scene.graph.steps():
                call = assigned_value(step.node)
                scaler = next((h.scaler for h in reading.events.of(step) if h.kind is EventKind.CREATE), None)
                if scaler is None or not isinstance(call, Call) or call in seen or not self._is_repeated(call, step):
                    continue
                loop = loop_around(scene, step)
                scaled = reading.steps_of(EventKind.SCALE, scaler=scaler)
                through = next((each for each in ways_up(scene, step) if each.node in _inside(loop)), None)
                is_used = any(reading.steps_of(*USED, scaler=scaler))
                if loop is None or through is None or not isinstance(through.node, Call) or not is_used:
                    continue
                caller = scene.homes[through.frame]
                if any(loop_around(scene, each) is loop for each in scaled) and not _makes_optimizer(caller, loop):
                    seen.add(call)
                    yield Creation(call, loop, True, caller, through.node)

    def _is_repeated(self, call: Call, step: Step) -> bool:
        """Whether a function of this module makes a scaler at a step wherever it is called."""
        function = self._facts.index.function(call) if call in self._facts.index.parents else None
        makes_scaler = function is not None and self._facts.names.may_mean(call.func, is_scaler)
        is_new = makes_scaler and step.frame > 0 and not self._is_once(call)
        return is_new and isinstance(function, FunctionDef) and not _makes_optimizer(self._facts, function)

    def _makes_wrapper(self, call: Call) -> bool:
        """Whether a call makes an instance of a class in sight that makes a scaler of its own, and no optimizer."""
        made = class_made(self._facts, call)
        if made is None or _makes_optimizer(*made):
            return False
        owner, klass = made
        values = (value for found in owner.attributes(klass).values() for value in found)
        return any(owner.constructors.may_make(value, is_scaler) for value in values)

    def _gives_scaler(self, call: Call) -> bool:
        """Whether a call is of a function in sight that returns a new scaler, or nothing."""
        is_kept = isinstance(self._facts.index.parents.get(call), Assign)
        named = named_function(self._facts, call.func) if is_kept else None
        if named is None or named[1].decorators:
            return False
        owner, function = named
        values = [value for each in own_returns(function) for value in _chosen(each.value)]
        made = [value for value in values if isinstance(value, Call) and owner.names.may_mean(value.func, is_scaler)]
        return bool(made) and all(value in made or is_none(value) for value in values)

    def _is_once(self, call: Call) -> bool:
        """Behind a test that there is none yet, switched off, or as a default of something that exists."""
        if any(a.name == "enabled" and isinstance(a.value, Constant) and a.value.value is False for a in call.args):
            return True
        child: Node = call
        for outer in self._facts.index.ancestors(call):
            if isinstance(outer, If) and child in outer.body and _asks_for_none(outer.test):
                return True
            if isinstance(outer, Try) and child not in outer.body:
                return True
            if isinstance(outer, BoolOp) or (isinstance(outer, IfExp) and _asks_for_none(outer.test)):
                return True
            if isinstance(outer, FunctionDef | For | While):
                return False
            child = outer
        return False

    def _through_callers(self, call: Call) -> Iterator[Creation]:
        function = self._facts.index.function(call)
        statement = self._facts.index.parents.get(call)
        while isinstance(statement, IfExp):
            statement = self._facts.index.parents.get(statement)
        if not isinstance(function, FunctionDef) or not isinstance(statement, Assign):
            return
        target = statement.targets[0]
        if not isinstance(target, Name) or self._trains_alone(function):
            return
        if function not in self._inside:
            self._inside[function] = _Inside(function)
        inside = self._inside[function]
        if target.id in inside.returned or not inside.steps(target.id) or inside.steps_its_own(self._facts, target.id):
            return
        for caller, site in self._sites(function):
            loops = caller.index.loops(site)
            if loops and not _makes_optimizer(caller, loops[0]):
                yield Creation(call, loops[0], not any(is_loop(n) for n in own_nodes(function)), caller, site)
                return

    def _trains_alone(self, function: FunctionDef) -> bool:
        if function not in self._alone:
            self._alone[function] = _makes_optimizer(self._facts, function) or trains_epochs(function)
        return self._alone[function]

    def _sites(self, function: FunctionDef) -> "Iterator[tuple[Facts, Call]]":
        klass = self._facts.index.parents.get(function)
        if not isinstance(klass, ClassDef):
            yield from calls_of(self._facts, function)
            return
        for caller in all_importers(self._facts, {function.name}):
            for site in caller.index.calls:
                func = site.func
                if isinstance(func, Attribute) and func.attr == function.name and caller.index.loops(site):
                    found = Origins().klass(caller, func.value)
                    if found is not None and found[1] is klass:
                        yield caller, site


def _chosen(value: Node | None) -> "Iterator[Node | None]":
    """A value, or the two that a conditional expression chooses from."""
    if isinstance(value, IfExp):
        yield from (*_chosen(value.body), *_chosen(value.orelse))
    else:
        yield value


def outermost(facts: "Facts", creation: Creation) -> For | While | None:
    """The loop before which a scaler that is assigned in its body could be made once; None where it depends on it."""
    statement = facts.index.statement(creation.call)
    if not isinstance(statement, Assign) or statement.value is not creation.call or creation.through is not None:
        return None
    if facts.index.block(statement)[0] is not creation.loop or len(statement.targets) != 1:
        return None
    found = creation.loop
    for loop in facts.index.loops(creation.call):
        if _makes_optimizer(facts, loop) or (loop is not found and trains_epochs(loop)):
            break
        found = loop
    target = spelled(statement.targets[0])
    needed = {node.id for argument in creation.call.args for node in walk(argument) if isinstance(node, Name)}
    names = (node for node in walk(found) if isinstance(node, Name | Attribute))
    bound = [spelled(node) for node in names if facts.index.is_target(node)]
    return found if bound.count(target) == 1 and needed.isdisjoint(bound) else None


def _inside(loop: For | While | None) -> set[Node]:
    return set(walk(loop)) if loop is not None else set()


def _makes_optimizer(facts: "Facts", where: Node) -> bool:
    """Whether a stretch makes an optimizer, itself or by a function in sight that does nothing else with it."""
    nodes = list(walk(where))
    calls = [node for node in nodes if isinstance(node, Call)]
    if any(is_optimizer(name) for call in calls for name in facts.names.meaning(call.func).names):
        return True
    if any(isinstance(node, Assign) and _is_new_optimizer(node) for node in nodes):
        return True
    return any(isinstance(facts.index.parents.get(call), Assign) and _gives_optimizer(facts, call) for call in calls)


def _is_new_optimizer(statement: Assign) -> bool:
    """Whether a call whose result is called an optimizer was given none to hand on: `optimizer = build(model)`."""
    if not isinstance(statement.value, Call) or last_name(statement.value.func) == "optimizers":
        return False
    given = {last_name(part) for argument in statement.value.args for part in walk(argument.value)}
    targets = {last_name(part) for target in statement.targets for part in walk(target)}
    return any("optim" in name.lower() and name not in given for name in targets)


def _gives_optimizer(facts: "Facts", call: Call) -> bool:
    """Whether a call is of a function that makes an optimizer and returns something."""
    named = named_function(facts, call.func)
    if named is None:
        return False
    owner, function = named
    nodes = list(own_nodes(function))
    makes = (node for node in nodes if isinstance(node, Call))
    return any(isinstance(node, Return) for node in nodes) and any(
        is_optimizer(name) for node in makes for name in owner.names.meaning(node.func).names
    )


def _asks_for_none(test: Node) -> bool:
    return isinstance(test, Compare) and test.ops == ("is",)


class _Inside:
    """What a function does with its local names: which ones it returns, and the methods that it calls on them."""

    def __init__(self, function: FunctionDef) -> None:
        self._function = function
        returned = (node for node in own_nodes(function) if isinstance(node, Return))
        self.returned = {part.id for node in returned for part in walk(node) if isinstance(part, Name)}
        self._calls: defaultdict[str, list[Call]] = defaultdict(list)
        self._given: set[str] = set()
        for node in walk(function):
            if isinstance(node, Call):
                self._given |= {given.value.id for given in node.args if isinstance(given.value, Name)}
                if isinstance(node.func, Attribute) and isinstance(node.func.value, Name):
                    self._calls[node.func.value.id].append(node)

    def steps(self, name: str) -> bool:
        """Whether the function trains with the scaler that it makes: a scale without a step measures something."""
        methods = {_method(call) for call in self._calls[name]}
        return not methods.isdisjoint(("step", "update")) or ("scale" in methods and name in self._given)

    def steps_its_own(self, facts: "Facts", name: str) -> bool:
        """Whether the optimizer that the scaler steps is made in the function as well, by whatever it calls."""
        for call in self._calls[name]:
            optimizer = call.args[0].value if call.args and _method(call) == "step" else None
            bindings = facts.names.lookup(optimizer.id, optimizer) if isinstance(optimizer, Name) else ()
            if any(binding.kind != "parameter" and binding.scope is self._function for binding in bindings):
                return True
        return False


def _method(call: Call) -> str:
    return call.func.attr if isinstance(call.func, Attribute) else ""
