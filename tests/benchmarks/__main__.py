"""`python -m tests.benchmarks TREE`: amplint beside ruff and TorchFix on a tree, and growth on generated programs.

Prints the table of docs/performance.md. The tree is not changed: what writes works on a copy.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.floors import PARTS, concerned
from tests.benchmarks.measure import Cost, cost, ratio
from tests.benchmarks.programs import plain_tree, program

AMPLINT = (sys.executable, "-m", "amplint")
RUFF = (sys.executable, "-m", "ruff", "check", "--isolated", "--no-cache", "--select", "F821,NPY", "-q", "--exit-zero")
FORGET = ("rm", "-rf", ".amplint_cache")
_ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=15, help="runs of flake8 with and without the plugin")
    parser.add_argument("--torchfix", metavar="PYTHON", help="an interpreter that has TorchFix")
    parser.add_argument("--torchfix-tree", type=Path, help="a smaller tree for TorchFix, measured with amplint too")
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--no-tree", action="store_true", help="only the small runs and growth")
    options = parser.parse_args()
    print(
        f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()} {platform.machine()}\n"
    )
    print("| what | wall s | processor s | MB | beside |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        if not options.no_tree:
            _tree(options.tree.resolve(), Path(scratch), options)
        _small(Path(scratch), options.runs, options.pairs)
    if not options.no_growth:
        # Loaded late, for what this process holds when it starts another counts for that one too.
        from tests.benchmarks.growth import CURVES

        print("\n| grows | sizes | processor s | exponent | MB | exponent |\n|---|---|---|---|---|---|")
        for curve in CURVES:
            print(curve.growth(curve.sizes).row(), flush=True)


def _row(what: str, found: Cost, beside: str = "") -> Cost:
    print(f"| {what} | {found.wall:.2f} | {found.processor:.2f} | {found.memory:.0f} | {beside} |", flush=True)
    return found


def _tree(tree: Path, scratch: Path, options: argparse.Namespace) -> None:
    copy = _copied(tree, scratch / "whole")
    ruff = _row("ruff, whole tree", cost((*RUFF, "."), copy, options.runs))
    command = (*AMPLINT, ".", "-q", "--exit-zero")
    cold = cost(command, copy, min(options.runs, 3), before=FORGET)
    _row("amplint, whole tree, cold", cold, _ratio(cold, ruff))
    warm = cost(command, copy, options.runs)
    _row("amplint, whole tree, warm", warm, _ratio(warm, ruff))
    if options.torchfix:
        part = (options.torchfix_tree or tree).resolve()
        slow = _row(f"TorchFix, {part.name}", cost((options.torchfix, "-m", "torchfix", "."), part, 1))
        if part != tree:
            place = _copied(part, scratch / "part")
            cold = cost(command, place, 3, before=FORGET)
            warm = cost(command, place, options.runs)
        for when, ours in (("cold", cold), ("warm", warm)):
            times = slow.processor / ours.processor
            _row(f"amplint, {part.name}, {when}", ours, f"TorchFix takes {times:.1f} x the processor time")
    _floors("files of it that may concern AMP", concerned(copy))
    followed = scratch / "followed"
    followed.mkdir()
    cost((sys.executable, "-m", "tests.benchmarks.floors", "followed", str(followed)), copy, 1)
    _floors("programs, those that they import included", sorted(followed.iterdir()))
    _row("amplint --fix, whole tree", cost((*command, "--fix", "--no-cache"), copy, 1))


def _floors(what: str, files: list[Path]) -> None:
    """What no check of some files can do without."""
    for part, function in PARTS.items():
        says = (function.__doc__ or "").partition("\n")[0]
        command = (sys.executable, "-W", "ignore", "-m", "tests.benchmarks.floors", part, *map(str, files))
        _row(f"floor: {part}, {len(files)} {what}", cost(command, _ROOT, 3), says)


def _ratio(cost: Cost, ruff: Cost) -> str:
    return f"{cost.wall / ruff.wall:.1f} x ruff on the clock, {cost.processor / ruff.processor:.1f} x of processors"


def _copied(tree: Path, copy: Path) -> Path:
    shutil.copytree(tree, copy, symlinks=True, ignore=_left_out)
    return copy


def _left_out(folder: str, names: list[str]) -> list[str]:
    """Repositories stay repositories, for they mark the roots of projects; what is in them is not needed."""
    return names if Path(folder).name == ".git" else [name for name in names if name == ".amplint_cache"]


def _small(scratch: Path, runs: int, pairs: int) -> None:
    one = scratch / "one"
    one.mkdir()
    (one / "train.py").write_text(program(12, branches=2, wrong=1), encoding="utf-8")
    _row("one file of 300 lines with findings", cost((*AMPLINT, "train.py", "-q", "--no-cache"), one, runs))
    _floors("file of 300 lines", [one / "train.py"])
    _row("--version", cost((*AMPLINT, "--version"), one, runs))
    _row("rule AMP201", cost((*AMPLINT, "rule", "AMP201"), one, runs))
    _row("python -c pass", cost((sys.executable, "-c", "pass"), one, runs))
    plain = scratch / "plain"
    plain.mkdir()
    plain_tree(plain, 500)
    _row("500 files without AMP", cost((*AMPLINT, ".", "-q", "--no-cache"), plain, runs))
    _row("flake8, 500 files", cost(_flake8("without"), plain, 3))
    more = ratio(_flake8("with"), _flake8("without"), plain, pairs) - 1
    print(f"| flake8 with amplint, 500 files, {pairs} pairs | | {more:+.1%} | | |", flush=True)


def _flake8(how: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.benchmarks.host", how, "--isolated", "-j1", "--select", "F821,AMP", ".")


if __name__ == "__main__":
    main()
