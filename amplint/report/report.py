"""What a run found, as the formats receive it; knows no format and no way a run is made."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from amplint.model.applicability import Applicability, FixKind
from amplint.model.data import Value
from amplint.model.finding import Finding, Problem
from amplint.report.pages import rule_url

if TYPE_CHECKING:
    from amplint.model.edit import Edit


class Text(Protocol):
    """The lines of a checked file, and the cells that they belong to in a notebook."""

    @property
    def lines(self) -> Sequence[str]:
        """The lines without newlines."""

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """Cell and line in it, both from 1; None outside notebooks."""


class AppliedFix(Value):
    """A fix that was made: whose, where it stood, what it did."""

    path: str
    line: int
    code: str
    title: str
    kind: FixKind


class Report(Struct):
    """The outcome of a run.

    findings are ordered by path and place; files are the paths that were looked at, checked is their number. texts
    hold the files of findings and notes by path; edits are the rendered fixes. folder is the working directory that
    paths are relative to; pages are the texts of rules by code, and docs the address of the documentation, where a
    format asked for them. known and unchanged
    count findings that were left out: those of a baseline, and those on lines that did not change. seconds say
    what took how long, over all processes.
    """

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    checked: int = 0
    files: Sequence[str] = ()
    texts: Mapping[str, Text] = field(default_factory=dict)
    edits: "Mapping[Finding, tuple[Edit, ...]]" = field(default_factory=dict)
    applied: list[AppliedFix] = field(default_factory=list)
    refused: list[tuple[Finding, str]] = field(default_factory=list)
    assumes_target: bool = False
    folder: Path = field(default_factory=Path)
    pages: Mapping[str, str] = field(default_factory=dict)
    docs: str | None = None
    known: int = 0
    unchanged: int = 0
    seconds: dict[str, float] = field(default_factory=dict)

    def waiting(self, applicability: Applicability) -> list[Finding]:
        """The findings whose fix could be applied, if that were asked for."""
        return [found for found in self.findings if found.fix and found.fix.applicability is applicability]


def links(report: Report) -> dict[str, str]:
    """The address of the page of each rule that was found, by code."""
    found = {finding.code: rule_url(report.docs, finding.code, finding.name) for finding in report.findings}
    return {code: url for code, url in found.items() if url is not None}


def place(report: Report, path: str, line: int) -> tuple[int | None, int]:
    """The cell (None outside notebooks) and the line in it for a line of the program of a file."""
    text = report.texts.get(path)
    cell = text.cell_of(line) if text else None
    return cell or (None, line)
