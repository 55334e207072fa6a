"""How uses of a deprecated AMP name are written with its replacement, the import and every use together or not at all.

Knows nothing of which uses deserve a finding. Refuses wherever a use means something that the new name would change:
subclasses, the class passed on as a value, choices between versions, names that others import.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from amplint.facts.api.aliased import aliases_of, are_called_with_keywords
from amplint.facts.api.new_call import CUSTOM, RefusedError, call_repairs, replacement, target_of
from amplint.facts.api.uses import NAMING, ImportedApi, Role, Use
from amplint.facts.program.bindings import Binding
from amplint.facts.program.exports import is_exported, is_starred_over
from amplint.knowledge.torch_api import PACKAGE_NAMES, Api
from amplint.model.data import Value
from amplint.model.edit import MoveImport, Repair, Replace
from amplint.model.tree import Alias, Assign, FunctionDef, Import, ImportFrom, Name, Node
from amplint.model.walks import dotted

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Plan(Value):
    """The repairs that migrate some uses; doubt says why they are not certainly neutral, '' where they are."""

    repairs: tuple[Repair, ...]
    doubt: str = ""


def plan_import(imported: Sequence[ImportedApi], facts: "Facts") -> Plan | None:
    """Move names of `from` imports, with every use of each; None where one of them cannot be moved.

    Takes along what stands in the same statements, the other family of names too, so that all findings there carry
    the same repairs and their order does not matter; where that cannot be, the names alone.
    """
    for group in (_together(imported, facts), imported):
        plan = _plan_import(group, facts)
        if plan is not None:
            return plan
    return None


def _together(imported: Sequence[ImportedApi], facts: "Facts") -> list[ImportedApi]:
    found = list(imported)
    for each in found:  # grows while it is walked
        bindings = facts.names.lookup(each.binding.name, each.statement)
        for other in facts.uses.imported:
            is_near = other.statement is each.statement or other.binding in bindings
            if is_near and other.api.deprecated is not None and other not in found:
                found.append(other)
    return found


def _plan_import(imported: Sequence[ImportedApi], facts: "Facts") -> Plan | None:
    repairs: list[Repair] = []
    used: list[Use] = []
    try:
        for each in imported:
            if each.api.is_query:
                raise RefusedError("the replacement has another name")
            for peer in _peers(each, facts):
                _refuse_unless_free(peer.binding, peer.alias, peer.api, facts)
                repairs.append(MoveImport(peer.alias.span, target_of(peer.api, facts)))
            for use in facts.uses.of(each.binding):
                used.append(use)
                repairs += _of_use(use, facts, keeps_name=True)
            if facts.uses.has_unknown_readers(each.binding):
                raise RefusedError("the name is used in ways that are not understood")
    except RefusedError:
        return None
    return Plan(tuple(dict.fromkeys(repairs)), _doubt(used, facts))


def plan_dotted(use: Use, facts: "Facts") -> Plan | None:
    """Migrate one use that is reached through a module, with what has to change along; None where it cannot be."""
    try:
        if facts.shims.is_shim(use.node) or facts.shims.is_patched(use.api):
            raise RefusedError("part of a choice")
        repairs = _through_package_alias(use, facts)
        if repairs is None:
            repairs = _of_use(use, facts, keeps_name=False)
            for other in facts.uses.dotted_names(use.api):
                if not facts.shims.is_shim(other.node):
                    repairs += _of_use(other, facts, keeps_name=False)
    except RefusedError:
        return None
    return Plan(tuple(dict.fromkeys(repairs)), _doubt((use,), facts))


def _peers(imported: ImportedApi, facts: "Facts") -> list[ImportedApi]:
    """All imports of the name in the same scope, as the cells of a notebook repeat them."""
    bindings = facts.names.lookup(imported.binding.name, imported.statement)
    peers = [each for each in facts.uses.imported if each.binding in bindings]
    if len(peers) != len(bindings) or any(peer.api is not imported.api for peer in peers):
        raise RefusedError("the name has other meanings too")
    return peers


def _refuse_unless_free(binding: Binding, place: Node, api: Api, facts: "Facts") -> None:
    is_shared = is_exported(binding, facts) or is_starred_over(binding, facts)
    if facts.shims.is_shim(place) or facts.shims.is_patched(api) or is_shared:
        raise RefusedError("a choice between versions, or a name that others see")


def _of_use(use: Use, facts: "Facts", *, keeps_name: bool) -> list[Repair]:
    """The repairs at one use. keeps_name says that its import moves, so that the name stays as it is written."""
    if facts.shims.is_shim(use.node):
        raise RefusedError("part of a choice")
    name = (dotted(use.node) or "") if keeps_name else _spelled(target_of(use.api, facts), use, facts)
    if use.role is Role.DECORATOR and use.api.kind in CUSTOM:
        return [Replace(use.node.span, f'{name}(device_type="{use.api.device}")')]
    renamed: list[Repair] = [] if keeps_name else [Replace(use.node.span, name)]
    if use.role in NAMING:
        return renamed
    if use.role is Role.CALL:
        return renamed + call_repairs(use, facts)
    aliases = aliases_of(use, facts)
    if aliases and are_called_with_keywords(aliases, facts) and use.api.kind == "autocast":
        if facts.inheritance.reaching(str(use.api.device)):
            raise RefusedError("the dtype would have to be given where it is called")
        return [Replace(use.node.span, f'${{functools.partial}}({name}, "{use.api.device}")')]
    if use.role is Role.ALIAS and not keeps_name:
        return renamed + _of_alias(use, facts)
    raise RefusedError(f"the name is {use.role}")


def _spelled(target: str, use: Use, facts: "Facts") -> str:
    """The new name through the file's own name for torch, else as whoever writes it finds it."""
    is_torch = facts.names.canonical(use.root) == "torch"
    return use.root.id + target.removeprefix("torch") if is_torch else f"${{{target}}}"


