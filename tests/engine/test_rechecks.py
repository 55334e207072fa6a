"""How often `--fix` has files checked: once as they are, and again only what a fix may have changed the findings of."""

from collections import Counter
from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine import session
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run

OLD = "import torch\n\n\ndef make():\n    return torch.cuda.amp.GradScaler()\n"
USER = "import torch\nfrom old import make\n\nscaler = make()\n"
ALONE = "import torch\n\nwith torch.autocast('cuda'):\n    pass\n"


@pytest.fixture
def checks(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counted: Counter[str] = Counter()
    check = session.check_module

    def counting(facts, rules, seconds):  # type: ignore[no-untyped-def]
        counted[Path(facts.path).name] += 1
        return check(facts, rules, seconds)

    monkeypatch.setattr(session, "check_module", counting)
    return counted


def test_a_fix_has_its_file_and_those_that_import_it_checked_once_more(tmp_path: Path, checks: Counter[str]) -> None:
    for name, text in (("old.py", OLD), ("user.py", USER), ("alone.py", ALONE)):
        (tmp_path / name).write_text(text)
    done = run(["."], Resolver({"isolated": True}, tmp_path), tmp_path, Wanted(fixes=True, jobs=1))
    assert [path.name for path, _, _ in done.changed] == ["old.py"]
    assert checks == {"old.py": 2, "user.py": 2, "alone.py": 1}


def test_what_one_group_was_fixed_to_is_not_seen_by_the_next(tmp_path: Path, checks: Counter[str]) -> None:
    for name in ("first.py", "second.py", "third.py"):
        (tmp_path / name).write_text(OLD)
    done = run(["."], Resolver({"isolated": True}, tmp_path), tmp_path, Wanted(fixes=True, jobs=1))
    assert {path.name for path, _, _ in done.changed} == {"first.py", "second.py", "third.py"}
    assert set(checks.values()) == {2}
