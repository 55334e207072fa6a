"""Runs tests in a forked child of a process that has imported what they need, but nothing of amplint."""

import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType

import pytest

from tests.mutation.mutants import Mutant

ROOT = Path(__file__).parents[2]
WARM = ("_pytest.assertion.rewrite", "hypothesis", "libcst.metadata", "pathspec", "rich.console", "torch")
QUIET = ["-q", "--no-summary", "-p", "no:cacheprovider", "-p", "no:xdist", f"--rootdir={ROOT}"]
# A test may take this much longer with a mutant than without, and these seconds more.
TIMES, SECONDS = 10, 3
BROKEN = 70


def warm() -> None:
    """Import once what every child needs. Nothing of amplint: a child imports it with its mutant."""
    for name in WARM:
        try:
            import_module(name)
        except ImportError:
            assert name == "torch", f"{name} is needed"
    assert "amplint" not in sys.modules


def forked(task: Callable[[], int]) -> int:
    """The process that does a task in silence and ends with the code that it returns."""
    sys.stdout.flush()
    if pid := os.fork():
        return pid
    code = BROKEN
    try:
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        os.chdir(ROOT)
        code = task()
    finally:
        os._exit(code)


def is_noticed(mutant: Mutant, tests: Sequence[str], seconds: dict[str, float]) -> int:
    """1 where one of the tests fails, or cannot even be collected, 0 otherwise."""
    sys.meta_path.insert(0, _Overlay(mutant))
    ended = pytest.main(["-x", *QUIET, *files_of(tests)], plugins=[_Chosen(tests, seconds)])
    codes = pytest.ExitCode
    return {codes.OK: 0, codes.NO_TESTS_COLLECTED: 0, codes.TESTS_FAILED: 1, codes.INTERRUPTED: 1}[ended]


def files_of(tests: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(test.partition("::")[0] for test in tests))


class _Chosen:
    """Runs these tests, in this order, each within a limit."""

    def __init__(self, tests: Sequence[str], seconds: dict[str, float]) -> None:
        self.place = {test: number for number, test in enumerate(tests)}
        self.functions = {test.partition("[")[0].split("::")[-1] for test in tests}
        self.seconds = seconds

    def pytest_pycollect_makeitem(self, name: str) -> list[object] | None:
        return [] if name.startswith("test") and name not in self.functions else None

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = sorted(
            (item for item in items if item.nodeid in self.place), key=lambda item: self.place[item.nodeid]
        )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        limit = int(TIMES * self.seconds[item.nodeid]) + SECONDS
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + limit, hard))
        # One that waits for ever takes no time of the processor.
        signal.alarm(20 * limit)
        return (yield)


class _Overlay:
    """Imports a mutant in the place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != module_of(self.mutant.path):
            return None
        return spec_from_file_location(name, self.mutant.path, loader=_Loader(name, self.mutant))


class _Loader(SourceFileLoader):
    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path))
        self.mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        return compile(self.mutant.source, self.path, "exec", dont_inherit=True)


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
