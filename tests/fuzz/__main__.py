"""`python -m tests.fuzz NUMBER`: so many generated programs through check and fix, every promise judged.

`--strange NUMBER` adds programs of hypothesmith's, which know nothing of torch; `--sweep FOLDER` every Python file of a
folder, such as the interpreter's own `test` package. Prints what was reached and what did not hold; exit code 1 where
anything did not.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from tests.ecosystem.trial import trial
from tests.fuzz.generate import Programs

# A comment for which no file is passed over.
_WORD = b"\n# amplint: torch, Accelerator(\n"
_BATCH = 25
_ALL = ("AMP",)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--strange", type=int, default=0)
    parser.add_argument("--sweep", type=Path, action="append", default=[])
    options = parser.parse_args()
    programs = Programs(options.seed)
    failures = run((programs.draw() for _ in range(options.number)), "generated")
    if options.strange:
        failures += run(_strange(options.strange, options.seed), "hypothesmith")
    for folder in options.sweep:
        failures += run(_files(folder), str(folder))
    return 1 if failures else 0


def run(programs: Iterable[bytes], what: str) -> int:
    """Try the programs in batches; the number of promises that were broken."""
    iterator, done, found, changed, failures = iter(programs), 0, 0, 0, 0
    while batch := list(islice(iterator, _BATCH)):
        with tempfile.TemporaryDirectory() as folder:
            for number, program in enumerate(batch):
                (Path(folder) / f"p{done + number}.py").write_bytes(program)
            result = trial(Path(folder), _ALL)
        for fault in (*result.faults, *(p for p in result.problems if "internal fault" in p)):
            failures += 1
            print(f"  {what}: {fault}", flush=True)
        done, found, changed = done + len(batch), found + result.found.total(), changed + result.changed
    print(f"{what}: {done} programs, {found} findings, {changed} files fixed, {failures} promises broken", flush=True)
    return failures


def _strange(number: int, seed: int) -> Iterator[bytes]:
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
    for text in drawn:
        yield text.encode("utf-8", "replace") + _WORD


def _files(folder: Path) -> Iterator[bytes]:
    for path in sorted(folder.rglob("*.py")):
        if path.is_file():
            yield path.read_bytes() + _WORD


if __name__ == "__main__":
    sys.exit(main())
