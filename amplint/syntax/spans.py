"""Where LibCST nodes stand in the text; knows nothing of what they mean.

LibCST nodes carry no positions, and its `PositionProvider` copies the tree and keeps two objects for every node, white
space included (145 to 287 µs a line). Generating the code once while only counting characters costs a fifth of that.
"""

from bisect import bisect_right
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import TracebackType

import libcst as cst
from libcst._nodes.internal import CodegenState

from amplint.model.span import Span

_SIGNS = frozenset(
    {
        cst.BaseParenthesizableWhitespace,
        cst.TrailingWhitespace,
        cst.EmptyLine,
        cst.Newline,
        cst.Comma,
        cst.AssignEqual,
        cst.BaseBinaryOp,
        cst.BaseCompOp,
        cst.BaseUnaryOp,
        cst.BaseBooleanOp,
        cst.BaseAugOp,
    }
)
# `issubclass` would ask each of LibCST's abstract classes for all of its subclasses, a fifth of a second in all.
_PLACELESS = frozenset(
    kind for kind in vars(cst).values() if isinstance(kind, type) and not _SIGNS.isdisjoint(kind.__mro__)
)


class _Syntactic(AbstractContextManager[None]):
    """Records a node's place without the white space that LibCST lets it own."""

    __slots__ = ("end_node", "node", "start", "start_node", "state")

    def __init__(
        self, state: "_Counter", node: cst.CSTNode, start_node: cst.CSTNode | None, end_node: cst.CSTNode | None
    ) -> None:
        self.state = state
        self.node = node
        self.start_node = start_node
        self.end_node = end_node

    def __enter__(self) -> None:
        self.start = self.state.offset

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            return
        places = self.state.places
        start = places[id(self.start_node)][0] if self.start_node is not None else self.start
        end = places[id(self.end_node)][1] if self.end_node is not None else self.state.offset
        places[id(self.node)] = (start, end)


class _Counter(CodegenState):
    """Generates no code; counts the characters that it would have."""

    def __init__(self, module: cst.Module) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.offset = 0
        self.indent = 0
        self.places: dict[int, tuple[int, int]] = {}
        self.comments: list[tuple[int, str]] = []
        self._starts: list[int] = []

    def increase_indent(self, value: str) -> None:
        self.indent_tokens.append(value)
        self.indent += len(value)

    def decrease_indent(self) -> None:
        self.indent -= len(self.indent_tokens.pop())

    def add_indent_tokens(self) -> None:
        self.offset += self.indent

    def add_token(self, value: str) -> None:
        self.offset += len(value)

    def pop_trailing_newline(self) -> None:
        """Nothing is generated, so nothing has to be taken back; the places do not change."""

    def before_codegen(self, node: cst.CSTNode) -> None:
        if type(node) is cst.Comment:
            self.comments.append((self.offset, node.value))
        self._starts.append(self.offset)

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self._starts.pop()
        if type(node) not in _PLACELESS:
            self.places.setdefault(id(node), (start, self.offset))

    def record_syntactic_position(  # type: ignore[override]  # any context manager serves LibCST
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> _Syntactic:
        return _Syntactic(self, node, start_node, end_node)


class Places:
    """The spans of the nodes of one module, for as long as the module lives.

    shifts say, for lines of which characters were kept from LibCST, how many stand before the rest.
    """

    def __init__(self, module: cst.Module, program: str, shifts: Mapping[int, int]) -> None:
        counter = _Counter(module)
        module._codegen(counter)
        self._places = counter.places
        self._program = program
        self._shifts = shifts
        self._line_starts = [0]
        start = program.find("\n")
        while start >= 0:
            self._line_starts.append(start + 1)
            start = program.find("\n", start + 1)
        self.comments = [(self.between(start, start + len(text)), text) for start, text in counter.comments]

    def span(self, node: cst.CSTNode) -> Span:
        """The span of a node, without enclosing parentheses and white space."""
        return self.between(*self._places[id(node)])

    def trimmed_span(self, node: cst.CSTNode) -> Span:
        """The span of a node less the white space at its end, for nodes whose last token owns some."""
        start, end = self._places[id(node)]
        return self.between(start, start + len(self._program[start:end].rstrip()))

    def parenthesized_span(self, node: cst.Tuple | cst.GeneratorExp) -> Span:
        """The span of a node together with its innermost parentheses, where it has some."""
        if not node.lpar:
            return self.span(node)
        return self.between(self._places[id(node.lpar[-1])][0], self._places[id(node.rpar[0])][1])

    def between(self, start: int, end: int) -> Span:
        """The span between two character offsets."""
        starts = self._line_starts
        line = bisect_right(starts, start)
        end_line = line if line < len(starts) and end < starts[line] else bisect_right(starts, end)
        column, end_column = start - starts[line - 1], end - starts[end_line - 1]
        if self._shifts:
            column, end_column = column + self._shifts.get(line, 0), end_column + self._shifts.get(end_line, 0)
        return Span(line, column, end_line, end_column)

    def keyword_before(self, name: cst.CSTNode) -> tuple[int, int]:
        """Line and column of the `async`, `def` or `class` that introduces the name."""
        span = self.span(name)
        head, shift = self._before(span)
        return span.line, shift + len(head) - len(head.lstrip())

    def is_first_on_line(self, span: Span) -> bool:
        """Whether nothing but white space stands before a span on its line."""
        return not self._before(span)[0].strip()

    def _before(self, span: Span) -> tuple[str, int]:
        """What stands before a span on its line, less what was kept from LibCST, and how much that is."""
        start, shift = self._line_starts[span.line - 1], self._shifts.get(span.line, 0)
        return self._program[start : start + span.column - shift], shift
