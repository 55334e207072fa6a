"""How a call of a deprecated AMP name is written for its replacement: the arguments, and the name that takes them.

Knows nothing of imports. Refuses calls that do not fit the old signature, and `*args` whose order would shift.
"""

from typing import TYPE_CHECKING

from amplint.facts.api.arguments import Form, fit, form
from amplint.facts.api.uses import Use, constant_text
from amplint.knowledge.torch_api import APIS, DEVICE_QUERIES, Api, Slot
from amplint.model.edit import InsertArgument, NameArgument, Repair
from amplint.model.tree import Argument, Call

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

CUSTOM = frozenset({"custom_fwd", "custom_bwd"})


class RefusedError(Exception):
    """A use that cannot be migrated."""


def replacement(api: Api, facts: "Facts") -> Api | None:
    """The new API that exists in every supported torch, or None."""
    if api.replacement is None:
        return None
    target = facts.settings.target
    # torch.amp.autocast is younger than torch.autocast, which is the same class.
    if api.kind == "autocast" and not target.has(1, 13):
        return APIS["torch.autocast"] if target.has(1, 10) else None
    found = APIS.get(api.replacement) or DEVICE_QUERIES[api.replacement]
    return found if target.has(*found.since) else None


def target_of(api: Api, facts: "Facts") -> str:
    """The dotted name to write instead. Raises RefusedError where some supported torch lacks it."""
    new = replacement(api, facts)
    if new is None:
        raise RefusedError("the replacement is newer than the oldest supported torch")
    return new.name


def call_repairs(use: Use, facts: "Facts") -> list[Repair]:
    """What the arguments of a call need to mean the same to the replacement. Raises RefusedError."""
    call, api = use.call, use.api
    assert call is not None
    device = api.device
    if is_new_way(call, api):
        if not fit(call, APIS[target_of(api, facts)], facts).binds:
            raise RefusedError("the call fits neither signature")
        return []
    found = fit(call, api, facts)
    if not found.binds or any(_is_misplaced(argument, param.slot, facts) for argument, param in found.positional):
        raise RefusedError("the call does not fit the old signature")
    if api.is_query:
        return [InsertArgument(call.span, f'"{device}"')]
    if api.kind in CUSTOM:
        return [InsertArgument(call.span, f'"{device}"', "device_type")]
    repairs: list[Repair] = [InsertArgument(call.span, f'"{device}"')]
    if found.has_star and (api.kind == "autocast" or found.positional):
        raise RefusedError("the order of `*` arguments would shift")
    repairs += [NameArgument(argument.span, param.name) for argument, param in found.positional]
    reaching = facts.inheritance.reaching(str(device)) if api.kind == "autocast" else frozenset()
    if reaching:
        if found.has_double_star:
            raise RefusedError("`**` may bring the dtype or leave it out")
        for param in api.params:
            if param.name in reaching and param.name not in found.given:
                value = f"${{{param.default}}}" if param.slot is Slot.DTYPE else str(param.default)
                repairs.append(InsertArgument(call.span, value, param.name))
    return repairs


def is_new_way(call: Call, api: Api) -> bool:
    """Whether a call of an old name is written for the new one: a device is given, which the old one does not take."""
    if any(argument.name in ("device", "device_type") for argument in call.args):
        return True
    first = call.args[0] if call.args else None
    is_text = first is not None and not first.star and first.name is None and constant_text(first.value) is not None
    return is_text and api.kind in ("autocast", "GradScaler")


def _is_misplaced(argument: Argument, slot: Slot, facts: "Facts") -> bool:
    """Whether the value visibly does not belong into the parameter: what to do is for the rule about signatures."""
    found = form(argument.value, facts)
    wrong = {
        Slot.FLAG: (Form.DTYPE, Form.TEXT, Form.DEVICE),
        Slot.NUMBER: (Form.FLAG, Form.FLAG_BY_NAME, Form.TEXT, Form.DEVICE, Form.DTYPE),
        Slot.DTYPE: (Form.FLAG, Form.TEXT, Form.DEVICE),
    }
    return found in wrong.get(slot, ())
