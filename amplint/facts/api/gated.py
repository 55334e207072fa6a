"""New AMP names against the torch that reaches them: the oldest supported one, and what conditions around them say.

Knows nothing of wording. A place is safe where some condition around it ensures the name; refuses to judge conditions
that it cannot read.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.facts.api.shims import Choice
from amplint.facts.api.uses import Role
from amplint.knowledge.torch_api import DEVICE_QUERIES, Api, Version, api, package_of
from amplint.model.data import Entity, Value
from amplint.model.tree import Call, If, IfExp, ImportFrom, Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# The first release with AMP, and no code of today is meant for an older one.
_FIRST_AMP: Version = (1, 6)
# Since when the things exist that people test for in the place of the name.
_PACKAGES: dict[str, Version] = {"torch.cuda.amp": _FIRST_AMP, "torch.amp": (1, 12), "torch.cpu.amp": (1, 10)}


class GateFault(StrEnum):
    """What is wrong with a condition that chooses an API."""

    TOO_OLD = "tests for an older torch"
    OTHER_NAME = "tests for another name"
    INVERTED = "is the wrong way round"
    LEXICAL = "compares the first characters"


class WrongGate(Entity):
    """A condition that lets a name be reached by a torch that lacks it. tested is the version or name in the test."""

    choice: Choice
    api: Api
    fault: GateFault
    tested: str


class NewName(Value):
    """A place that needs an API, and the API."""

    place: Node
    api: Api


def too_new(facts: "Facts") -> Iterator[NewName]:
    """Unguarded uses of names that the stated target lacks."""
    if facts.settings.target.is_assumed:
        return
    for found in _new_names(facts):
        shims = facts.shims
        is_guarded = shims.is_skipped(found.place) or any(True for _ in shims.choices(found.place))
        is_guarded = is_guarded or _is_for_type_checkers(found.place, facts)
        if not facts.settings.target.has(*found.api.since) and not is_guarded:
            yield found


def _is_for_type_checkers(place: Node, facts: "Facts") -> bool:
    """Whether nothing runs here: the place is under `if TYPE_CHECKING`, or an annotation that is never evaluated."""
    if any(
        isinstance(outer, If) and facts.names.canonical(outer.test) == "typing.TYPE_CHECKING"
        for outer in facts.index.ancestors(place)
    ):
        return True
    is_annotation = any(use.node is place and use.role is Role.ANNOTATION for use in facts.uses.all)
    return is_annotation and any(
        isinstance(statement, ImportFrom) and statement.module == "__future__" for statement in facts.module.body
    )


def wrong_gates(facts: "Facts") -> Iterator[WrongGate]:
    """Conditions that do not ensure the names that they are there for; one for each condition."""
    seen: set[Node] = set()
    for found in _new_names(facts):
        target = facts.settings.target
        if not target.is_assumed and target.has(*found.api.since):
            continue
        choices = list(facts.shims.choices(found.place))
        if any(_ensures(choice, found.api) for choice in choices):
            continue
        for choice in choices:
            fault = _fault(choice, found.api) if choice.holder not in seen and _is_about_amp(choice, facts) else None
            if fault is not None:
                seen.add(choice.holder)
                yield WrongGate(choice, found.api, *fault)
                break
    yield from _lexical(facts, seen)


def test_of(choice: Choice) -> Node:
    """The condition of a choice."""
    assert isinstance(choice.holder, If | IfExp)
    return choice.holder.test


def _new_names(facts: "Facts") -> Iterator[NewName]:
    for imported in facts.uses.imported:
        if imported.api.since > _FIRST_AMP:
            yield NewName(imported.alias, imported.api)
    for use in facts.uses.all:
        is_written_out = use.is_dotted or not use.bindings
        if is_written_out and use.api.since > _FIRST_AMP and use.role not in (Role.TARGET, Role.OWNER):
            yield NewName(use.node, use.api)
    for call in facts.index.calls:
        query = DEVICE_QUERIES.get(facts.names.canonical(call.func) or "")
        if query is not None and len(call.args) >= len(query.params):
            yield NewName(call, query)


def _ensures(choice: Choice, wanted: Api) -> bool:
    """Whether the condition, as far as it can be read, keeps out every torch that lacks the name."""
    arm = choice.arm
    if choice.is_try or (arm.low is not None and arm.low >= wanted.since):
        return True
    if any(_since(name) is None or _since(name) >= wanted.since for name in arm.has):  # type: ignore[operator]
        return True
    return choice.gate is not None and not (arm.low or arm.high or arm.has or arm.lacks)


def _since(name: str) -> Version | None:
    if name in _PACKAGES:
        return _PACKAGES[name]
    found = api(name)
    return found.since if found is not None else None


def _fault(choice: Choice, wanted: Api) -> tuple[GateFault, str] | None:
    arm = choice.arm
    if choice.gate is None:
        return None
    if wanted.name in arm.lacks:
        return GateFault.INVERTED, wanted.name
    if arm.high is not None and arm.high <= wanted.since:
        return GateFault.INVERTED, f"torch {arm.high[0]}.{arm.high[1]}"
    if arm.low is not None:
        return GateFault.TOO_OLD, f"torch {arm.low[0]}.{arm.low[1]}"
    if arm.has:
        return GateFault.OTHER_NAME, sorted(arm.has)[0]
    return None


def _is_about_amp(choice: Choice, facts: "Facts") -> bool:
    """Whether the condition chooses how AMP is done: what stands in the other arm, or the test, names it."""
    if any(package_of(name) or api(name) for name in choice.arm.has | choice.arm.lacks):
        return True
    return any(facts.shims.mentions_amp(part) for part in choice.others)


def _lexical(facts: "Facts", seen: set[Node]) -> Iterator[WrongGate]:
    for use in facts.uses.all:
        for choice in facts.shims.choices(use.node):
            arm = choice.arm
            if arm.is_lexical and choice.holder not in seen and isinstance(choice.holder, If | IfExp):
                seen.add(choice.holder)
                limit = arm.low or arm.high
                assert limit is not None  # such an arm comes from a comparison
                yield WrongGate(choice, use.api, GateFault.LEXICAL, f"{limit[0]}.{limit[1]}")


def is_simple_test(choice: Choice) -> bool:
    """Whether the condition is nothing but one `hasattr`."""
    test = test_of(choice)
    return isinstance(test, Call) and bool(choice.arm.has)
