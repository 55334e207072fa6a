"""Every fixture says what it expects, and every fix of every fixture keeps what fixes promise."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Mapping

import pytest

from amplint.engine.checked import CheckedFile
from amplint.model.edit import Applicability, DeleteStatement, Edit
from amplint.model.finding import Finding
from amplint.report.json import record
from amplint.report.report import Report
from amplint.rewrite.render import Refusal
from amplint.rules.registry import RegisteredRule, all_rules
from amplint.rules.rule import FixAvailability
from amplint.source.text import source_from_bytes
from tests.fixture_apply import apply_json, cell_sources
from tests.fixture_cases import Case, cases, goldens, program_of, read_files, write_files
from tests.fixture_engine import (
    ALL_FIXES,
    Outcome,
    check,
    findings_of,
    fix,
    fixed_by_run,
    outcome,
    report,
    second_outcome,
)
from tests.fixture_oracle import (
    comments,
    compiles,
    installed_torch,
    late_imports,
    lost_comments,
    misfits,
    unbound_names,
)

CASES = cases()
PROGRAMS = [case for case in CASES if case.code != "AMP000"]
every = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
every_program = pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.id)
every_bad = pytest.mark.parametrize("case", [case for case in PROGRAMS if case.is_bad], ids=lambda case: case.id)
every_rule = pytest.mark.parametrize("registered", all_rules(), ids=lambda r: r.rule.code)


def applicability(file: CheckedFile, finding: Finding) -> str:
    """How far the fix of a finding can be used, once it is rendered."""
    if finding.fix is None:
        return "none"
    is_refused = isinstance(file.rendered(finding), Refusal)
    return Applicability.DISPLAY if is_refused else finding.fix.applicability


def programs(case: Case, files: dict[str, bytes]) -> dict[str, str]:
    return {name: program_of(name, raw) for name, raw in files.items()}


@every
def test_expectations(case: Case) -> None:
    found_by_run = report(case.files, case.options)
    assert [str(problem) for problem in found_by_run.problems] == []
    findings = found_by_run.findings
    found = sorted(
        ((finding.path, finding.span.line), finding.code, finding.fix.applicability if finding.fix else "none")
        for finding in findings
    )
    assert found == case.expected
    places = [(finding, note) for finding in findings for note in finding.notes]
    notes = Counter(((note.path or finding.path, note.span.line), note.message) for finding, note in places)
    assert [note for note in case.notes if note not in notes] == [], f"notes are {sorted(notes)}"


@every
def test_good_is_silent_and_bad_is_reported(case: Case) -> None:
    codes = {code for _, code, _ in case.expected}
    assert case.code in codes if case.is_bad else not codes


@every_bad
def test_golden(case: Case, update: bool) -> None:
    after = outcome(case).after
    if update:
        if case.golden.is_dir():
            shutil.rmtree(case.golden)
        case.golden.unlink(missing_ok=True)
        if after != case.files:
            write_files(case.golden, after)
    if after == case.files:
        assert not case.golden.exists(), "nothing is fixed, so there is nothing to compare with"
    else:
        assert case.golden.exists(), "run pytest --update"
        golden = dict(zip(case.files, read_files(case.golden).values(), strict=True))
        assert programs(case, after) == programs(case, golden)
        assert after == golden


@every_bad
def test_the_whole_run_fixes_alike(case: Case) -> None:
    assert fixed_by_run(case.files, case.options) == outcome(case).after


@every_bad
def test_a_second_run_changes_nothing(case: Case) -> None:
    again = second_outcome(case)
    assert programs(case, again.after) == programs(case, outcome(case).after)
    assert again.result.applied == ()


@every_program
def test_programs_compile(case: Case) -> None:
    for program in programs(case, case.files).values():
        assert compiles(program)
    for program in programs(case, outcome(case).after).values():
        assert compiles(program)


@every_bad
def test_fixed_findings_are_gone_and_no_code_is_new(case: Case) -> None:
    before = Counter(finding.code for finding in outcome(case).findings)
    applied = Counter(finding.code for finding in outcome(case).result.applied)
    after = Counter(finding.code for finding in second_outcome(case).findings)
    assert after <= before
    for code in applied:
        assert after[code] < before[code] or not before[code], "an uncovered finding has to be gone too"
        assert before[code] or not after[code]


@every_bad
def test_all_that_may_be_applied_is(case: Case) -> None:
    for waiting in outcome(case).result.waiting:
        assert ALL_FIXES.objection(waiting.finding) or waiting.reason
    left = [each for each in outcome(case).result.waiting if not ALL_FIXES.objection(each.finding)]
    unexplained = [each for each in left if "another fix" in each.reason or "end in" in each.reason]
    assert unexplained == []


@every_bad
def test_bytes_outside_edits_stay(case: Case) -> None:
    for file, _, edits in rendered(outcome(case)):
        text = file.source.program
        spliced = source_from_bytes(file.source.splice(edits), file.source.path).program
        starts = [0]
        for line in text.split("\n"):
            starts.append(starts[-1] + len(line) + 1)
        rest, shift = 0, 0
        for edit in sorted(edits, key=lambda edit: edit.span):
            start = starts[edit.span.line - 1] + edit.span.column
            assert spliced[rest + shift : start + shift] == text[rest:start]
            rest = starts[edit.span.end_line - 1] + edit.span.end_column
            shift += len(edit.text) - (rest - start)
        if not file.source.is_notebook:
            assert spliced[rest + shift :] == text[rest:]


@every_bad
def test_comments_stay(case: Case) -> None:
    before, after = programs(case, case.files), programs(case, outcome(case).after)
    deletes = [
        finding
        for finding in outcome(case).result.applied
        if finding.fix and any(isinstance(repair, DeleteStatement) for repair in finding.fix.repairs)
    ]
    for path in before:
        lost = comments(before[path]) - comments(after[path])
        assert lost.total() <= len(deletes) * 2, lost
        assert not lost_comments(before[path], after[path])


@every_bad
def test_the_order_of_fixes_does_not_matter(case: Case) -> None:
    applied = Counter(finding.code for finding in outcome(case).result.applied)
    if applied.total() < 2:
        pytest.skip("one fix has one order")
    if not applied <= Counter(finding.code for finding in outcome(case).findings):
        pytest.skip("one fix takes along another")
    for seed in range(2):
        files = one_by_one(case, random.Random(seed))
        assert programs(case, files) == programs(case, outcome(case).after)


def one_by_one(case: Case, choose: random.Random) -> dict[str, bytes]:
    """The files after single fixes in some order, each of which has to take a finding away."""
    files = dict(case.files)
    checked = outcome(case).before
    for _ in range(3 * len(outcome(case).findings)):
        left = [
            (path, edits)
            for path, file in checked.items()
            for finding in file.findings
            if not ALL_FIXES.objection(finding) and not isinstance(edits := file.rendered(finding), Refusal) and edits
        ]
        for path, edits in choose.sample(left, len(left)):
            changed = files | {path: checked[path].source.splice(edits)}
            then = check(changed, case.options)
            if _codes(then) < _codes(checked):
                files, checked = changed, then
                break
        else:
            break
    return files


def _codes(files: Mapping[str, CheckedFile]) -> Counter[str]:
    return Counter(finding.code for finding in findings_of(files))


@every_bad
def test_suppressed_findings_are_not_edited(case: Case) -> None:
    codes = sorted({finding.code for finding in outcome(case).findings})
    files = dict(case.files)
    for name, raw in case.files.items():
        if name.endswith(".py"):
            header = f"# amplint: file-ignore[{', '.join(codes)}]\n".encode()
            files[name] = raw + (b"" if raw.endswith(b"\n") else b"\n") + header
    if files == case.files:
        pytest.skip("a notebook")
    left = fix(files, case.options)
    assert {name: raw for name, raw in left.after.items() if name.endswith(".py")} == {
        name: raw for name, raw in files.items() if name.endswith(".py")
    }


@every_bad
def test_new_names_are_bound(case: Case) -> None:
    before, after = programs(case, case.files), programs(case, outcome(case).after)
    for path in before:
        assert unbound_names(after[path]) <= unbound_names(before[path])
        assert late_imports(after[path]) <= late_imports(before[path])


@every_bad
def test_rewritten_calls_fit_the_signatures_of_torch(case: Case) -> None:
    torch = installed_torch()
    if torch is None:
        pytest.skip("needs torch")
    before, after = programs(case, case.files), programs(case, outcome(case).after)
    for path in before:
        assert misfits(after[path], torch) <= misfits(before[path], torch)


@every_bad
def test_json_edits_give_the_same_text(case: Case) -> None:
    for file, finding, edits in rendered(outcome(case)):
        source = file.source
        shown = Report(findings=[finding], texts={source.path: source}, edits={finding: edits})
        fix_record = json.loads(json.dumps(record(shown, finding)))["fix"]
        applied = apply_json(source.raw, fix_record["edits"], source.is_notebook)
        spliced = source.splice(edits)
        assert applied == (cell_sources(spliced) if source.is_notebook else spliced)


@every_rule
def test_the_stated_availability_of_fixes_is_true(registered: RegisteredRule) -> None:
    found = [
        applicability(file, finding) in (Applicability.SAFE, Applicability.UNSAFE)
        for case in CASES
        if any(code == registered.rule.code for _, code, _ in case.expected)
        for file in outcome(case).before.values()
        for finding in file.findings
        if finding.code == registered.rule.code
    ]
    match registered.rule.fix:
        case FixAvailability.ALWAYS:
            assert all(found)
        case FixAvailability.SOMETIMES:
            assert any(found)
        case FixAvailability.NONE:
            assert not any(found)


@every_rule
def test_every_rule_has_fixtures(registered: RegisteredRule) -> None:
    own = [case for case in CASES if case.code == registered.rule.code]
    assert any(case.is_bad for case in own), "no bad fixture"
    assert any(not case.is_bad for case in own), "no good fixture"


def test_every_golden_has_its_fixture() -> None:
    wanted = {case.golden for case in CASES if case.is_bad}
    assert [path for path in goldens() if path not in wanted] == []


def rendered(found: Outcome) -> list[tuple[CheckedFile, Finding, tuple[Edit, ...]]]:
    """The edits of every finding, each on its own."""
    return [
        (file, finding, edits)
        for file in found.before.values()
        for finding in file.findings
        if not isinstance(edits := file.rendered(finding), Refusal)
    ]
