"""Handlers that leave word of what they caught: `except RuntimeError: failed = True`, and later a test asks for it.

Knows one function; refuses to follow what becomes of the word on its way to the test, as when all processes agree.
"""

from collections.abc import Iterator

from amplint.facts.program.index import Index
from amplint.model.tree import Assign, Constant, ExceptHandler, FunctionDef, If, Module, Name, While
from amplint.model.walks import own_nodes, walk


def leaves_word(index: Index, handler: ExceptHandler) -> bool:
    """Whether a handler gives a name a constant, which may be replaced before some test of the function asks for it."""
    flags = set(_flags(handler))
    if not flags:
        return False
    inside = set(map(id, walk(handler)))
    around = next((node for node in index.ancestors(handler) if isinstance(node, FunctionDef | Module)), None)
    outside = [node for node in own_nodes(around) if id(node) not in inside] if around is not None else []
    tests = [node.test for node in outside if isinstance(node, If | While)]
    asked = {part.id for test in tests for part in walk(test) if isinstance(part, Name)}
    return not flags.isdisjoint(asked) and any(_replaces(node, flags & asked) for node in outside)


def _flags(handler: ExceptHandler) -> Iterator[str]:
    for statement in handler.body:
        for node in walk(statement):
            if isinstance(node, Assign) and isinstance(node.value, Constant):
                yield from (target.id for target in node.targets if isinstance(target, Name))


def _replaces(node: object, flags: set[str]) -> bool:
    """Whether a statement gives a flag something else than a constant."""
    if not isinstance(node, Assign) or isinstance(node.value, Constant):
        return False
    return any(isinstance(target, Name) and target.id in flags for target in node.targets)