def _of_alias(use: Use, facts: "Facts") -> list[Repair]:
    """`autocast = torch.cuda.amp.autocast`: the calls of the new name change along."""
    statement = facts.index.parents[use.node]
    repairs: list[Repair] = []
    assert isinstance(statement, Assign)
    for target in statement.targets:
        bindings = facts.names.lookup(target.id, target) if isinstance(target, Name) else ()
        if len(bindings) != 1:
            raise RefusedError("the name has other meanings too")
        _refuse_unless_free(bindings[0], statement, use.api, facts)
        if facts.uses.has_unknown_readers(bindings[0]):
            raise RefusedError("the name is used in ways that are not understood")
        for other in facts.uses.of(bindings[0]):
            repairs += _of_use(other, facts, keeps_name=True)
    return repairs


def _through_package_alias(use: Use, facts: "Facts") -> list[Repair] | None:
    """`from torch.cuda import amp`: move the module's own import where every use of it can go along."""
    if len(use.bindings) != 1 or not isinstance(use.bindings[0].node, Alias):
        return None
    binding, alias = use.bindings[0], use.bindings[0].node
    if binding.canonical not in PACKAGE_NAMES or facts.shims.is_shim(alias):
        return None
    if is_exported(binding, facts) or is_starred_over(binding, facts):
        return None
    uses = facts.uses.of(binding)
    is_whole = not facts.uses.has_unknown_readers(binding) and all(u.api.replacement is not None for u in uses)
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
        if each.role is Role.ALIAS or replacement(each.api, facts) is None:
            return None
        repairs += _of_use(each, facts, keeps_name=True)
    return repairs


def _doubt(uses: Sequence[Use], facts: "Facts") -> str:
    regions = [use for use in uses if use.api.kind == "autocast"]
    if regions and (facts.shims.has_scripts or any(_is_scripted(use, facts) for use in regions)):
        return "TorchScript is used here, which in older torch scripts only the old class"
    if any(use.api.kind == "GradScaler" for use in uses) and any(_tests_type(other) for other in _neighbours(facts)):
        return "another file tests for the old class, and the new one is not an instance of it"
    return ""


def _is_scripted(use: Use, facts: "Facts") -> bool:
    """Whether the use is in a scripted function."""
    functions = (outer for outer in facts.index.ancestors(use.node) if isinstance(outer, FunctionDef))
    return any(facts.names.canonical(d) == "torch.jit.script" for function in functions for d in function.decorators)


def _neighbours(facts: "Facts") -> Iterator["Facts"]:
    """The modules beside this one that may name the scaler's class."""
    yield from facts.context.importers.holding(("GradScaler",))
    yield from facts.context.modules.holding(("GradScaler",))


def _tests_type(facts: "Facts") -> bool:
    return any(
        use.role is Role.TYPE_TEST and use.api.kind == "GradScaler" and use.api.deprecated for use in facts.uses.all
    )
