"""Reads a program by the fastest parser that is certain, and has LibCST read again what is going to be reported.

Python's own parser is ten times as fast as LibCST, and most of what it reads holds nothing to report. LibCST's visitors
have the last word: they read what Python rejects, and every statement with a finding, up to its block. LibCST is
loaded for that alone.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from amplint.model import tree
from amplint.model.node import fields
from amplint.model.span import Span
from amplint.model.walks import children, walk
from amplint.syntax.depth import is_too_deep
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.geometry import UncertainError
from amplint.syntax.native import lower_natively

_STATEMENTS: tuple[type[tree.Node], ...] = tree.Stmt.__args__
# Statements that say before their block what they are, and where that ends.
_HEADED = tree.With | tree.FunctionDef | tree.ClassDef | tree.For | tree.While | tree.If
_BLOCKS = frozenset({"span", "body", "orelse"})

Lowered = Callable[[str], tree.Module | None]


def parse(program: str) -> tree.Module:
    """The lowered tree of a program whose lines end in plain line feeds.

    Raises SyntaxFaultError where it does not parse and RecursionError where it is nested too deeply.
    """
    if is_too_deep(program):
        raise RecursionError("nested too deeply")
    try:
        return lower_natively(program)
    except UncertainError:
        from amplint.syntax.lower import lower

        return lower(program)


@lru_cache(256)
def lowered_by_libcst(text: str) -> tree.Module | None:
    """LibCST's tree of a text, None where it takes it for no program. Python may: then it is right.

    While a file is fixed, most statements are read once for all rounds.
    """
    from amplint.syntax.lower import lower

    try:
        return lower(text)
    except (SyntaxFaultError, RecursionError):
        return None


def second_reading(
    program: str,
    module: tree.Module,
    places: Iterable[Span],
    lowered: Lowered = lowered_by_libcst,
) -> tree.Module | None:
    """LibCST's tree of a program where it is not the given one in the statements at some places, else None.

    LibCST reads the lines of the smallest statement around each place, less its block where all places stand before
    that, and the whole program only if they differ. lowered is what has it read.
    """
    blocks = _Blocks(module)
    chains: dict[tree.Stmt, list[tree.Stmt]] = {}
    asked: dict[tree.Stmt, int] = {}
    for place in places:
        chain = blocks.around(place)
        if chain:
            chains[chain[-1]] = chain
            asked[chain[-1]] = max(asked.get(chain[-1], 0), place.end_line)
    if not chains:
        return None
    lines = program.split("\n")
    if all(_agrees(chain, asked[statement], lines, lowered) for statement, chain in chains.items()):
        return None
    again = lowered(program)
    return None if again is None or _is_same(module, again, 0) else again


class _Blocks:
    """The statements below each statement of a module that was looked into, with the lines on which they end."""

    def __init__(self, module: tree.Module) -> None:
        self._module = module
        self._known: dict[tree.Node, tuple[list[tree.Stmt], list[int]]] = {}

    def around(self, place: Span) -> list[tree.Stmt]:
        """The statements around a place, from the outermost inwards."""
        found: list[tree.Stmt] = []
        node: tree.Node = self._module
        while True:
            if node not in self._known:
                below = list(_below(node))
                self._known[node] = below, [statement.span.end_line for statement in below]
            statements, ends = self._known[node]
            at = bisect_left(ends, place.end_line)
            if at == len(ends) or _first_line(statements[at]) > place.line:
                return found
            found.append(statements[at])
            node = statements[at]


def _below(node: tree.Node) -> Iterator[tree.Stmt]:
    for child in children(node):
        if isinstance(child, _STATEMENTS):
            yield child  # type: ignore[misc]  # mypy does not narrow by a tuple of classes
        elif isinstance(child, tree.ExceptHandler | tree.MatchCase):
            yield from _below(child)


def _agrees(chain: list[tree.Stmt], asked: int, lines: list[str], lowered: Lowered) -> bool:
    """Whether LibCST reads the lines of a statement, or of the first one around it that can stand alone, the same.

    asked is the last line that matters.
    """
    for statement in reversed(chain):
        shift = _first_line(statement) - 1
        head = _head(statement, asked, lines)
        last = statement.span.end_line
        text = head if head is not None else "\n".join(lines[shift:last])
        if text[:1].isspace():
            text, shift = f"if 1:\n{text}", shift - 1
        again = lowered(text)
        if again is None:
            continue
        if head is not None:
            return any(_begins_alike(statement, node, shift) for node in walk(again))
        span = Span(statement.span.line - shift, statement.span.column, last - shift, statement.span.end_column)
        return any(node.span == span and _is_same(statement, node, shift) for node in walk(again))
    return False


def _first_line(statement: tree.Stmt) -> int:
    decorators = statement.decorators if isinstance(statement, tree.FunctionDef | tree.ClassDef) else ()
    return min([statement.span.line, *(decorator.span.line for decorator in decorators)])


def _head(statement: tree.Stmt, asked: int, lines: list[str]) -> str | None:
    """The lines of a statement up to its block, with nothing in that, where they hold all lines that matter."""
    if not isinstance(statement, _HEADED):
        return None
    begin = _first_line(statement.body[0])
    inner = lines[begin - 1]
    indent = inner[: len(inner) - len(inner.lstrip())]
    if begin <= asked or len(indent) != statement.body[0].span.column:
        return None
    return "\n".join([*lines[_first_line(statement) - 1 : begin - 1], f"{indent}pass"])


def _begins_alike(one: tree.Stmt, other: tree.Node, shift: int) -> bool:
    """Whether two statements are the same up to their blocks, where the other stands so many lines higher."""
    return (
        type(one) is type(other)
        and one.span.start == (other.span.line + shift, other.span.column)
        and all(
            _is_same(getattr(one, name), getattr(other, name), shift)
            for name in fields(type(one))
            if name not in _BLOCKS
        )
    )


def _is_same(one: object, other: object, shift: int) -> bool:
    """Whether two values of trees are the same, where the other stands so many lines higher."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Span) and isinstance(other, Span):
        return one == (other.line + shift, other.column, other.end_line + shift, other.end_column)
    if isinstance(one, tree.Node):
        return all(_is_same(getattr(one, name), getattr(other, name), shift) for name in fields(type(one)))
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other, [shift] * len(one)))
    return one == other
