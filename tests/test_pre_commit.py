"""The hooks in a real pre-commit, on a scratch repository; pre-commit installs amplint from this checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OLD = "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n"
MISTAKE = """\
import torch


def train(model, optimizer, scaler, loader):
    with torch.autocast("cuda"):
        for batch in loader:
            scaler.scale(model(batch)).backward()
            scaler.step(optimizer)
            scaler.update()
"""


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the hooks: this checkout as it is, committed, since pre-commit clones."""
    folder = tmp_path_factory.mktemp("hooks")
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, os.fsdecode(listed.stdout).split("\0")):
        is_needed = name.startswith("amplint/") or "/" not in name
        if is_needed and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    _git(folder, "init", "-q")
    _git(folder, "add", ".")
    _git(folder, "commit", "-qm", "hooks")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    _git(tmp_path, "init", "-q")
    (tmp_path / "vendored").mkdir()
    for name in ("train.py", "vendored/train.py"):
        (tmp_path / name).write_text(MISTAKE)
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "amplint.toml").write_text('target-torch = "2.4"\nextend-exclude = ["vendored"]\n')
    _git(tmp_path, "add", ".")
    return tmp_path


def _try(hooks: Path, project: Path, hook: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", "try-repo", str(hooks), hook, "--verbose", "--all-files"],
        cwd=project,
        capture_output=True,
        text=True,
        env=environment | {"PRE_COMMIT_HOME": str(project / ".git" / "pre-commit")},
        check=False,
    )


@pytest.mark.network
def test_the_checking_hook(hooks: Path, project: Path) -> None:
    done = _try(hooks, project, "amplint")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:8:13  AMP402" in done.stdout
    assert "vendored" not in done.stdout, "excludes hold for files that are named"


@pytest.mark.network
def test_the_fixing_hook(hooks: Path, project: Path) -> None:
    done = _try(hooks, project, "amplint-fix")
    assert done.returncode == 1, done.stdout + done.stderr
    assert (project / "train.py").read_text() == MISTAKE, "nobody watches this hook, so it repairs nothing"
    assert (project / "old.py").read_text() == 'from torch.amp import GradScaler\n\nscaler = GradScaler("cuda")\n'
