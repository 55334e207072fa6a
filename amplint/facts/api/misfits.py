"""Which arguments of AMP calls do not fit the signature of what is called, and what was probably meant.

Knows nothing of how a misfit is worded or whether its repair may be applied.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.facts.api.arguments import Fit, Form, fit, form
from amplint.facts.api.handed_on import handed_on
from amplint.facts.api.new_call import is_new_way
from amplint.facts.api.uses import Role, Use, constant_text
from amplint.knowledge.torch_api import Param, Slot
from amplint.model.data import Entity
from amplint.model.tree import Argument, Call

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_CHECKED = frozenset({"autocast", "GradScaler", "custom_fwd", "custom_bwd", "ShardedGradScaler"})


class Misfit(StrEnum):
    """How an argument does not fit."""

    NEW_WAY = "a device for an old class"
    UNKNOWN = "unknown keyword"
    SURPLUS = "too many"
    TWICE = "given twice"
    MISSING = "missing device type"
    WRONG_SLOT = "lands in the wrong parameter"


class BadCall(Entity):
    """One misfit of one call.

    argument is the one that does not fit, None where one is missing; param is where it lands; meant is the parameter
    that its form fits. is_certain is False where only the argument's name tells what it is.
    """

    use: Use
    call: Call
    misfit: Misfit
    argument: Argument | None = None
    param: Param | None = None
    form: Form = Form.UNKNOWN
    meant: str | None = None
    is_certain: bool = True


def bad_calls(facts: "Facts") -> Iterator[BadCall]:
    """Every misfit, but for calls in `try` that are there to see whether they fit."""
    for use in (*facts.uses.all, *handed_on(facts)):
        if (
            use.role is Role.CALL
            and use.api.kind in _CHECKED
            and use.call is not None
            and not facts.shims.is_tried(use.node)
        ):
            yield from _of_call(use, use.call, facts)


def device_hint(facts: "Facts") -> str:
    """The one device type that AMP calls of the module name, or "cuda"."""
    devices: set[str] = set()
    for use in facts.uses.all:
        if use.api.device in ("cuda", "cpu"):
            devices.add(use.api.device)
        elif use.call is not None:
            for name, argument in fit(use.call, use.api, facts).given.items():
                text = constant_text(argument.value) if name in ("device", "device_type") else None
                devices.update([text.partition(":")[0]] if text else [])
    return devices.pop() if len(devices) == 1 else "cuda"


def _of_call(use: Use, call: Call, facts: "Facts") -> Iterator[BadCall]:
    if use.api.device is not None and is_new_way(call, use.api):
        named = next((a for a in call.args if a.name in ("device", "device_type")), call.args[0])
        yield BadCall(use, call, Misfit.NEW_WAY, named)
        return
    found = fit(call, use.api, facts)
    for misfit, arguments in (
        (Misfit.UNKNOWN, found.unknown),
        (Misfit.SURPLUS, found.surplus),
        (Misfit.TWICE, found.twice),
    ):
        for argument in arguments:
            yield BadCall(use, call, misfit, argument)
    if any(param.slot is Slot.DEVICE for param in found.missing) and not found.unknown:
        yield BadCall(use, call, Misfit.MISSING)
    for name, argument in found.given.items():
        param = use.api.param(name)
        if param is not None:
            yield from _in_slot(use, call, found, argument, param, facts)


def _in_slot(use: Use, call: Call, found: Fit, argument: Argument, param: Param, facts: "Facts") -> Iterator[BadCall]:
    seen = form(argument.value, facts)
    meant = _MEANT.get((param.slot, seen))
    if meant is None or (param.slot is Slot.DEVICE and seen is Form.NUMBER and use.api.kind == "autocast"):
        return
    is_free = argument.name is None and meant in {p.name for p in use.api.params} and meant not in found.given
    is_certain = seen is not Form.FLAG_BY_NAME
    if not is_certain and argument.name is not None:
        return
    yield BadCall(
        use, call, Misfit.WRONG_SLOT, argument, param, seen, meant if is_free else None, is_certain=is_certain
    )


# (what the parameter takes, what the value is) → the parameter that the value is for, '' where there is none.
_MEANT: dict[tuple[Slot, Form], str] = {
    (Slot.DEVICE, Form.FLAG): "enabled",
    (Slot.DEVICE, Form.FLAG_BY_NAME): "enabled",
    (Slot.DEVICE, Form.DTYPE): "dtype",
    (Slot.DEVICE, Form.NUMBER): "init_scale",
    (Slot.DTYPE, Form.FLAG): "enabled",
    (Slot.DTYPE, Form.FLAG_BY_NAME): "enabled",
    (Slot.DTYPE, Form.TEXT): "",
    (Slot.FLAG, Form.DTYPE): "dtype",
    (Slot.FLAG, Form.TEXT): "",
    (Slot.FLAG, Form.DEVICE): "",
    (Slot.NUMBER, Form.FLAG): "enabled",
    (Slot.NUMBER, Form.FLAG_BY_NAME): "enabled",
    (Slot.NUMBER, Form.TEXT): "",
    (Slot.NUMBER, Form.DTYPE): "",
}
