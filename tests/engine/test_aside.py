"""A process of its own reads with LibCST what this process would, and nothing is lost with it."""

import os
import signal

import pytest

from amplint.engine.aside import Aside
from amplint.engine.processes import processors
from amplint.model import tree
from amplint.model.walks import walk
from amplint.syntax.parse import lowered_by_libcst

TEXT = "if x:\n    y = f(a, b=1)  # why\n"


def _shape(node: tree.Node | None) -> list[tuple[str, object]]:
    return [(type(each).__name__, each.span) for each in walk(node)] if node is not None else []


@pytest.mark.parametrize("text", [TEXT, "", "def broken(:\n", "(" * 3000])
def test_reads_what_this_process_reads(text: str) -> None:
    with Aside() as there:
        there.start()
        assert _shape(there.lowered(text)) == _shape(lowered_by_libcst(text))


def test_starts_when_it_is_asked_if_nothing_was_expected() -> None:
    with Aside() as aside:
        assert not aside._child
        assert _shape(aside.lowered(TEXT)) == _shape(lowered_by_libcst(TEXT))
        assert aside._child or processors() < 2


def test_goes_on_when_a_text_was_none() -> None:
    with Aside() as aside:
        aside.start()
        assert aside.lowered("def broken(:\n") is None
        assert aside.lowered(TEXT) is not None


def test_a_killed_process_is_not_missed() -> None:
    with Aside() as aside:
        aside.start()
        os.kill(aside._child, signal.SIGKILL)
        assert _shape(aside.lowered(TEXT)) == _shape(lowered_by_libcst(TEXT))
        assert _shape(aside.lowered(TEXT)) == _shape(lowered_by_libcst(TEXT))


def test_leaves_no_process_behind() -> None:
    with Aside() as aside:
        aside.start()
        child = aside._child
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
