"""Where a module imports and uses apex.amp; knows nothing of apex's other parts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.data import Entity
from amplint.model.tree import Alias, Attribute, Constant, If, Import, ImportFrom, Module, Name, Node, Try

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class ApexUse(Entity):
    """A use of `apex.amp.<name>`; imports are the aliases that brought it."""

    node: Node
    name: str
    imports: tuple[Alias, ...]


def apex_imports(facts: "Facts") -> Iterator[Alias]:
    """The imports of apex.amp, or from it, that are not guarded."""
    for node in facts.index.each(Alias):
        if _imports_amp(node, facts) and not _is_guarded(node, facts):
            yield node


def apex_uses(facts: "Facts") -> Iterator[ApexUse]:
    """Every place that reaches a name in apex.amp, by what the name may mean on some branch."""
    roots = {
        node.asname or node.name.partition(".")[0] for node in facts.index.each(Alias) if _is_from_apex(node, facts)
    }
    for name in facts.index.each(Name) if roots else ():
        use = _use(name, facts) if name.id in roots else None
        if use is not None:
            yield use


def _use(root: Name, facts: "Facts") -> ApexUse | None:
    for name in facts.names.meaning(root).names:
        node: Node = root
        path = name
        while not path.startswith("apex.amp."):
            parent = facts.index.parents[node]
            if not isinstance(parent, Attribute) or not (path == "apex" or path.startswith("apex.amp")):
                break
            node, path = parent, f"{path}.{parent.attr}"
        if path.startswith("apex.amp."):
            bindings = facts.names.lookup(root.id, root)
            imports = tuple(b.node for b in bindings if isinstance(b.node, Alias) and _is_from_apex(b.node, facts))
            if path.removeprefix("apex.amp.").startswith("__"):
                return None
            return ApexUse(node, path.removeprefix("apex.amp.").partition(".")[0], imports)
    return None


def _is_from_apex(alias: Alias, facts: "Facts") -> bool:
    statement = facts.index.parents[alias]
    module = statement.module if isinstance(statement, ImportFrom) and not statement.level else alias.name
    return module.partition(".")[0] == "apex"


def _imports_amp(alias: Alias, facts: "Facts") -> bool:
    statement = facts.index.parents[alias]
    if isinstance(statement, ImportFrom):
        module = f"{statement.module}.{alias.name}" if not statement.level else ""
    else:
        module = alias.name if isinstance(statement, Import) else ""
    return module == "apex.amp" or module.startswith("apex.amp.")


def _is_guarded(alias: Alias, facts: "Facts") -> bool:
    """Whether the module can be used without apex: the import is tried, or depends on a condition outside functions."""
    for outer in facts.index.ancestors(alias):
        if isinstance(outer, Try):
            return True
        is_question = isinstance(outer, If) and not isinstance(outer.test, Constant)
        if is_question and isinstance(facts.index.scope(outer), Module):
            return True
    return False
