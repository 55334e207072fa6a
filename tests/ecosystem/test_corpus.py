"""Every repository of the corpus that AMPLINT_CORPUS names, where there is one."""

import os
from pathlib import Path

import pytest

from tests.ecosystem.trial import trial

CORPUS = os.environ.get("AMPLINT_CORPUS")
REPOSITORIES = sorted(path for path in Path(CORPUS).iterdir() if path.is_dir()) if CORPUS else []


@pytest.mark.corpus
@pytest.mark.skipif(not REPOSITORIES, reason="AMPLINT_CORPUS names no folder of repositories")
@pytest.mark.parametrize("repository", REPOSITORIES, ids=lambda path: path.name)
def test_fixes_keep_their_promises(repository: Path) -> None:
    assert trial(repository, ()).faults == []
