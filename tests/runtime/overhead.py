"""What watching costs: `python -m tests.runtime.overhead` prints the table of docs/runtime.md (milliseconds a step)."""

from pathlib import Path

from amplint.runtime.drive import Driver
from amplint.runtime.job import Detail, Job, Kept, Program

SCRIPT = Path(__file__).parent / "timed" / "step.py"
KINDS = {
    "50 parameters in 25 small layers": ("many", 1200),
    "MLP, 0.26 M parameters": ("mlp", 1200),
    "CNN of two convolutions, batch 32": ("small_cnn", 600),
    "ResNet-20 on CIFAR images, 0.27 M parameters, batch 32": ("resnet", 200),
    "transformer of 4 layers, 0.8 M parameters, 12 × 64 tokens": ("transformer", 200),
}
KEPT = {Detail.EVENTS: Kept.NOTHING, Detail.FULL: Kept.PLACES}


def cost(driver: Driver, kind: str, steps: int, detail: Detail) -> tuple[float, float]:
    """Milliseconds of a step and of watching it: recorded and unrecorded steps take turns in one process."""
    program = Program(str(SCRIPT), False, (kind, str(steps)), str(SCRIPT.parent), str(SCRIPT.parent))
    result = driver.run(Job(program, "", str(SCRIPT.parent), detail=detail, kept=KEPT[detail]))
    quiet, added = map(float, result.output.split()[-2:])
    return quiet, added


def row(driver: Driver, title: str, kind: str, steps: int) -> str:
    """The line of one model."""
    costs = [cost(driver, kind, steps, detail) for detail in KEPT]
    cells = [f"+{added:.2f} ms, {added / quiet:.1%}" for quiet, added in costs]
    return f"| {title} | {costs[0][0]:.1f} ms | {' | '.join(cells)} |"


def main() -> None:
    """Print the table, a line as soon as it is measured."""
    print("| model | a step | sanitizer (`run`) | every number (`verify`) |\n|---|---|---|---|")
    with Driver(time_limit=600) as driver:
        for title, (kind, steps) in KINDS.items():
            print(row(driver, title, kind, steps), flush=True)


if __name__ == "__main__":
    main()
