"""The report of an experiment as one self-contained page: curves as inline SVG, the diff, the verdicts.

Knows HTML; the curves are matplotlib's, which is imported only here and only when a page is wanted.
"""

import difflib
import html
from collections.abc import Iterator, Sequence
from pathlib import Path

from amplint.runtime.curves import Curve, curves_svg
from amplint.runtime.drive import Run
from amplint.runtime.experiment import Experiment
from amplint.runtime.job import AMP_OFF, AS_IS, Detail
from amplint.runtime.verdict import Verdict

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; color: #1b1b1f; }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse } td, th { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top }
td.number { text-align: right; font-variant-numeric: tabular-nums }
pre { background: #f5f5f7; padding: .8rem; overflow-x: auto }
.added { background: #d9f2dd } .gone { background: #f8d9da }
.confirmed { color: #14703b } .refuted { color: #a8202d } .inconclusive, .not-exercised { color: #8a5a00 }
.passed::before { content: "✓ " } .failed::before { content: "✗ " } .undecided::before { content: "? " }
svg { max-width: 100%; height: auto }
"""


def draw_page(
    title: str, texts: Sequence[tuple[str, str, str]], result: Experiment, runs: Sequence[tuple[str, Run]]
) -> str:
    """The page. texts holds path, text before and text after of each changed file."""
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>amplint verify {html.escape(title)}</title>",
        f"<style>{_STYLE}</style><h1>amplint verify {html.escape(title)}</h1>",
        *_verdicts(result),
        *_curves(result, runs),
        *_worth(result),
        *_diffs(texts),
        *_runs(runs),
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _verdicts(result: Experiment) -> Iterator[str]:
    for change, verdict in result.verdicts:
        place = f"{Path(change.path).name}:{change.line}"
        yield f"<h2>{html.escape(place)} {change.code} {change.name}: {_word(verdict)}</h2>"
        yield f"<p>Fix: {html.escape(change.title)}. {html.escape(verdict.reason)}</p>"
        yield from _checks(verdict)
    if result.script is not None:
        yield f"<h2>The program: {_word(result.script)}</h2><p>{html.escape(result.script.reason)}</p>"
        yield from _checks(result.script)
    for note in result.notes:
        yield f"<p>Note: {html.escape(note)}</p>"


def _word(verdict: Verdict) -> str:
    return f"<span class={str(verdict.conclusion).replace(' ', '-')}>{verdict.conclusion}</span>"


def _checks(verdict: Verdict) -> Iterator[str]:
    yield "<table>"
    for check in verdict.checks:
        mark = {True: "passed", False: "failed", None: "undecided"}[check.has_passed]
        yield f"<tr><td class={mark}>{html.escape(check.name)}<td>{html.escape(check.detail)}"
    yield "</table>"


def _curves(result: Experiment, runs: Sequence[tuple[str, Run]]) -> Iterator[str]:
    curves = [
        Curve("before" if result.verdicts else "as it is", result.before.steps),
        *([Curve("after", result.after.steps)] if result.verdicts else []),
    ]
    for _, run in reversed(runs):
        if run.job.treatment == AMP_OFF and run.job.detail is Detail.FULL:
            curves.append(Curve("float32", run.trace.steps))
            break
    yield "<h2>Curves</h2>"
    yield curves_svg(curves)


def _worth(result: Experiment) -> Iterator[str]:
    if result.worth is None:
        return
    yield f"<h2>Is AMP worth it here?</h2><table><tr><th>{html.escape(result.worth.device)}<th>float32<th>AMP"
    for name, plain, amp in result.worth.rows():
        yield f"<tr><td>{html.escape(name)}<td class=number>{plain}<td class=number>{amp}"
    yield "</table>"


def _diffs(texts: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    for path, before, after in texts:
        name = Path(path).name
        yield f"<h2>Diff of {html.escape(name)}</h2><pre>"
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
        for line in lines:
            kind = {"+": " class=added", "-": " class=gone"}.get(line[:1], "")
            yield f"<span{kind}>{html.escape(line)}</span>"
        yield "</pre>"


def _runs(runs: Sequence[tuple[str, Run]]) -> Iterator[str]:
    yield "<h2>Runs</h2><table><tr><th>program<th>AMP<th>end<th>steps<th>applied<th>seconds"
    for variant, run in runs:
        if run.job.detail is not Detail.FULL and run.job.treatment == AS_IS:
            continue
        steps = run.trace.steps
        end = html.escape(run.trace.outcome.error or str(run.trace.outcome.ending))
        applied = sum(step.is_applied for step in steps)
        rank = html.escape(f", rank {run.trace.start['rank']}") if run.trace.start.get("rank") else ""
        yield (
            f"<tr><td>{html.escape(variant)}{rank}<td>{html.escape(run.job.treatment.name)}<td>{end}"
            f"<td class=number>{len(steps)}<td class=number>{applied}<td class=number>{run.seconds:.2f}"
        )
    yield "</table>"
