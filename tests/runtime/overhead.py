"""What watching costs: `python -m tests.runtime.overhead` prints the table of docs/runtime.md (milliseconds a step)."""

from pathlib import Path

from amplint.runtime.drive import Driver
from amplint.runtime.job import Detail, Job, Program

SCRIPT = Path(__file__).parent / "timed" / "step.py"
KINDS = {
    "50 parameters in 25 small layers": ("many", 600),
    "MLP, 0.26 M parameters": ("mlp", 600),
    "CNN": ("cnn", 160),
    "transformer, 0.8 M parameters": ("transformer", 160),
}


def cost(driver: Driver, kind: str, steps: int, detail: Detail) -> str:
    """The cell of one model: recorded and unrecorded steps take turns in one process."""
    program = Program(str(SCRIPT), False, (kind, str(steps)), str(SCRIPT.parent), str(SCRIPT.parent))
    job = Job(program, "", str(SCRIPT.parent), detail=detail, is_every_event_kept=detail is Detail.FULL)
    quiet, fastest, median = map(float, driver.run(job).output.split()[-3:])
    return f"{quiet:.1f} ms | +{fastest:.2f} ms ({fastest / quiet:.1%}), median +{median:.2f} ms"


def table(driver: Driver) -> str:
    rows = ["| model | a step | sanitizer (`run`) | a step | every number (`verify`) |", "|---|---|---|---|---|"]
    for title, (kind, steps) in KINDS.items():
        cells = [cost(driver, kind, steps, detail) for detail in (Detail.EVENTS, Detail.FULL)]
        rows.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(rows)


if __name__ == "__main__":
    with Driver(time_limit=600) as shared:
        print(table(shared))
