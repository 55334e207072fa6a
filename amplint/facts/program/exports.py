"""Whether a module-level name is shared with others, by exports or star imports; knows nothing of what it means."""

from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding, Search
from amplint.model.tree import Alias, Assign, Attribute, AugAssign, Constant, List, Module, Name, Set, Tuple
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def is_exported(binding: Binding, facts: "Facts") -> bool:
    """Whether another module may import the bound name from here.

    True for names of a package's `__init__`, in `__all__`, or imported by a module of the context. `import x as x` says
    nothing here: tutorials write it, and type checkers read it as a re-export in stubs alone.
    """
    if not isinstance(binding.scope, Module):
        return False
    if facts.is_package or binding.name in _listed(facts):
        return True
    if binding.name not in facts.taken:
        importers = facts.context.importers.holding((binding.name,))
        facts.taken[binding.name] = any(_takes(importer, facts.dotted_name, binding.name) for importer in importers)
    return facts.taken[binding.name]


def is_starred_over(binding: Binding, facts: "Facts") -> bool:
    """Whether a star import of a module that is seen may give the name another meaning."""
    return isinstance(binding.scope, Module) and any(_gives(owner, binding.name, 4) for owner in _starred(facts))


def starred(facts: "Facts", module: str, name: str, search: Search) -> str | None:
    """What a name means in a module that is imported with a star: '' where that is not known, None where it has none.

    Raises LookupError where the module is not seen. One that has no say in mixed precision is asked by its text.
    """
    owner = facts.context.modules.get(module)
    outline = facts.context.modules.outline(module) if owner is None else None
    if outline is not None and not outline.may_hold((name,)) and not outline.has_star:
        return None
    if owner is None or owner is facts:
        raise LookupError(module)
    if name in owner.names.bindings(owner.module):
        return owner.names.module_binding(name, search) or ""
    return None


def _starred(facts: "Facts") -> list["Facts"]:
    found = (facts.context.modules.get(module) for module in facts.names.star_modules)
    return [owner for owner in found if owner is not None]


def _gives(owner: "Facts", name: str, budget: int) -> bool:
    """Whether `from owner import *` brings the name; `__all__` is not read, for it is often built in pieces."""
    if name in owner.names.bindings(owner.module):
        return True
    return budget > 0 and any(_gives(other, name, budget - 1) for other in _starred(owner))


def _listed(facts: "Facts") -> set[str]:
    """The strings in `__all__`."""
    found: set[str] = set()
    for node in facts.module.body:
        if not isinstance(node, Assign | AugAssign):
            continue
        targets = node.targets if isinstance(node, Assign) else (node.target,)
        if any(isinstance(target, Name) and target.id == "__all__" for target in targets):
            for part in walk(node.value):
                if isinstance(part, List | Tuple | Set):
                    found.update(e.value for e in part.elts if isinstance(e, Constant) and isinstance(e.value, str))
    return found


def _takes(importer: "Facts", module: str, name: str) -> bool:
    if module in importer.names.star_modules:
        return True
    wanted = f"{module}.{name}"
    for node in importer.index.each(Alias):
        bound = importer.names.lookup(node.asname or node.name.partition(".")[0], node)
        if any(b.node is node and b.canonical == wanted for b in bound):
            return True
    return any(
        node.attr == name and importer.names.canonical(node) == wanted for node in importer.index.each(Attribute)
    )
