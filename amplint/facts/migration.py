"""How uses of a deprecated AMP name are written with its replacement, the import and every use together or not at all.

Knows nothing of which uses deserve a finding. Refuses wherever a use means something that the new name would change:
`*args` whose order shifts, subclasses, the class passed on as a value, choices between versions, re-exports.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from amplint.facts.arguments import Form, fit, form
from amplint.facts.exports import is_exported
from amplint.facts.inherited import may_inherit
from amplint.facts.names import Binding
from amplint.facts.uses import ImportedApi, Role, Use, constant_text
from amplint.knowledge.torch_api import APIS, DEVICE_QUERIES, PACKAGE_NAMES, Api, Slot
from amplint.model.edit import InsertArgument, MoveImport, NameArgument, Repair, Replace
from amplint.model.tree import Alias, Argument, Assign, Call, FunctionDef, Import, ImportFrom, Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_NAMING_ROLES = frozenset({Role.ANNOTATION, Role.TYPE_TEST})
_CUSTOM = frozenset({"custom_fwd", "custom_bwd"})


@dataclass(frozen=True, slots=True)
class Plan:
    """The repairs that migrate some uses; doubt says why they are not certainly neutral, '' where they are."""

    repairs: tuple[Repair, ...]
    doubt: str = ""


class _RefusedError(Exception):
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


def plan_import(imported: Sequence[ImportedApi], facts: "Facts") -> Plan | None:
    """Move names of `from` imports, with every use of each; None where one of them cannot be moved."""
    repairs: list[Repair] = []
    try:
        for each in imported:
            if each.api.is_query:
                raise _RefusedError("the replacement has another name")
            for peer in _peers(each, facts):
                _refuse_unless_free(peer.binding, peer.alias, peer.api, facts)
                repairs.append(MoveImport(peer.alias.span, _target(peer.api, facts)))
            for use in facts.uses.of(each.binding):
                repairs += _of_use(use, facts, keeps_name=True)
            if facts.uses.has_unknown_readers(each.binding):
                raise _RefusedError("the name is used in ways that are not understood")
    except _RefusedError:
        return None
    return Plan(tuple(dict.fromkeys(repairs)), _doubt((i.api for i in imported), facts))


def plan_dotted(use: Use, facts: "Facts") -> Plan | None:
    """Migrate one use that is reached through a module, with what has to change along; None where it cannot be."""
    try:
        if facts.shims.is_shim(use.node) or facts.shims.is_patched(use.api):
            raise _RefusedError("part of a choice")
        repairs = _through_package_alias(use, facts)
        if repairs is None:
            repairs = _of_use(use, facts, keeps_name=False)
            for other in facts.uses.all:
                along = other.api is use.api and other.is_dotted and other.role in _NAMING_ROLES
                if along and not facts.shims.is_shim(other.node):
                    repairs += _of_use(other, facts, keeps_name=False)
    except _RefusedError:
        return None
    return Plan(tuple(dict.fromkeys(repairs)), _doubt((use.api,), facts))


def call_repairs(use: Use, facts: "Facts") -> list[Repair] | None:
    """What the arguments of a call need to mean the same to the replacement; None where that is not certain."""
    try:
        return _of_call(use, facts)
    except _RefusedError:
        return None


def _peers(imported: ImportedApi, facts: "Facts") -> list[ImportedApi]:
    """All imports of the name in the same scope, as the cells of a notebook repeat them."""
    bindings = facts.names.lookup(imported.binding.name, imported.statement)
    peers = [each for each in facts.uses.imported if each.binding in bindings]
    if len(peers) != len(bindings) or any(peer.api is not imported.api for peer in peers):
        raise _RefusedError("the name has other meanings too")
    return peers


def _refuse_unless_free(binding: Binding, place: Node, api: Api, facts: "Facts") -> None:
    if facts.shims.is_shim(place) or facts.shims.is_patched(api) or is_exported(binding, facts):
        raise _RefusedError("a choice between versions, or a name that others see")


def _target(api: Api, facts: "Facts") -> str:
    new = replacement(api, facts)
    if new is None:
        raise _RefusedError("the replacement is newer than the oldest supported torch")
    return new.name


def _of_use(use: Use, facts: "Facts", *, keeps_name: bool) -> list[Repair]:
    """The repairs at one use. keeps_name says that its import moves, so that the name stays as it is written."""
    if facts.shims.is_shim(use.node):
        raise _RefusedError("part of a choice")
    target = _target(use.api, facts)
    name = use.root.id if keeps_name else f"${{{target}}}"
    if use.role is Role.DECORATOR and use.api.kind in _CUSTOM:
        return [Replace(use.node.span, f'{name}(device_type="{use.api.device}")')]
    renamed: list[Repair] = [] if keeps_name else [Replace(use.node.span, name)]
    if use.role in _NAMING_ROLES:
        return renamed
    if use.role is Role.CALL:
        return renamed + _of_call(use, facts)
    if use.role is Role.ALIAS and not keeps_name:
        return renamed + _of_alias(use, facts)
    raise _RefusedError(f"the name is {use.role}")


def _of_alias(use: Use, facts: "Facts") -> list[Repair]:
    """`autocast = torch.cuda.amp.autocast`: the calls of the new name change along."""
    statement = facts.index.parents[use.node]
    repairs: list[Repair] = []
    assert isinstance(statement, Assign)
    for target in statement.targets:
        bindings = facts.names.lookup(getattr(target, "id", ""), target)
        if len(bindings) != 1:
            raise _RefusedError("the name has other meanings too")
        _refuse_unless_free(bindings[0], statement, use.api, facts)
        if facts.uses.has_unknown_readers(bindings[0]):
            raise _RefusedError("the name is used in ways that are not understood")
        for other in facts.uses.of(bindings[0]):
            repairs += _of_use(other, facts, keeps_name=True)
    return repairs


def _through_package_alias(use: Use, facts: "Facts") -> list[Repair] | None:
    """`from torch.cuda import amp`: move the module's own import where every use of it can go along."""
    if len(use.bindings) != 1 or not isinstance(use.bindings[0].node, Alias):
        return None
    binding, alias = use.bindings[0], use.bindings[0].node
    if binding.canonical not in PACKAGE_NAMES or facts.shims.is_shim(alias) or is_exported(binding, facts):
        return None
    uses = facts.uses.of(binding)
    is_whole = not facts.uses.has_unknown_readers(binding) and all(
        (u.api.kind in _CUSTOM) == (use.api.kind in _CUSTOM) and u.api.replacement is not None for u in uses
    )
    if not is_whole or not facts.settings.target.has(1, 13):
        return None
    statement = facts.index.parents[alias]
    repairs: list[Repair] = []
    if isinstance(statement, ImportFrom) and not statement.level:
        repairs.append(MoveImport(alias.span, "torch.amp"))
    elif isinstance(statement, Import) and alias.asname is not None:
        repairs.append(Replace(alias.span, f"torch.amp as {alias.asname}"))
    else:
        return None
    for each in uses:
        if each.role is Role.DECORATOR or each.role is Role.ALIAS:
            return None
        repairs += _of_use(each, facts, keeps_name=True)
    return repairs


