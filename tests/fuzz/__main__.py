"""`python -m tests.fuzz NUMBER`: so many generated programs through check and fix, every promise judged.

`--seed` draws others, `--from` begins at one of them, so that a long run can be made in parts and its totals added;
`--jobs` uses so many processes. `--strange NUMBER` adds programs of hypothesmith's, which know nothing of torch;
`--sweep FOLDER` every Python file and notebook of a folder, such as the interpreter's own `test` package. Every
hundredth program also goes through a whole run, on disk. Prints what was reached and what did not hold; exit code 1
where anything did not.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from amplint.source.discover import SUFFIXES
from tests.ecosystem.trial import trial
from tests.fuzz.generate import Program, Programs
from tests.fuzz.trial import Bench, Totals

# A comment for which no file is passed over.
_WORD = b"\n# amplint: torch, Accelerator(\n"
_BATCH = 100
_ALL = ("AMP",)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--strange", type=int, default=0)
    parser.add_argument("--sweep", type=Path, action="append", default=[])
    options = parser.parse_args()
    runs = [("generated", generated(options.seed, options.first, options.number))] if options.number else []
    if options.strange:
        runs.append(("hypothesmith", _strange(options.strange, options.seed)))
    runs += ((str(folder), _files(folder)) for folder in options.sweep)
    broken = [run(programs, what, options.jobs).broken for what, programs in runs]
    return 1 if any(broken) else 0


def generated(seed: int, first: int, number: int) -> Iterator[Program]:
    """Drawn programs: so many after the first ones of a seed."""
    programs = Programs(seed)
    programs.skip(first)
    return (programs.draw() for _ in range(number))


def run(programs: Iterable[Program], what: str, jobs: int = 1) -> Totals:
    """Try the programs in batches, and print what did not hold as it comes."""
    start, totals, iterator = time.process_time(), Totals(), iter(programs)
    batches = iter(lambda: list(islice(iterator, _BATCH)), [])
    with ExitStack() as stack:
        pool = stack.enter_context(get_context("fork").Pool(jobs)) if jobs > 1 else None
        for number, (batch, seconds) in enumerate((pool.imap if pool else map)(_tried, batches), 1):
            start -= seconds if pool else 0
            totals += batch
            for fault in batch.broken:
                print(f"  {what}: {fault}", flush=True)
            if number % 10 == 0:
                print(_said(what, totals, time.process_time() - start), flush=True)
    print(_said(what, totals, time.process_time() - start), flush=True)
    return totals


def _said(what: str, totals: Totals, seconds: float) -> str:
    return (
        f"{what}: {totals.programs} programs, {totals.findings} findings, {totals.changed} files fixed by "
        f"{totals.fixes} fixes, {len(totals.broken)} promises broken, {seconds:.0f} processor seconds"
    )


def _tried(batch: list[Program]) -> tuple[Totals, float]:
    start, totals = time.process_time(), Totals()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        bench = Bench(folder, _ALL)
        for program in batch:
            totals += bench.trial(program)
        program = batch[0]
        (folder / program.name).write_bytes(program.raw)
        whole = trial(folder, _ALL)
        totals.broken += [*whole.faults, *(text for text in whole.problems if "internal fault" in text)]
    return totals, time.process_time() - start


def _strange(number: int, seed: int) -> Iterator[Program]:
    import hypothesis
    from hypothesmith import from_grammar, from_node

    drawn: list[str] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=number, database=None, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(from_node() | from_grammar())
    def draw(text: str) -> None:
        drawn.append(text)

    draw()
    for count, text in enumerate(drawn):
        yield Program(f"s{count}.py", text.encode("utf-8", "replace") + _WORD)


def _files(folder: Path) -> Iterator[Program]:
    for path in sorted(folder.rglob("*")):
        if path.suffix in SUFFIXES and path.is_file():
            name = os.fsencode(path.relative_to(folder)).decode("utf-8", "replace").replace("/", ".")
            yield Program(name, path.read_bytes() + (_WORD if path.suffix == ".py" else b""))


if __name__ == "__main__":
    sys.exit(main())
