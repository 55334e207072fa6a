"""Comments that silence findings: what each says, whether it covers a place, which were of use.

Knows no rule; whether a code exists is asked of the caller.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.span import Span

if TYPE_CHECKING:
    from amplint.model.tree import Comment

_OURS = re.compile(r"amplint:[ \t]*(?P<kind>ignore|file-ignore)\b(?:[ \t]*\[(?P<items>[^\]]*)\])?")
_NOQA = re.compile(r"#\s*noqa:[ \t]*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*)", re.IGNORECASE)
_OUR_CODE = re.compile(r"AMP[0-9]*\Z", re.IGNORECASE)
_SELECTOR = re.compile(r"AMP[0-9]+\Z|[a-z0-9]+(?:-[a-z0-9]+)+\Z", re.IGNORECASE)


class SuppressionKind(StrEnum):
    """ignore: the statement; file-ignore: the file; noqa: the statement, by code prefix, as flake8 reads it."""

    IGNORE = "ignore"
    FILE = "file-ignore"
    NOQA = "noqa"


class Suppression(Value):
    """One selector (code, name, or code prefix for noqa) of one comment, with the place of the selector."""

    kind: SuppressionKind
    selector: str
    span: Span
    comment: Span
    is_own_line: bool

    def names(self, code: str, name: str) -> bool:
        """Whether the selector means a rule."""
        if self.kind is SuppressionKind.NOQA:
            return code.startswith(self.selector.upper())
        return self.selector.upper() == code or self.selector.lower() == name


class Suppressions(Value):
    """All suppressions of one program; own_lines are the lines that hold nothing but a comment."""

    entries: tuple[Suppression, ...]
    own_lines: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.entries)

    def find(self, code: str, name: str, statement: Span) -> Suppression | None:
        """The suppression that covers a finding of a rule in a statement; the statement's own before the file's."""
        covering = [entry for entry in self.entries if entry.names(code, name) and self._covers(entry, statement)]
        return min(covering, key=lambda entry: entry.kind is SuppressionKind.FILE, default=None)

    def _covers(self, entry: Suppression, statement: Span) -> bool:
        if entry.kind is SuppressionKind.FILE:
            return True
        line = entry.comment.line
        if statement.line <= line <= max(statement.end_line, statement.line):
            return True
        if entry.kind is SuppressionKind.NOQA or not entry.is_own_line or line >= statement.line:
            return False
        # A suppression may be followed by other comments of the same block.
        return all(between in self.own_lines for between in range(line, statement.line))


class Silenced(Value):
    """The suppressions that were of use, each with its file, and all those of the checked file."""

    used: frozenset[tuple[str, Suppression]] = frozenset()
    present: Suppressions | None = None


def suppressions(comments: "Sequence[Comment]") -> Suppressions:
    """What the comments of a program suppress."""
    own_lines = frozenset(comment.span.line for comment in comments if comment.is_own_line)
    entries = [entry for comment in comments for entry in _entries(comment)]
    return Suppressions(tuple(entries), own_lines)


def _entries(comment: "Comment") -> Iterator[Suppression]:
    ours = _OURS.search(comment.text)
    if ours:
        kind = SuppressionKind(ours.group("kind"))
        if kind is SuppressionKind.FILE and (not comment.is_own_line or comment.span.column):
            kind = SuppressionKind.IGNORE
        # Without brackets it names no rule; the empty selector matches none and is reported as unknown.
        items = _selectors(ours) if ours.group("items") is not None else [(ours.start(), "")]
        for at, selector in items:
            yield _entry(kind, selector, at, comment)
    for noqa in _NOQA.finditer(comment.text):
        for code in re.finditer(r"[A-Z]+[0-9]+", noqa.group("codes"), re.IGNORECASE):
            if _OUR_CODE.match(code.group()):
                yield _entry(SuppressionKind.NOQA, code.group(), noqa.start("codes") + code.start(), comment)


def _selectors(ours: re.Match[str]) -> list[tuple[int, str]]:
    """The first word of each item; what follows it is a reason, which may hold commas itself."""
    found: list[tuple[int, str]] = []
    has_reason = False
    at = ours.start("items")
    for item in ours.group("items").split(","):
        words = item.split()
        if words and not (has_reason and not _SELECTOR.match(words[0])):
            found.append((at + item.index(words[0]), words[0]))
            has_reason = len(words) > 1
        at += len(item) + 1
    return found or [(ours.start(), "")]


def _entry(kind: SuppressionKind, selector: str, at: int, comment: "Comment") -> Suppression:
    line, start = comment.span.line, comment.span.column + at
    span = Span(line, start, line, start + len(selector))
    return Suppression(kind, selector, span, comment.span, comment.is_own_line)
