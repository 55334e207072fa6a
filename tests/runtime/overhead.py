"""What watching costs: `python -m tests.runtime.overhead` prints the table of docs/runtime.md (milliseconds a step)."""

from pathlib import Path

from amplint.runtime.drive import Driver
from amplint.runtime.job import Detail, Job, Program

SCRIPT = Path(__file__).parent / "timed" / "step.py"
KINDS = {
    "50 parameters in 25 small layers": ("many", 400),
    "MLP, 0.26 M parameters": ("mlp", 400),
    "CNN": ("cnn", 60),
    "transformer, 0.8 M parameters": ("transformer", 60),
}
DETAILS = (Detail.NOTHING, Detail.EVENTS, Detail.FULL)


def milliseconds(driver: Driver, kind: str, steps: int) -> list[float]:
    """Processor time of the fastest tenth of the steps, the best of five runs each, in turns."""
    program = Program(str(SCRIPT), False, (kind, str(steps)), str(SCRIPT.parent), str(SCRIPT.parent))
    jobs = [
        Job(program, "", str(SCRIPT.parent), detail=detail, is_every_event_kept=detail is Detail.FULL)
        for detail in DETAILS
    ]
    rounds = [[float(driver.run(job).output.split()[-1]) for job in jobs] for _ in range(5)]
    return [min(times) for times in zip(*rounds, strict=True)]


def table(driver: Driver) -> str:
    rows = ["| model | without hooks | sanitizer (`run`) | every number (`verify`) |", "|---|---|---|---|"]
    for title, (kind, steps) in KINDS.items():
        plain, *watched = milliseconds(driver, kind, steps)
        cells = [f"{time:.2f} ms (+{time - plain:.2f}, {(time / plain - 1):.0%})" for time in watched]
        rows.append(f"| {title} | {plain:.2f} ms | {cells[0]} | {cells[1]} |")
    return "\n".join(rows)


if __name__ == "__main__":
    with Driver(time_limit=600) as shared:
        print(table(shared))
