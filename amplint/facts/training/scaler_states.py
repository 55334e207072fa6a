"""Where the state of a scaler is read, and whether that puts it into a checkpoint.

Knows names and methods; which functions write checkpoints is for `checkpoints.py`.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.callers import all_importers
from amplint.knowledge.training_names import is_scaler
from amplint.model.tree import Argument, Attribute, Call, ClassDef, Dict, FunctionDef, Node, Return
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

SCALER = re.compile(r"scaler|\bamp\b|amp_state", re.IGNORECASE)
_GIVES = re.compile(r"state_?dict|get_state|checkpoint", re.IGNORECASE)


def is_only_handed_on(facts: "Facts", read: Call) -> bool:
    """Whether a wrapper's own `state_dict` does nothing but return the state of its scaler, and nobody asks for it."""
    function, klass = facts.index.function(read), facts.index.klass(read)
    is_method = isinstance(function, FunctionDef) and function.name == "state_dict" and klass is not None
    if not is_method or klass is None or not isinstance(facts.index.parents.get(read), Return):
        return False
    return not _is_asked_by_users(facts, klass)


def gives_state(facts: "Facts", owner: FunctionDef | None) -> Iterator[Return]:
    """The returns of a method that gives the state of an object that steps with a scaler of its own."""
    klass = facts.index.parents.get(owner) if owner is not None else None
    if owner is None or not isinstance(klass, ClassDef) or not _GIVES.search(owner.name):
        return
    steps = (call for handle in facts.training.scalers for call in facts.training.uses[handle].get("step", ()))
    if not any(facts.index.klass(call) is klass for call in steps):
        return
    if not _is_asked_by_users(facts, klass):
        yield from (node for node in facts.index.each(Return) if facts.index.function(node) is owner)


def forgotten_beside(facts: "Facts", holder: Dict) -> Call | None:
    """The state of one scaler in a checkpoint that lacks that of another one, which is stepped beside it."""
    training = facts.training
    for read in holder.values:
        if not isinstance(read, Call) or not isinstance(read.func, Attribute) or read.func.attr != "state_dict":
            continue
        mine = training.handle(read.func.value)
        for other in training.scalers if mine in training.scalers else ():
            is_beside = mine is not None and other != mine and other[:-1] == mine[:-1]
            if is_beside and "step" in training.uses[other] and not _is_mentioned(facts, other):
                return read
    return None


def makes_wrapper(facts: "Facts", call: Call) -> bool:
    """Whether a call makes an object of a class of another module that makes a scaler for itself."""
    name = facts.names.canonical(call.func) if last_name(call.func)[:1].isupper() else None
    owner, klass = (facts.definition(name) if name is not None else None) or (facts, None)
    if owner is facts or not isinstance(klass, ClassDef):
        return False
    values = [value for given in owner.attributes(klass).values() for value in given if isinstance(value, Call)]
    return any(owner.constructors.may_make(value, is_scaler) for value in values)


def _is_mentioned(facts: "Facts", scaler: object) -> bool:
    """Whether a scaler is given to anything, put anywhere, or asked for its state."""
    training, parents = facts.training, facts.index.parents
    if training.uses[scaler].keys() & {"state_dict", "load_state_dict"}:  # type: ignore[index]
        return True
    nodes: Iterator[Node] = (argument.value for call in facts.index.calls for argument in call.args)
    given = (node for node in nodes if isinstance(parents.get(node), Argument))
    listed = (value for each in facts.index.each(Dict) for value in each.values)
    return any(training.handle(node) == scaler for node in (*given, *listed))


def _is_asked_by_users(facts: "Facts", klass: ClassDef) -> bool:
    """Whether another module that makes objects of a class reads the state of a scaler."""
    users = (other for other in all_importers(facts, {klass.name}) if other is not facts)
    return any(other.targets.named(klass.name) and _asks(other) for other in users)


def _asks(facts: "Facts") -> bool:
    """Whether a module reads the state of what is called a scaler."""
    return any(
        isinstance(call.func, Attribute)
        and call.func.attr == "state_dict"
        and SCALER.search(last_name(call.func.value))
        for call in facts.index.calls
    )
