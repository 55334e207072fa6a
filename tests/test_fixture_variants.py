"""Fixtures written otherwise: other bytes are fixed alike, and other spellings are found alike."""

import ast
import re
from collections import Counter

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
@pytest.mark.parametrize("name", BYTES)
def test_other_bytes_are_fixed_alike(case: Case, name: str) -> None:
    try:
        files = {path: BYTES[name](raw) for path, raw in case.files.items()}
        wanted = {path: BYTES[name](raw) for path, raw in outcome(case).after.items()}
    except UnfitError:
        pytest.skip("does not apply")
    if not all(compiles(raw.decode("latin-1").removeprefix("\xef\xbb\xbf")) for raw in files.values()):
        pytest.skip("is another program so")
    assert fix(files, case.options).after == wanted


@every_plain
@pytest.mark.parametrize("name", LINES)
def test_other_lines_are_found_alike(case: Case, name: str) -> None:
    if re.search(rb"amplint: (file-)?ignore|noqa", b"".join(case.files.values())):
        pytest.skip("its comments mean statements")
    new: dict[str, bytes] = {}
    wanted: Counter[tuple[str, int, str]] = Counter()
    for path, raw in case.files.items():
        try:
            program, moved = LINES[name](raw.decode())
        except UnfitError:
            pytest.skip("does not apply")
        new[path] = program.encode()
        wanted.update((path, moved(f.span.line), f.code) for f in outcome(case).findings if f.path == path)
    found = findings_of(check(new, case.options))
    assert Counter((finding.path, finding.span.line, finding.code) for finding in found) == wanted


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


@pytest.mark.parametrize("name", HALF_WRITTEN)
@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
def test_half_written_programs_are_checked(case: Case, name: str) -> None:
    files = {}
    for path, raw in case.files.items():
        tree = ast.fix_missing_locations(HALF_WRITTEN[name]().visit(ast.parse(raw)))
        files[path] = ast.unparse(tree).encode() + b"\n"
    assert [str(problem) for problem in report(files, case.options).problems] == []
