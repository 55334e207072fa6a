"""Runs the training loops of this folder, as they are or with another text."""

import os
from dataclasses import dataclass
from pathlib import Path

from amplint.runtime.drive import Driver, Run
from amplint.runtime.job import AS_IS, Detail, Job, Program, Treatment

LOOPS = Path(__file__).parent / "loops"
NEEDS_CUDA_NAMES = "hard_coded_cuda"


@dataclass(frozen=True)
class Loop:
    """A training program: the file with the AMP code that mistakes are planted into, and how it is started."""

    name: str
    main: Path
    code: Path
    is_module: bool = False

    @property
    def program(self) -> Program:
        target = "package.train" if self.is_module else str(self.main)
        search_path = str(LOOPS) if self.is_module else str(self.main.parent)
        arguments = ("--epochs", "2") if self.is_module else ()
        return Program(target, self.is_module, arguments, str(LOOPS), search_path)


def _loops() -> list[Loop]:
    found = [Loop(path.stem, path, path) for path in sorted(LOOPS.glob("*.py"))]
    found.append(Loop("native_scaler", LOOPS / "native_scaler/main.py", LOOPS / "native_scaler/wrapper.py"))
    found.append(Loop("package", LOOPS / "package/train.py", LOOPS / "package/train.py", is_module=True))
    return found


ALL = _loops()
BY_NAME = {loop.name: loop for loop in ALL}


def run(
    driver: Driver,
    loop: Loop,
    text: str | None = None,
    detail: Detail = Detail.EVENTS,
    treatment: Treatment = AS_IS,
    steps: int | None = None,
) -> Run:
    """Run a loop in a fresh directory, with another text for its code where one is given."""
    overlay = {} if text is None else {os.path.realpath(loop.code): text}
    directory = driver.fresh_folder("directory")
    return driver.run(Job(loop.program, "", directory, treatment, detail, steps=steps, overlay=overlay))
