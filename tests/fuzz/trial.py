"""One program checked, fixed and fixed again inside this process, with everything that a fix promises judged.

The parts of a run that it drives are those of the command line, but nothing is written, and what was found in a text is
kept while its program is at hand: the same text gives the same findings. `tests.ecosystem.trial` leaves nothing out.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from amplint.config.load import Resolver
from amplint.engine import link, session, work
from amplint.engine.outcome import Candidate, Outcome, Reading, Wanted
from amplint.engine.session import Project
from amplint.engine.setup import Setup
from amplint.engine.shelf import Shelf
from amplint.report.report import Report
from amplint.source.discover import FoundFile
from amplint.source.text import Source
from tests.ecosystem.trial import judge, single_edits
from tests.fixture_cases import program_of
from tests.fixture_oracle import compiles
from tests.fuzz.generate import Program

# Lines in which none of these stands are no business of any rule: none of them may go.
_BUSINESS = re.compile(
    r"amp|scale|loss|grad|optim|step|backward|cast|model|half|float|torch|clip|custom|update|region|True|False|None|^(pass|else:|try:)$",
    re.IGNORECASE,
)


@dataclass
class Totals:
    """What came of many programs; broken says in words which promises did not hold."""

    programs: int = 0
    findings: int = 0
    changed: int = 0
    fixes: int = 0
    broken: list[str] = field(default_factory=list)
    codes: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: "Totals") -> "Totals":
        self.programs += other.programs
        self.findings += other.findings
        self.changed += other.changed
        self.fixes += other.fixes
        self.broken += other.broken
        self.codes += other.codes
        return self


class Bench:
    """Where programs are tried: a folder that stays empty, and settings read once."""

    def __init__(self, folder: Path, select: tuple[str, ...] = ("AMP",)) -> None:
        self._folder = folder
        self._setup = Setup(Resolver({"isolated": True, "select": select}, folder), folder)
        self._setup.check_selectors()

    def trial(self, program: Program) -> Totals:
        """Try one program; what raises is a broken promise."""
        with _remembering():
            try:
                return self._tried(program)
            except Exception as error:
                return Totals(1, broken=[f"{program.name}: {type(error).__name__}: {error}"])

    def _tried(self, program: Program) -> Totals:
        wanted = Wanted(jobs=1, fixes=True, allows_unsafe=True, lowered={})
        before = self._checked(program.name, program.raw, wanted)
        broken = [*_faults(before), *single_edits(_report(before))]
        fixed = (self._fixed(program.name, program.raw, before, wanted) if before.edits else None) or before
        new = fixed.fixed
        if new is not None and fixed.source is not None:
            broken += [*judge(fixed.source, new), *_lost(fixed.source, new)]
            again = self._fixed(program.name, new.raw, self._checked(program.name, new.raw, wanted), wanted)
            broken += ["a second run changes it"] if again is not None and again.fixed is not None else []
            broken += _new_codes(before, fixed)
        broken += [fault for fault in _faults(fixed) if fault not in broken]
        codes = Counter(finding.code for finding in before.findings)
        broken = [f"{program.name}: {fault}" for fault in broken]
        return Totals(1, codes.total(), int(new is not None), len(fixed.applied), broken, codes)

    def _checked(self, name: str, raw: bytes, wanted: Wanted) -> Outcome:
        project, reading = self._given(name, raw)
        [outcome] = work.work(self._setup, project, wanted, [reading])
        return outcome

    def _fixed(self, name: str, raw: bytes, before: Outcome, wanted: Wanted) -> Outcome | None:
        """What fixing makes of it; None where it stays as it is and no fix waits."""
        project, reading = self._given(name, raw)
        return next(iter(work.fix(self._setup, project, wanted, Shelf(), [[Candidate(reading, before)]])), None)

    def _given(self, name: str, raw: bytes) -> tuple[Project, Reading]:
        path = self._folder / name
        project = Project({path: name}, (self._folder,), (path,))
        return project, Reading(FoundFile(path, name), len(raw), raw)


_KNOWN: dict[tuple[Any, ...], Any] = {}


@contextmanager
def _remembering() -> Iterator[None]:
    """Have facts and findings of a lowered program worked out once, however many rounds and runs ask for them."""
    _KNOWN.clear()
    linker = {
        "_build": _build,
        "forget": lambda self: self._facts.clear(),
        "forget_dropped": lambda self: self._dropped.clear(),
    }
    with patch.multiple(link.Linker, **linker), patch.object(session, "check_module", _check_module):
        yield


def _build(self: link.Linker, path: Path, source: Source, _build: Any = link.Linker._build) -> Any:
    key = (path, id(self._shelf.lowered(source.program)))
    if key not in _KNOWN:
        _KNOWN[key] = _build(self, path, source)
    self.sources[source.path] = source
    return _KNOWN[key]


def _check_module(facts: Any, rules: Iterable[Any], seconds: Any, _check: Any = session.check_module) -> Any:
    if (id(facts),) not in _KNOWN:
        _KNOWN[id(facts),] = facts, _check(facts, rules, seconds)
    return _KNOWN[id(facts),][1]


def _report(outcome: Outcome) -> Report:
    return Report(findings=list(outcome.findings), texts=outcome.texts, edits=outcome.edits, checked=1)


def _faults(outcome: Outcome) -> Iterator[str]:
    return (problem.message for problem in outcome.problems if "internal fault" in problem.message)


def _new_codes(before: Outcome, after: Outcome) -> Iterator[str]:
    old, new = (Counter(finding.code for finding in outcome.findings) for outcome in (before, after))
    for code, count in sorted((new - old).items()):
        yield f"{count} new {code}"


def _lost(old: Source, new: Source) -> Iterator[str]:
    """What may never go or come: lines that no rule is about, marks at the ends of the file, a kind of newline."""
    before, after = (Counter(_lines(source)) for source in (old, new))
    if lost := before - after:
        yield f"lines are lost: {dict(lost)}"
    one, other = old.raw, new.raw
    if old.is_notebook:
        if _without_sources(one) != _without_sources(other):
            yield "more than sources of cells is changed"
        return
    if one.startswith(b"\xef\xbb\xbf") != other.startswith(b"\xef\xbb\xbf"):
        yield "the mark at its start is changed"
    if one[-1:] != other[-1:] and one[-1:] in b"\r\n":
        yield "its end is changed"
    if any((newline(one) == 0) and newline(other) for newline in _NEWLINES):
        yield "another kind of newline came"


def _without_sources(raw: bytes) -> object:
    notebook = json.loads(raw)
    return {**notebook, "cells": [{**cell, "source": None} for cell in notebook["cells"]]}


_NEWLINES: tuple[Callable[[bytes], int], ...] = (
    lambda raw: raw.count(b"\r\n"),
    lambda raw: raw.count(b"\n") - raw.count(b"\r\n"),
    lambda raw: raw.count(b"\r") - raw.count(b"\r\n"),
)


def _lines(source: Source) -> Iterator[str]:
    for line in re.split(r"\r\n|\r|\n", program_of(source.path, source.raw)):
        text = line.partition("#")[0].strip(" \t\f;\ufeff")
        if text and not _BUSINESS.search(text) and compiles(f"{text} pass" if text.endswith(":") else text):
            yield text
