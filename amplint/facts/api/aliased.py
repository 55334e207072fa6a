"""Classes that get another name in the module, and how that name is used; knows nothing of what the class is."""

from typing import TYPE_CHECKING

from amplint.facts.api.uses import Use
from amplint.facts.program.exports import is_exported
from amplint.model.tree import Assign, Call, IfExp, Name, Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def aliases_of(use: Use, facts: "Facts") -> list[Name]:
    """The names that the class is assigned to, directly or as one choice: `ctx = autocast if amp else nullcontext`."""
    node: Node = use.node
    parent = facts.index.parents[node]
    while isinstance(parent, IfExp) and node is not parent.test:
        node, parent = parent, facts.index.parents[parent]
    if not isinstance(parent, Assign) or parent.value is not node:
        return []
    names = [target for target in parent.targets if isinstance(target, Name)]
    is_plain = parent.value is use.node and all(len(facts.names.lookup(name.id, name)) == 1 for name in names)
    return [] if is_plain or len(names) != len(parent.targets) else names


def are_called_with_keywords(aliases: list[Name], facts: "Facts") -> bool:
    """Whether the names are read only to call them, without positional arguments."""
    for alias in aliases:
        bindings = facts.names.lookup(alias.id, alias)
        own = {binding.node for binding in bindings}
        if any(is_exported(binding, facts) for binding in bindings):
            return False
        for node in facts.index.each(Name):
            if node.id != alias.id or node in own:
                continue
            if not set(facts.names.lookup(node.id, node)) & set(bindings):
                continue
            call = facts.index.parents[node]
            if not isinstance(call, Call) or call.func is not node:
                return False
            if any(argument.name is None and argument.star != "**" for argument in call.args):
                return False
    return True