def _of_call(use: Use, facts: "Facts") -> list[Repair]:
    call, api = use.call, use.api
    assert call is not None
    device = api.device
    if is_new_way(call, api):
        if not fit(call, APIS[_target(api, facts)], facts).binds:
            raise _RefusedError("the call fits neither signature")
        return []
    found = fit(call, api, facts)
    if not found.binds or any(_is_misplaced(argument, param.slot, facts) for argument, param in found.positional):
        raise _RefusedError("the call does not fit the old signature")
    if api.is_query:
        return [InsertArgument(call.span, f'"{device}"')]
    if api.kind in _CUSTOM:
        return [InsertArgument(call.span, f'"{device}"', "device_type")]
    repairs: list[Repair] = [InsertArgument(call.span, f'"{device}"')]
    if found.has_star and (api.kind == "autocast" or found.positional):
        raise _RefusedError("the order of `*` arguments would shift")
    repairs += [NameArgument(argument.span, param.name) for argument, param in found.positional]
    if api.kind == "autocast" and may_inherit(facts, str(device)):
        if found.has_double_star:
            raise _RefusedError("`**` may bring the dtype or leave it out")
        for param in api.params:
            if param.slot in (Slot.DTYPE, Slot.FLAG) and param.name != "enabled" and param.name not in found.given:
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


def _doubt(apis: Iterable[Api], facts: "Facts") -> str:
    kinds = {api.kind for api in apis}
    if "autocast" in kinds and any(_is_scripted(facts)):
        return "TorchScript is used here, which in older torch scripts only the old class"
    if "GradScaler" in kinds and any(_tests_type(other) for other in _neighbours(facts)):
        return "another file tests for the old class, and the new one is not an instance of it"
    return ""


def _is_scripted(facts: "Facts") -> Iterator[bool]:
    for node in facts.index.nodes:
        if isinstance(node, FunctionDef):
            yield from (facts.names.canonical(decorator) == "torch.jit.script" for decorator in node.decorators)
        elif isinstance(node, Call):
            yield facts.names.canonical(node.func) == "torch.jit.script"


def _neighbours(facts: "Facts") -> Iterator["Facts"]:
    yield from facts.context.importers
    yield from facts.context.modules.values()


def _tests_type(facts: "Facts") -> bool:
    return any(
        use.role is Role.TYPE_TEST and use.api.kind == "GradScaler" and use.api.deprecated for use in facts.uses.all
    )
