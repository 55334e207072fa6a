"""Findings for a person: the source, and the path that led there."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from amplint.model.applicability import Applicability
from amplint.model.data import Value
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.report.excerpt import excerpt
from amplint.report.look import Look
from amplint.report.paint import Row, paint
from amplint.report.report import Report, links, place

_TAGS = {Applicability.SAFE: "[fixable]", Applicability.UNSAFE: "[fixable, unsafe]", Applicability.DISPLAY: ""}
_UNLIMITED = 200


class _Mark(Value):
    """A place to show: where it is, what to say there, and whether it is the finding's own."""

    path: str
    cell: int | None
    row: int
    span: Span
    label: str
    is_own: bool


def write(report: Report, stream: TextIO, look: Look) -> None:
    """Write all findings, a blank line between them."""
    rows: list[Row] = []
    for number, finding in enumerate(report.findings):
        if number:
            rows.append([])
        rows += _rows(report, finding, look)
    paint(rows, stream, look, links(report))


def location(report: Report, path: str, span: Span) -> str:
    """`train.py:41:9`, or `train.ipynb:cell 3:4:9`."""
    cell, row = place(report, path, span.line)
    return f"{path}:{row}:{span.column + 1}" if cell is None else f"{path}:cell {cell}:{row}:{span.column + 1}"


def _rows(report: Report, finding: Finding, look: Look) -> Iterator[Row]:
    tag = _TAGS[finding.fix.applicability] if finding.fix else ""
    head: Row = [(location(report, finding.path, finding.span), "path"), ("  ", ""), (finding.code, finding.severity)]
    head += [(f" {finding.name}", "")]
    yield [*head, (f"  {tag}", "fix")] if tag else head
    for line in _wrapped(finding.message, "  ", "  ", look):
        yield [(line, "")]
    marks = _marks(report, finding)
    gutter = max(len(str(mark.row)) for mark in marks)
    own = place(report, finding.path, finding.span.line)[0]
    for block in _blocks(marks, (finding.path, own)):
        if (block[0].path, block[0].cell) != (finding.path, own):
            where = location(report, block[0].path, block[0].span)
            yield [(" " * gutter + "--> ", "gutter"), (where, "path")]
        yield [(" " * gutter + " |", "gutter")]
        yield from _block_rows(report, block, gutter, finding.severity, look)
    if finding.fix:
        kind = "help" if finding.fix.applicability is Applicability.DISPLAY else "fix"
        lead = " " * gutter + f" = {kind}: "
        for line in _wrapped(finding.fix.title, lead, " " * len(lead), look):
            yield [(line[: len(lead)], "gutter"), (line[len(lead) :], "")]


def _wrapped(text: str, first: str, rest: str, look: Look) -> list[str]:
    if look.width is None:
        return [first + text]
    return textwrap.wrap(
        text, look.width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def _marks(report: Report, finding: Finding) -> list[_Mark]:
    """The finding's own place and its notes. A note at the finding's place labels it.

    Where the path does not go down the page, the notes are numbered in its order.
    """
    own_label = ""
    found: list[tuple[str, Span, str]] = []
    for note in finding.notes:
        if note.span == finding.span and note.path in (None, finding.path) and not own_label:
            own_label = note.message
        else:
            found.append((note.path or finding.path, note.span, note.message))
    lines = [span.line for path, span, _ in found if path == finding.path]
    is_numbered = lines != sorted(lines)
    marks = [_mark(report, finding.path, finding.span, own_label, is_own=True)]
    for number, (path, span, message) in enumerate(found, start=1):
        marks.append(_mark(report, path, span, f"({number}) {message}" if is_numbered else message, is_own=False))
    return marks


def _mark(report: Report, path: str, span: Span, label: str, *, is_own: bool) -> _Mark:
    cell, row = place(report, path, span.line)
    return _Mark(path, cell, row, span, label, is_own)


def _blocks(marks: Sequence[_Mark], own: tuple[str, int | None]) -> list[list[_Mark]]:
    """The marks by file and cell, the finding's own first, each block in the order of its lines."""
    blocks: dict[tuple[str, int | None], list[_Mark]] = {own: []}
    for mark in marks:
        blocks.setdefault((mark.path, mark.cell), []).append(mark)
    return [sorted(block, key=lambda mark: (mark.row, mark.span)) for block in blocks.values()]


def _block_rows(report: Report, block: list[_Mark], gutter: int, severity: str, look: Look) -> Iterator[Row]:
    shown_row = 0
    for mark in block:
        text = report.texts.get(mark.path)
        line = text.lines[mark.span.line - 1] if text and mark.span.line <= len(text.lines) else ""
        end = mark.span.end_column if mark.span.end_line == mark.span.line else len(line)
        width = (look.width or _UNLIMITED) - gutter - 3
        part = excerpt(line, mark.span.column, end, width)
        if mark.row != shown_row or part.text.startswith("…"):
            yield [(f"{mark.row:>{gutter}} | ", "gutter"), (part.text, "")]
        shown_row = mark.row
        sign, style = ("^", severity) if mark.is_own else ("-", "note")
        lead = (" " * gutter + " | ", "gutter")
        for text_row in _labelled(" " * part.start + sign * part.length, mark.label, width):
            yield [lead, (text_row, style)]


def _labelled(marks: str, label: str, width: int) -> list[str]:
    """The marks with their label behind them, or below them where it would not fit the width."""
    beside = f"{marks} {label}".rstrip()
    if len(beside) <= width:
        return [beside]
    indent = " " * min(len(marks) - len(marks.lstrip()), max(width - len(label), 0))
    return [marks, *textwrap.wrap(label, width, initial_indent=indent, subsequent_indent=indent)]
