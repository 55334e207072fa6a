"""Whether an autocast region may find itself inside one of another dtype or cache setting, as far as is seen.

The old classes pin float16 (CPU: bfloat16) and the weight cache; the new one inherits both where they are not given
(torch/amp/autocast_mode.py, `autocast.__init__`). Looks at the module and at those that import it, for a caller's
region encloses the regions of what it calls; refuses to follow calls one by one.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from amplint.facts.api.arguments import fit
from amplint.facts.api.uses import Role, Use, constant_text
from amplint.knowledge.torch_api import APIS
from amplint.model.tree import Argument, Call, Constant

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_PINNED = {
    "cuda": frozenset({"torch.float16", "torch.half"}),
    "cpu": frozenset({"torch.bfloat16"}),
}
_SETTER = "set_autocast_cache_enabled"
# The beginning of a region up to some part of its arguments.
_INSIDE = rb"autocast\((?:[^()]|\([^()]*\)){0,500}?"
# Where a text makes a region whose arguments it does not spell there, or calls it by another name.
_HIDDEN = rb"autocast\s+as\b|=\s*[\w.]*autocast\s*$|partial\(\s*[\w.]*autocast|" + _INSIDE + rb"\*\*"
# What the text of a file holds that may set what regions inherit, for each setting.
_MENTIONS = {
    "dtype": re.compile(_HIDDEN + rb"|set_autocast|" + _INSIDE + rb"(?:dtype|,)", re.MULTILINE),
    "cache_enabled": re.compile(_HIDDEN + rb"|cache_enabled|autocast\((?:[^,()]*,){3}", re.MULTILINE),
}


class Inheritance:
    """What may reach the regions of one module from around them, by device, worked out once for each."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._known: dict[str, frozenset[str]] = {}

    def reaching(self, device: str) -> frozenset[str]:
        """What may reach a region on this device: "dtype" for another one than the old class's, "cache_enabled"."""
        if device not in self._known:
            self._known[device] = frozenset(each for each in _MENTIONS if self._may_reach(each, device))
        return self._known[device]

    def _may_reach(self, setting: str, device: str) -> bool:
        """Whether one setting may; the files around are read until one sets it."""
        around = self._facts.context.importers.around(_MENTIONS[setting])
        return any(setting in _disturbances(each, device) for each in chain([self._facts], around))


def _disturbances(facts: "Facts", device: str) -> Iterator[str]:
    uses = facts.uses.all
    if any(use.api.name.startswith("torch.set_autocast_") and use.api.name.endswith("_dtype") for use in uses):
        yield "dtype"
    if any(facts.names.canonical(call.func) == f"torch.{_SETTER}" for call in facts.targets.named(_SETTER)):
        yield "cache_enabled"
    for use in uses:
        if use.api.kind == "autocast":
            yield from _given_to(use, device, facts)


def _given_to(use: Use, device: str, facts: "Facts") -> Iterator[str]:
    """What a region hands on that the old class would not have taken."""
    call = use.call
    if use.role is Role.PARTIAL:
        partial = facts.index.parents[facts.index.parents[use.node]]
        assert isinstance(partial, Call)
        call = Call(partial.span, use.node, partial.args[1:])
    if call is None:
        return
    # A call in the new way of the old class fails today and will be a region of the new one.
    is_new_way = use.api.device is not None and any(a.name == "device_type" for a in call.args)
    given = fit(call, APIS["torch.autocast"] if is_new_way else use.api, facts)
    where = use.api.device or _text(given.given.get("device_type"))
    is_hidden = given.has_double_star and "dtype" not in given.given
    if is_hidden or (where in (None, device) and _is_other_dtype(given.given.get("dtype"), device, facts)):
        yield "dtype"
    if is_hidden or _sets_cache(given.given.get("cache_enabled")):
        yield "cache_enabled"


def _is_other_dtype(argument: Argument | None, device: str, facts: "Facts") -> bool:
    if argument is None or (isinstance(argument.value, Constant) and argument.value.value is None):
        return False
    return facts.names.canonical(argument.value) not in _PINNED.get(device, frozenset())


def _sets_cache(argument: Argument | None) -> bool:
    return argument is not None and not (isinstance(argument.value, Constant) and argument.value.value is True)


def _text(argument: Argument | None) -> str | None:
    return constant_text(argument.value) if argument is not None else None
