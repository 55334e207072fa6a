"""The text that people read."""

import io

import pytest
from msgspec.structs import replace

from amplint.model.edit import Applicability, FixKind
from amplint.model.finding import Note
from amplint.model.span import Span
from amplint.report import concise, statistics, summary, text
from amplint.report.excerpt import excerpt
from amplint.report.look import Look
from amplint.report.report import AppliedFix, Report
from tests.report.sample import CLIPPED, FIX, sample


def _text(report: Report, look: Look | None = None) -> str:
    stream = io.StringIO()
    text.write(report, stream, look or Look())
    return stream.getvalue()


def test_the_form() -> None:
    assert _text(sample()) == (
        "a,b/tr:ain.py:3:5  AMP201 clip-of-scaled-gradients  [fixable]\n"
        "  `clip_grad_norm_` clips gradients that are still multiplied by the loss scale: 100%, <now>\n"
        "  |\n"
        "2 |     scaler.scale(loss).backward()\n"
        "  |     ----------------------------- scaled here\n"
        "3 |     clip_grad_norm_(model.parameters(), 1.0)\n"
        "  |     ^^^^^^^^^^^^^^^ clipped here\n"
        '4 |     scaler.step(optimizer); print("😀 größer")\n'
        "  |     ---------------------- unscaled only here\n"
        "  = fix: insert `scaler.unscale_(optimizer)` before line 3\n"
        "\n"
        "n.ipynb:cell 2:2:1  AMP202 step-without-update\n"
        "  no update\n"
        "  |\n"
        "2 | step()\n"
        "  | ^^^^^^\n"
        " --> n.ipynb:cell 3:1:1\n"
        "  |\n"
        "1 | scale()\n"
        "  | ------- scaled here\n"
        " --> a,b/tr:ain.py:1:1\n"
        "  |\n"
        "1 | def train(model, scaler, optimizer, loss):\n"
        "  | --- defined here\n"
        "  = help: needs a choice\n"
    )


def test_a_path_that_goes_up_the_page_is_numbered() -> None:
    notes = (Note(Span(4, 1, 4, 23), "stepped in the turn before"), Note(Span(2, 4, 2, 33), "scaled again"))
    report = sample()
    report.findings = [replace(CLIPPED, notes=notes)]
    shown = _text(report)
    assert "- (1) stepped in the turn before" in shown
    assert "- (2) scaled again" in shown


def test_it_fits_the_width() -> None:
    report = sample()
    shown = _text(report, Look(width=40))
    assert all(len(line) <= 40 for line in shown.splitlines() if " | " not in line and "AMP" not in line)
    assert "  `clip_grad_norm_` clips gradients that\n  are still multiplied" in shown


@pytest.mark.parametrize(
    ("line", "start", "end", "width", "shown", "mark"),
    [
        ("abc", 1, 2, 80, "abc", (1, 1)),
        ("\tabc", 1, 4, 80, "    abc", (4, 3)),
        ("a😀b", 2, 3, 80, "a😀b", (3, 1)),
        ("größer", 0, 6, 80, "größer", (0, 6)),
        ("a\x0cb", 2, 3, 80, "a·b", (2, 1)),
        ("", 0, 0, 80, "", (0, 1)),
        ("abc", 3, 9, 80, "abc", (3, 1)),
    ],
)
def test_excerpts(line: str, start: int, end: int, width: int, shown: str, mark: tuple[int, int]) -> None:
    found = excerpt(line, start, end, width)
    assert (found.text, (found.start, found.length)) == (shown, mark)


@pytest.mark.parametrize("start", [0, 50, 95, 300, 390])
def test_long_lines_are_cut_around_the_place(start: int) -> None:
    line = "".join(chr(ord("a") + n % 26) for n in range(400))
    found = excerpt(line, start, start + 5, 60)
    assert len(found.text) <= 60
    assert found.text[found.start : found.start + found.length] == line[start : start + 5]


def test_concise_and_statistics() -> None:
    stream = io.StringIO()
    concise.write(sample(), stream, Look())
    assert stream.getvalue().splitlines() == [
        "a,b/tr:ain.py:3:5: AMP201 [*] `clip_grad_norm_` clips gradients that are still multiplied by the loss scale: "
        "100%, <now>",
        "n.ipynb:cell 2:2:1: AMP202 no update",
    ]
    stream = io.StringIO()
    statistics.write(sample(), stream, Look())
    assert stream.getvalue() == "1  AMP201  clip-of-scaled-gradients  [1 fixable]\n1  AMP202  step-without-update\n"


def test_summary() -> None:
    report = sample()
    assert list(summary.summary(report, target="2.4")) == [
        "Found 2 findings in 2 files (3 files checked).",
        "1 fix can be applied with --fix.",
        "1 fix needs a choice that only a person can make.",
        "Judge the repairs on a real run before applying them: amplint verify SCRIPT",
        "More about a rule: amplint rule AMP201",
    ]
    report.findings = []
    report.problems = []
    report.applied = [AppliedFix("a.py", 3, "AMP201", FIX.title, FixKind.REPAIR)]
    report.assumes_target = True
    assert list(summary.summary(report, target="2.4")) == [
        "Fixed 1 finding: 1 repair.",
        "  changes training: a.py:3 AMP201 insert `scaler.unscale_(optimizer)` before line 3",
        "No findings (3 files checked).",
        "Judge the repairs on a real run: amplint verify --no-fix SCRIPT",
        "No torch version is stated, so 2.4 is assumed; set `target-torch` to change that.",
    ]


def test_summary_says_why_fixes_wait() -> None:
    report = sample()
    unsafe = replace(CLIPPED, fix=replace(FIX, applicability=Applicability.UNSAFE))
    report.findings = [CLIPPED, unsafe]
    report.refused = [(CLIPPED, "another fix stands in its way")]
    lines = list(summary.summary(report, target="2.4"))
    assert "1 more fix with --fix --unsafe-fixes: they hold a guess or a risk." in lines
    assert "1 fix not applied: another fix stands in its way." in lines
