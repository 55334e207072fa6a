"""Repairs of calls whose arguments do not fit; knows which of them have one reading."""

from amplint.facts.api.migration import Plan, plan_dotted, plan_import
from amplint.facts.api.misfits import BadCall, Misfit, device_hint
from amplint.facts.api.uses import Role, Use, constant_text
from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import Slot
from amplint.model.edit import (
    Applicability,
    DeleteArgument,
    Fix,
    FixKind,
    InsertArgument,
    NameArgument,
    Repair,
    Replace,
)
from amplint.model.tree import Argument
from amplint.rules.deprecation import assumption

_DTYPE_TEXTS = {
    "float16": "torch.float16",
    "fp16": "torch.float16",
    "half": "torch.float16",
    "bfloat16": "torch.bfloat16",
    "bf16": "torch.bfloat16",
    "float32": "torch.float32",
    "torch.float16": "torch.float16",
    "torch.bfloat16": "torch.bfloat16",
}
# The keyword that the one generation has for what the other calls otherwise.
_RENAMED = {("autocast", "device"): "device_type", ("GradScaler", "device_type"): "device"}


def fix_of(bad: BadCall, facts: Facts) -> Fix | None:
    """The repair of a misfit, or None where it has no certain reading."""
    if facts.shims.is_shim(bad.use.node) or (bad.argument is not None and bad.argument not in bad.call.args):
        return None
    match bad.misfit:
        case Misfit.NEW_WAY:
            return _of_new_way(bad, facts)
        case Misfit.MISSING:
            return _with_device(bad, facts)
        case Misfit.UNKNOWN:
            return _of_unknown(bad)
        case Misfit.WRONG_SLOT:
            return _of_wrong_slot(bad, facts)
    return None


def _of_new_way(bad: BadCall, facts: Facts) -> Fix | None:
    assert bad.argument is not None
    plan = plan_of(bad.use, facts)
    if plan is not None:
        title = f"call `{bad.use.api.replacement}`, which takes the device{assumption(facts)}"
        applicability = Applicability.UNSAFE if plan.doubt else Applicability.SAFE
        return Fix(title, FixKind.REPAIR, applicability, plan.repairs)
    if constant_text(bad.argument.value) == bad.use.api.device:
        rest = bad.call.args[1:] if bad.argument.name is None else ()
        if any(argument.name is None for argument in rest):
            return None  # they were put in the order of the other class
        title = "leave the device out, which the class stands for"
        return Fix(title, FixKind.REPAIR, Applicability.SAFE, (DeleteArgument(bad.argument.span),))
    return None


def plan_of(use: Use, facts: Facts) -> Plan | None:
    """The migration of one use, with its import where it is imported by name."""
    if use.is_dotted or not use.bindings:
        return plan_dotted(use, facts) if use.is_dotted else None
    imported = [each for each in facts.uses.imported if each.binding in use.bindings]
    if imported:
        return plan_import(imported, facts)
    alias = next((other for other in facts.uses.all if other.role is Role.ALIAS and _names(other, use)), None)
    return plan_dotted(alias, facts) if alias is not None else None


def _names(alias: Use, use: Use) -> bool:
    return any(binding.value is alias.node for binding in use.bindings)


def _with_device(bad: BadCall, facts: Facts) -> Fix:
    device = device_hint(facts)
    name = "device_type" if bad.use.api.kind in ("custom_fwd", "custom_bwd") else None
    repairs = (InsertArgument(bad.call.span, f'"{device}"', name),)
    return Fix(f'give the device type "{device}" (a guess)', FixKind.REPAIR, Applicability.UNSAFE, repairs)


def _of_unknown(bad: BadCall) -> Fix | None:
    argument = bad.argument
    assert argument is not None
    name = _RENAMED.get((bad.use.api.kind, argument.name or ""))
    text = constant_text(argument.value)
    if name is None or text is None or bad.use.api.param(name) is None:
        return None
    repairs = (Replace(argument.span, f'{name}="{text}"'),)
    return Fix(f"name the argument `{name}`", FixKind.REPAIR, Applicability.SAFE, repairs)


def _of_wrong_slot(bad: BadCall, facts: Facts) -> Fix | None:
    argument, param = bad.argument, bad.param
    assert argument is not None
    assert param is not None
    if param.slot is Slot.DTYPE and (text := constant_text(argument.value)) is not None:
        known = _DTYPE_TEXTS.get(text)
        repairs: tuple[Repair, ...] = (Replace(argument.value.span, f"${{{known}}}"),)
        return Fix("give the dtype itself", FixKind.REPAIR, Applicability.SAFE, repairs) if known else None
    if not bad.meant or not _is_last_positional(argument, bad):
        return None
    repairs = (NameArgument(argument.span, bad.meant),)
    is_guess = not bad.is_certain
    title = f"give the argument its name, `{bad.meant}=`"
    needs_device = param.slot is Slot.DEVICE and param.default is None
    if needs_device:
        device = device_hint(facts)
        repairs = (InsertArgument(bad.call.span, f'"{device}"'), *repairs)
        title, is_guess = f'{title}, and the device type "{device}" (a guess)', True
    return Fix(title, FixKind.REPAIR, Applicability.UNSAFE if is_guess else Applicability.SAFE, repairs)


def _is_last_positional(argument: Argument, bad: BadCall) -> bool:
    positional = [each for each in bad.call.args if each.name is None]
    return positional[-1] is argument and not any(each.star == "*" for each in positional)
