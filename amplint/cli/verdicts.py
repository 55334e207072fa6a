"""What `verify` says, as text and as JSON; judges nothing."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from amplint.cli.variants import Fixed
from amplint.runtime.drive import Run
from amplint.runtime.experiment import Experiment
from amplint.runtime.verdict import Check, Verdict

_MARKS = {True: "+", False: "x", None: "?"}


def as_text(fixed: Fixed, result: Experiment, runs: Sequence[tuple[str, Run]]) -> str:
    """The verdicts, the whole, what is left, and whether AMP is worth it."""
    return "\n".join(_lines(fixed, result, runs))


def _lines(fixed: Fixed, result: Experiment, runs: Sequence[tuple[str, Run]]) -> Iterator[str]:
    for change, verdict in result.verdicts:
        yield f"{_shown(change.path)}:{change.line}  {change.code} {change.name}: {verdict.conclusion}"
        yield f"  fix: {change.title}"
        yield from _verdict(verdict)
    if result.script is not None:
        yield f"the program {'with its fixes' if result.verdicts else 'as it is'}: {result.script.conclusion}"
        yield from _verdict(result.script)
    for finding in fixed.left:
        yield f"{finding.path}:{finding.span.line}  {finding.code} {finding.name}: left, no fix of it was applied"
    if result.worth is not None:
        yield ""
        yield f"Is AMP worth it here? ({result.worth.device}, {result.worth.steps} steps)"
        yield f"  {'':38}{'float32':>12}{'AMP':>12}"
        for name, plain, amp in result.worth.rows():
            yield f"  {name:38}{plain:>12}{amp:>12}"
    for note in result.notes:
        yield f"note: {note}"
    start = runs[0][1].trace.start if runs else {}
    count = len({run.trace.start.get("rank") for _, run in runs})
    ranks = f" of {count} ranks" if count > 1 else ""
    number, torch = len(runs) // max(1, count), start.get("torch", "unknown")
    yield (
        f"{number} run{'' if number == 1 else 's'}{ranks} on {start.get('device', 'no device')}, torch {torch}, "
        f"seed {start.get('seed')}, {start.get('threads')} thread(s). No file was changed."
    )


def _verdict(verdict: Verdict) -> Iterator[str]:
    yield f"  {verdict.reason}"
    for check in verdict.checks:
        yield f"    {_MARKS[check.has_passed]} {check.name}{': ' + check.detail if check.detail else ''}"


def _shown(path: str) -> str:
    place, cwd = Path(path), Path.cwd()
    return str(place.relative_to(cwd)) if place.is_relative_to(cwd) else path


def as_json(fixed: Fixed, result: Experiment, runs: Sequence[tuple[str, Run]]) -> str:
    """One object: fixes with verdicts, the script, the worth, every run with its outcome and steps."""
    data = {
        "fixes": [asdict(change) | {"verdict": _plain(verdict)} for change, verdict in result.verdicts],
        "script": _plain(result.script) if result.script else None,
        "left": [{"code": f.code, "filename": f.path, "row": f.span.line, "message": f.message} for f in fixed.left],
        "worth": asdict(result.worth) if result.worth else None,
        "notes": result.notes,
        "runs": [_run(variant, run) for variant, run in runs],
    }
    return json.dumps(data, indent=2, default=str)


def _plain(verdict: Verdict) -> dict[str, Any]:
    checks = [_check(check) for check in verdict.checks]
    return {"conclusion": str(verdict.conclusion), "reason": verdict.reason, "checks": checks}


def _check(check: Check) -> dict[str, Any]:
    return {"name": check.name, "passed": check.has_passed, "detail": check.detail}


def _run(variant: str, run: Run) -> dict[str, Any]:
    outcome = run.trace.outcome
    return {
        "variant": variant,
        "rank": run.trace.start.get("rank", 0),
        "treatment": run.job.treatment.name,
        "detail": str(run.job.detail),
        "ending": str(outcome.ending),
        "error": outcome.error,
        "seconds": round(run.seconds, 3),
        "steps": len(run.trace.steps),
        "applied": sum(step.is_applied for step in run.trace.steps),
        "device": run.trace.start.get("device"),
        "torch": run.trace.start.get("torch"),
    }
