"""One warmed process serves all runs of a test session."""

from collections.abc import Iterator

import pytest

pytest.importorskip("torch")

from amplint.runtime.drive import Driver


@pytest.fixture(scope="session")
def driver() -> Iterator[Driver]:
    with Driver(time_limit=60) as shared:
        yield shared
