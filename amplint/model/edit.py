"""Changes to a program: what a rule asks for (repairs), what is spliced (edits) and how far to trust it (a fix)."""

from amplint.model.applicability import Applicability as Applicability
from amplint.model.applicability import FixKind as FixKind
from amplint.model.data import Value
from amplint.model.span import Span


class Edit(Value):
    """Replace the text of a span. New text separates its lines with a plain line feed."""

    span: Span
    text: str


class Replace(Value):
    """Replace an expression or a statement by code.

    In the code of any repair `${torch.amp.autocast}` stands for the dotted name as the file spells it;
    the renderer finds an existing binding or adds the import.
    """

    span: Span
    code: str


class Wrap(Value):
    """Put code around an expression, whose own text stays: `scaler.scale(` and `)`, or nothing and ` / steps`."""

    span: Span
    before: str
    after: str


class KeepLeft(Value):
    """Take an operator and what stands behind it away, so that its left operand stays as it is written."""

    span: Span
    left: Span


class InsertBefore(Value):
    """Insert whole statements before the statement that has this span, at its indentation."""

    statement: Span
    code: str


class InsertAfter(Value):
    """Insert whole statements after the statement that has this span, at its indentation."""

    statement: Span
    code: str


class DeleteStatement(Value):
    """Remove a whole statement with its line; a block that would be left empty gets `pass`."""

    statement: Span


class MoveStatement(Value):
    """Take a statement, with the comments above and behind it, and put it after (or before) another one."""

    statement: Span
    anchor: Span
    is_before: bool = False


class DedentTail(Value):
    """Move the statements of a block, from the one with this span to the last, out of the enclosing compound."""

    first: Span


class InsertArgument(Value):
    """Give the call that has this span one more argument: `name=value`, or positional where name is None.

    A positional argument goes first; a keyword goes last, but before a `**` argument.
    """

    call: Span
    value: str
    name: str | None = None


class NameArgument(Value):
    """Turn the positional argument that has this span into a keyword argument."""

    argument: Span
    name: str


class DeleteArgument(Value):
    """Remove the argument that has this span, with its comma, from its call."""

    argument: Span


class MoveImport(Value):
    """Import a name from another module in an existing `from` import, keeping its `as` alias and its comments.

    alias is the span of the alias (`GradScaler as GS`) inside the statement; target is the new dotted name.
    """

    alias: Span
    target: str


Repair = (
    Replace
    | Wrap
    | KeepLeft
    | InsertBefore
    | InsertAfter
    | DeleteStatement
    | MoveStatement
    | DedentTail
    | InsertArgument
    | NameArgument
    | DeleteArgument
    | MoveImport
)


def place_of(repair: Repair) -> Span:
    """Where a repair works."""
    for name in ("span", "statement", "call", "argument", "alias", "first"):
        span = getattr(repair, name, None)
        if isinstance(span, Span):
            return span
    raise TypeError(f"a repair without a place: {repair!r}")


class Fix(Value):
    """A title, how far to trust it, and the repairs that make it; they are applied together or not at all.

    The title says what the fix assumed.
    """

    title: str
    kind: FixKind
    applicability: Applicability
    repairs: tuple[Repair, ...] = ()
