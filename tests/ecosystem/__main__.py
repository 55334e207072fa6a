"""`python -m tests.ecosystem ROOT`: tries every repository below ROOT and prints what came out as Markdown."""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.ecosystem.trial import Trial, trial

_TRUST = ("safe", "unsafe", "display", "none")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem", description=__doc__)
    parser.add_argument("root", type=Path, help="a folder of repositories")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="only repositories with this in it")
    parser.add_argument("--select", default="", metavar="SELECTORS", help="rules to try instead of the default ones")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    folders = [path for path in sorted(options.root.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    chosen = [path for path in folders if not options.only or any(part in path.name for part in options.only)]
    select = tuple(filter(None, options.select.split(",")))
    trials: list[Trial] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for result in pool.map(trial, chosen, [select] * len(chosen)):
            print(f"{result.name}: {result.found.total()} findings", file=sys.stderr)
            trials.append(result)
    print("\n".join([*rule_table(trials), "", *repository_table(trials), "", *complaints(trials)]))
    return 1 if any(each.faults for each in trials) else 0


def rule_table(trials: Sequence[Trial]) -> Iterator[str]:
    """Findings by rule and by how far their fixes are trusted, what was applied, why the rest waits."""
    found: Counter[tuple[str, str]] = sum((each.found for each in trials), Counter())
    applied: Counter[str] = sum((each.applied for each in trials), Counter())
    waiting: Counter[tuple[str, str]] = sum((each.waiting for each in trials), Counter())
    yield f"| rule | found | {' | '.join(_TRUST)} | applied | not applied, though they might be |"
    yield "|---|---|" + "---|" * len(_TRUST) + "---|---|"
    for code in sorted({code for code, _ in found}):
        counts = [found[code, trust] for trust in _TRUST]
        reasons = "; ".join(f"{number} {reason}" for (of, reason), number in sorted(waiting.items()) if of == code)
        yield f"| {code} | {sum(counts)} | {' | '.join(map(str, counts))} | {applied[code]} | {reasons} |"


def repository_table(trials: Sequence[Trial]) -> Iterator[str]:
    yield "| repository | files | findings | applied | files changed | seconds to fix | faults |"
    yield "|---|---|---|---|---|---|---|"
    for each in trials:
        cells = (each.files, each.found.total(), each.applied.total(), each.changed, f"{each.seconds:.1f}")
        yield f"| {each.name} | {' | '.join(map(str, cells))} | {len(each.faults)} |"


def complaints(trials: Sequence[Trial]) -> Iterator[str]:
    for each in trials:
        yield from (f"- problem: {each.name}: {problem}" for problem in each.problems)
        yield from (f"- FAULT: {each.name}: {fault}" for fault in each.faults)


if __name__ == "__main__":
    sys.exit(main())
