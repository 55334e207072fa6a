"""Records which tests run which lines, and how long each takes."""

import functools
import gc
import os
import pickle
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import coverage
import pytest

from tests.mutation.child import QUIET, forked
from tests.mutation.mutants import Mutant

IMPORTED = ""
# What a mutant is worth: tests that would take longer together are left out, and may make it survive.
MOST_SECONDS = 40


@dataclass(frozen=True)
class Record:
    """What a run without a mutant did."""

    seconds: dict[str, float]
    ran: dict[Path, dict[int, list[str]]]

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that come by a mutant, ordered so that no function of tests takes much more time than another.

        What runs when the module is imported may matter to all tests that use the module.
        """
        lines = self.ran.get(mutant.path, {})
        found = {test for line in mutant.lines for test in lines.get(line, ())}
        if IMPORTED in found:
            found.update(test for tests in lines.values() for test in tests)
        spent: dict[str, float] = defaultdict(float)
        after: dict[str, tuple[float, str]] = {}
        for test in sorted(found - {IMPORTED}, key=lambda test: (self.seconds[test], test)):
            function = test.partition("[")[0]
            spent[function] += self.seconds[test]
            after[test] = spent[function], test
        return self._within(sorted(after, key=after.__getitem__))

    def _within(self, tests: list[str]) -> list[str]:
        """As many as can be run in the time that a mutant is worth."""
        ends = accumulate(self.seconds[test] for test in tests)
        return [test for test, end in zip(tests, ends, strict=True) if end <= MOST_SECONDS]


def recorded(tests: Sequence[str], paths: Sequence[Path]) -> Record:
    """Run all tests once. Raises AssertionError where one fails without a mutant."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "record"
        _, status = os.waitpid(forked(lambda: _record(tests, paths, target)), 0)
        assert status == 0, "the tests fail without a mutant"
        return pickle.loads(target.read_bytes())


def _record(tests: Sequence[str], paths: Sequence[Path], target: Path) -> int:
    measured = coverage.Coverage(data_file=None, config_file=False, include=list(map(str, paths)))
    measured.start()
    recorder = _Recorder(measured)
    ended = pytest.main([*QUIET, *tests], plugins=[recorder])
    measured.stop()
    data = measured.get_data()
    ran = {Path(path): data.contexts_by_lineno(path) for path in data.measured_files()}
    target.write_bytes(pickle.dumps(Record(recorder.seconds, ran)))
    return int(ended)


class _Recorder:
    """Tells coverage whose lines are run. Nothing is remembered from one test to the next."""

    def __init__(self, measured: coverage.Coverage) -> None:
        self.measured = measured
        self.seconds: dict[str, float] = {}
        self.caches: list[functools._lru_cache_wrapper[object]] = []

    def pytest_collection_finish(self) -> None:
        self.caches = [
            each
            for each in gc.get_objects()
            if isinstance(each, functools._lru_cache_wrapper) and str(each.__module__).startswith(("amplint", "tests"))
        ]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        for cache in self.caches:
            cache.cache_clear()
        self.measured.switch_context(item.nodeid)
        start = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - start
            self.measured.switch_context(IMPORTED)
