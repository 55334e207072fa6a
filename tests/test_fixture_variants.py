"""Fixtures written otherwise: other bytes are fixed alike, and other spellings are found alike."""

import ast
import re
from collections import Counter
from contextlib import suppress

import pytest

from tests.fixture_cases import Case, cases
from tests.fixture_engine import check, findings_of, fix, outcome, report
from tests.fixture_oracle import compiles
from tests.fixture_transforms import BYTES, HALF_WRITTEN, LINES, UnfitError

PLAIN = [
    case
    for case in cases()
    if case.is_bad and not case.code.startswith("AMP0") and all(name.endswith(".py") for name in case.files)
]
PROGRAMS = [case for case in cases() if case.code != "AMP000" and all(name.endswith(".py") for name in case.files)]
every_plain = pytest.mark.parametrize("case", PLAIN, ids=lambda case: case.id)


@every_plain
def test_other_bytes_are_fixed_alike(case: Case) -> None:
    for name, turned in BYTES.items():
        try:
            files = {path: turned(raw) for path, raw in case.files.items()}
            wanted = {path: turned(raw) for path, raw in outcome(case).after.items()}
        except UnfitError:
            continue
        # Tabs for spaces may make another program, or none.
        if all(compiles(raw.decode("latin-1").removeprefix("\xef\xbb\xbf")) for raw in files.values()):
            assert fix(files, case.options).after == wanted, name


@every_plain
def test_other_lines_are_found_alike(case: Case) -> None:
    if re.search(rb"amplint: (file-)?ignore|noqa", b"".join(case.files.values())):
        pytest.skip("its comments mean statements")
    for name in LINES:
        with suppress(UnfitError):
            new, wanted = _otherwise(case, name)
            found = findings_of(check(new, case.options))
            assert Counter((finding.path, finding.span.line, finding.code) for finding in found) == wanted, name


def _otherwise(case: Case, name: str) -> tuple[dict[str, bytes], Counter[tuple[str, int, str]]]:
    """The files with their lines written in another way, and what is to be found where."""
    new: dict[str, bytes] = {}
    wanted: Counter[tuple[str, int, str]] = Counter()
    for path, raw in case.files.items():
        program, moved = LINES[name](raw.decode())
        new[path] = program.encode()
        wanted.update((path, moved(f.span.line), f.code) for f in outcome(case).findings if f.path == path)
    return new, wanted


@every_plain
def test_formatting_does_not_matter(case: Case) -> None:
    if re.search(rb"amplint: (file-)?ignore|noqa", b"".join(case.files.values())):
        pytest.skip("formatting anew loses comments")
    files = {path: ast.unparse(ast.parse(raw)).encode() + b"\n" for path, raw in case.files.items()}
    again = fix(files, case.options)
    assert [f.code for f in again.findings] == [f.code for f in outcome(case).findings]
    assert {path: _shape(raw) for path, raw in again.after.items()} == {
        path: _shape(raw) for path, raw in outcome(case).after.items()
    }


def _shape(raw: bytes) -> str:
    return ast.dump(ast.parse(raw))


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_half_written_programs_are_checked(case: Case) -> None:
    for name, cut in HALF_WRITTEN.items():
        files = {}
        for path, raw in case.files.items():
            tree = ast.fix_missing_locations(cut().visit(ast.parse(raw)))
            files[path] = ast.unparse(tree).encode() + b"\n"
        assert [str(problem) for problem in report(files, case.options).problems] == [], name
