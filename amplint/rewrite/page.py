"""Where things stand in the text of one program: offsets, lines, punctuation between nodes, blocks of statements.

Knows nothing of repairs, and never looks inside an expression's text.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.span import Position, Span
from amplint.model.tree import Argument, Call, ClassDef, Expr, FunctionDef, If, JoinedString, Module, Node, Stmt
from amplint.model.tree import Constant as ConstantNode
from amplint.model.walks import children, walk

_BLOCKS = ("body", "orelse", "finalbody")

NodeT = TypeVar("NodeT", bound=Node)


class RefusedError(Exception):
    """A repair cannot be written into this text without a risk; caught where repairs are rendered."""


class Suite(Value):
    """The block that a statement stands in: the node that owns it, the owner's field and the statements."""

    owner: Node
    field: str
    statements: tuple[Stmt, ...]


class Page:
    """The program text with its tree. Offsets count code points from the start of the program.

    parents are those of the tree's nodes, where somebody has them already.
    """

    def __init__(self, program: str, module: Module, parents: Mapping[Node, Node] | None = None) -> None:
        self.program = program
        self.module = module
        self._given_parents = parents
        self.lines = program.split("\n")
        starts = [0]
        for line in self.lines:
            starts.append(starts[-1] + len(line) + 1)
        self._starts = starts[:-1]

    # --- text

    def offset(self, position: Position) -> int:
        """The offset of a place."""
        return self._starts[position.line - 1] + position.column

    def position(self, offset: int) -> Position:
        """The place of an offset."""
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1])

    def text(self, span: Span) -> str:
        """The text of a span."""
        return self.program[self.offset(span.start) : self.offset(span.end)]

    def edit(self, start: int, end: int, text: str) -> Edit:
        """An edit of the text between two offsets."""
        return Edit(Span(*self.position(start), *self.position(end)), text)

    def line_end(self, offset: int) -> int:
        """The offset of the end of the line that holds this offset, before its line feed."""
        end = self.program.find("\n", offset)
        return len(self.program) if end < 0 else end

    def marks(self, start: int, end: int) -> Iterator[tuple[int, str]]:
        """Each character between two offsets that is not white space, comment or line continuation.

        The stretch must hold no string literal; between neighbouring nodes there is none.
        """
        at = start
        while at < end:
            char = self.program[at]
            if char == "#":
                at = self.line_end(at)
                continue
            if not char.isspace() and char != "\\":
                yield at, char
            at += 1

    def has_comment(self, start: int, end: int) -> bool:
        """Whether a stretch without string literals holds a comment."""
        return "#" in self.program[start:end]

    def indentation(self, line: int) -> str:
        """The white space at the start of a line, behind a form feed if there is one."""
        text = self.lines[line - 1]
        blank = text[: len(text) - len(text.lstrip(" \t\f"))]
        return blank.rpartition("\f")[2]

    def begins_line(self, offset: int) -> bool:
        """Whether nothing but white space stands before the offset on its logical line."""
        line, column = self.position(offset)
        if self.lines[line - 1][:column].strip(" \t\f"):
            return False
        return line == 1 or not self.lines[line - 2].endswith("\\") or line - 1 in self.comment_lines

    def ends_line(self, offset: int) -> bool:
        """Whether nothing but white space and a comment stands behind the offset on its line."""
        rest = self.program[offset : self.line_end(offset)].strip(" \t\f")
        return not rest or rest.startswith("#")

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        """The lines that end in a comment."""
        return frozenset(comment.span.line for comment in self.module.comments)

    @cached_property
    def unit(self) -> str:
        """One step of indentation, as the program's first indented block has it."""
        for node in walk(self.module):
            inner = [*getattr(node, "body", ()), *getattr(node, "cases", ())] if isinstance(node, Stmt) else []
            if not inner or not self.begins_line(self.offset(self.head(inner[0]))):
                continue
            deeper, outer = self.indentation(inner[0].span.line), self.indentation(node.span.line)
            if deeper != outer and deeper.startswith(outer):
                return deeper[len(outer) :]
        return "    "

    @cached_property
    def quote(self) -> str:
        """The quote that most string literals of the program have; double quotes where there are as many of both."""
        counts = {"'": 0, '"': 0}
        for node in self._strings:
            text = self.text(node.span).lstrip("rRbBuUfFtT")
            if text[:3] not in ("'''", '"""'):
                counts[text[0]] += 1
        return "'" if counts["'"] > counts['"'] else '"'

    @cached_property
    def _strings(self) -> list[Node]:
        return [
            node
            for node in walk(self.module)
            if type(node) is JoinedString or (type(node) is ConstantNode and isinstance(node.value, str | bytes))
        ]

    @cached_property
    def string_lines(self) -> frozenset[int]:
        """The lines that start inside a string literal; their white space is data."""
        inside: set[int] = set()
        for node in self._strings:
            inside.update(range(node.span.line + 1, node.span.end_line + 1))
        return frozenset(inside)

    # --- tree

    @cached_property
    def _parents(self) -> Mapping[Node, Node]:
        return self._given_parents or {child: node for node in walk(self.module) for child in children(node)}

    @cached_property
    def _by_span(self) -> dict[Span, Node | list[Node]]:
        found: dict[Span, Node | list[Node]] = {}
        for node in walk(self.module):
            # Most stand alone, and a list for each of them would take as much room as the node.
            known = found.setdefault(node.span, node)
            if known is node:
                continue
            if isinstance(known, list):
                known.append(node)
            else:
                found[node.span] = [known, node]
        return found

    def _at(self, span: Span) -> Sequence[Node]:
        """The nodes that stand exactly there, outer ones first."""
        found = self._by_span.get(span, ())
        return (found,) if isinstance(found, Node) else found

    @cached_property
    def joined_strings(self) -> tuple[JoinedString, ...]:
        """All f-strings and t-strings, outer ones before those in them."""
        return tuple(node for node in self._strings if isinstance(node, JoinedString))

    @cached_property
    def _suites(self) -> dict[Node, Suite]:
        found: dict[Node, Suite] = {}
        holders: list[Node] = [self.module]
        while holders:
            node = holders.pop()
            for field in _BLOCKS:
                block: tuple[Stmt, ...] = getattr(node, field, ())
                if block:
                    suite = Suite(node, field, block)
                    found.update((statement, suite) for statement in block)
                    holders += block
            holders += (*getattr(node, "handlers", ()), *getattr(node, "cases", ()))
        return found

    def parent(self, node: Node) -> Node | None:
        """The node directly above."""
        return self._parents.get(node)

    def find(self, span: Span, kind: type[NodeT]) -> NodeT | None:
        """The outermost node of a kind that has exactly this span."""
        return next((node for node in self._at(span) if isinstance(node, kind)), None)

    def call(self, span: Span) -> Call:
        """The call that has this span."""
        found = self.find(span, Call)
        if found is None:
            raise RefusedError(f"there is no call at line {span.line}")
        return found

    def argument(self, span: Span) -> tuple[Call, int]:
        """The call and the index of its argument that has this span, or whose value has it."""
        for node in self._at(span):
            parent = node if isinstance(node, Argument) else self.parent(node)
            if isinstance(parent, Argument):
                call = self.parent(parent)
                if isinstance(call, Call):
                    return call, call.args.index(parent)
        raise RefusedError(f"there is no argument at line {span.line}")

    def find_statement(self, span: Span) -> Stmt | None:
        """The statement that has exactly this span."""
        return next((node for node in self._at(span) if isinstance(node, Stmt)), None)

    def find_expression(self, span: Span) -> Expr | None:
        """The outermost expression that has exactly this span."""
        return next((node for node in self._at(span) if isinstance(node, Expr)), None)

    def statement(self, span: Span) -> Stmt:
        """The statement that has this span."""
        found = self.find_statement(span)
        if found is None:
            raise RefusedError(f"there is no statement at line {span.line}")
        return found

    def suite(self, statement: Stmt) -> Suite:
        """The block that the statement stands in."""
        return self._suites[statement]

    def head(self, statement: Stmt) -> Position:
        """Where a statement begins, its first decorator's `@` counted in."""
        if not isinstance(statement, FunctionDef | ClassDef) or not statement.decorators:
            return statement.span.start
        at = min(self.offset(decorator.span.start) for decorator in statement.decorators)
        return self.position(self.program.rindex("@", 0, at))

    def is_elif(self, statement: Stmt) -> bool:
        """Whether the statement is the `elif` arm of the one that owns it."""
        return isinstance(statement, If) and self.program.startswith("elif", self.offset(statement.span.start))

    def is_one_line(self, suite: Suite) -> bool:
        """Whether the block stands behind its header's colon."""
        return not self.begins_line(self.offset(self.head(suite.statements[0])))

    def suite_indentation(self, suite: Suite) -> str:
        """The indentation of the block's statements, also of a block that stands behind its colon and has none yet."""
        if not self.is_one_line(suite):
            return self.indentation(self.head(suite.statements[0]).line)
        return self.indentation(suite.owner.span.line) + self.unit
