"""One repository: checked, fixed in a copy, checked again; what did not hold is said in words."""

import json
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from amplint.config.load import Resolver
from amplint.engine.outcome import Wanted
from amplint.engine.tree import Run, run
from amplint.engine.write import write_source
from amplint.model.finding import Finding
from amplint.report.json import record
from amplint.report.report import Report
from amplint.source.text import Source
from tests.fixture_apply import apply_json, cell_sources
from tests.fixture_cases import program_of
from tests.fixture_oracle import compiles, installed_torch, late_imports, lost_comments, misfits, unbound_names

_NEWLINE = re.compile(rb"\r\n|\r|\n")
_CHECK = Wanted(jobs=1)
_FIX = Wanted(fixes=True, allows_unsafe=True, jobs=1)


@dataclass
class Trial:
    """What came out for one repository. faults are broken promises; waiting counts (code, reason)."""

    name: str
    files: int = 0
    changed: int = 0
    seconds: float = 0.0
    found: Counter[tuple[str, str]] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    waiting: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def trial(repository: Path, select: tuple[str, ...]) -> Trial:
    """Try one repository; the folder itself is only read."""
    result = Trial(repository.name)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        shutil.copytree(repository, root, symlinks=True)
        before = _run(root, _CHECK, select)
        result.files = before.report.checked
        result.problems = [f"{problem.path}: {problem.message}" for problem in before.report.problems]
        result.found.update((finding.code, _trust(finding)) for finding in before.report.findings)
        result.faults += single_edits(before.report)
        start = time.perf_counter()
        fixed = _run(root, _FIX, select)
        result.seconds = time.perf_counter() - start
        result.changed = len(fixed.changed)
        result.applied.update(each.code for each in fixed.report.applied)
        result.waiting.update((finding.code, reason) for finding, reason in fixed.report.refused)
        for path, old, new in fixed.changed:
            result.faults += [f"{old.path}: {fault}" for fault in judge(old, new)]
            problem = write_source(path, old, new, [root])
            result.faults += [f"{old.path}: {problem.message}"] if problem else []
        again = _run(root, _FIX, select)
        result.faults += [f"{old.path}: a second run changes it" for _, old, _ in again.changed]
        result.faults += _new_codes(before.report, again.report)
    return result


def judge(old: Source, new: Source) -> Iterator[str]:
    """What Python and torch say against the new text of a file."""
    before, after = program_of(old.path, old.raw), program_of(new.path, new.raw)
    if not compiles(before):
        return
    if not compiles(after):
        yield "does not compile any more"
        return
    if unbound := unbound_names(after) - unbound_names(before):
        yield f"names are not bound: {sorted(unbound)}"
    if late := late_imports(after) - late_imports(before):
        yield f"names are imported too late: {sorted(late)}"
    torch = installed_torch()
    if torch is not None and (wrong := misfits(after, torch) - misfits(before, torch)):
        yield f"calls do not fit: {dict(wrong)}"
    if lost := lost_comments(before, after):
        yield f"comments are lost: {dict(lost)}"


def _run(root: Path, wanted: Wanted, select: tuple[str, ...]) -> Run:
    given = {"isolated": True, "select": select or None}
    return run(["."], Resolver(given, root), root, wanted)


def _trust(finding: Finding) -> str:
    return finding.fix.applicability if finding.fix else "none"


def single_edits(report: Report) -> Iterator[str]:
    """Whether the JSON edits of each finding, applied by somebody else, give the bytes that amplint would write."""
    for finding, edits in report.edits.items():
        source = report.texts[finding.path]
        assert isinstance(source, Source)
        if not edits:
            continue
        fix = json.loads(json.dumps(record(report, finding)))["fix"]
        spliced = source.splice(edits)
        applied = apply_json(source.raw, fix["edits"], source.is_notebook)
        expected = cell_sources(spliced) if source.is_notebook else spliced
        if isinstance(applied, bytes) and len(set(_NEWLINE.findall(source.raw))) > 1:
            # Of mixed newlines an edit takes those of its line, which readers of JSON need not.
            applied, expected = _NEWLINE.sub(b"\n", applied), _NEWLINE.sub(b"\n", spliced)
        if applied != expected:
            yield f"{finding.path}:{finding.span.line}: {finding.code}: its edits in JSON make another text"


def _new_codes(before: Report, after: Report) -> Iterator[str]:
    old = Counter((finding.path, finding.code) for finding in before.findings)
    new = Counter((finding.path, finding.code) for finding in after.findings)
    for (path, code), count in sorted((new - old).items()):
        yield f"{path}: {count} new {code}"
