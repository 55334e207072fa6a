"""Ways to begin on an old tree: baseline, suppressions, changed lines only."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.running import amplint

LOOP = """\
import torch


def train(model, optimizer, scaler, loader):
    with torch.autocast("cuda"):
        for batch in loader:
            scaler.scale(model(batch)).backward()
            scaler.step(optimizer)
            scaler.update()
"""
FLAGS = ("--select", "AMP402", "--target-torch", "2.4")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(LOOP)
    (tmp_path / "b.py").write_bytes(LOOP.replace("\n", "\r\n").encode())
    return tmp_path


def _git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_baseline_hides_what_is_known(tree: Path) -> None:
    done = amplint("baseline", "write", *FLAGS, cwd=tree)
    assert done.returncode == 0
    assert "amplint-baseline.json: 2 findings are known now." in done.stderr
    done = amplint("--baseline", "amplint-baseline.json", *FLAGS, cwd=tree)
    assert (done.returncode, done.stdout) == (0, "")
    assert "2 known findings of the baseline not shown." in done.stderr


def test_a_baseline_outlives_moved_lines_and_shows_new_findings(tree: Path) -> None:
    (tree / "amplint.toml").write_text('baseline = "known.json"\nselect = ["AMP402"]\ntarget-torch = "2.4"\n')
    amplint("baseline", "write", cwd=tree)
    (tree / "a.py").write_text("# one more line\n" + LOOP)
    assert amplint(cwd=tree).returncode == 0
    (tree / "a.py").write_text(LOOP + LOOP.replace("import torch", "").replace("def train", "def again"))
    done = amplint("--output-format", "concise", cwd=tree)
    assert done.stdout.startswith("a.py:17:")
    assert done.stdout.count("\n") == 1
    (tree / "sub").mkdir()
    (tree / "sub" / "c.py").write_text("x = 1\n")
    assert amplint("../b.py", cwd=tree / "sub").returncode == 0, "wherever it is run from"


def test_prune(tree: Path) -> None:
    amplint("baseline", "write", *FLAGS, cwd=tree)
    (tree / "a.py").write_text("import torch\n")
    done = amplint("baseline", "prune", "a.py", *FLAGS, cwd=tree)
    assert "1 findings dropped, 1 still known." in done.stderr
    (tree / "b.py").unlink()
    amplint("baseline", "prune", *FLAGS, cwd=tree)
    assert json.loads((tree / "amplint-baseline.json").read_text()) == {"version": 1, "findings": {}}


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 9, "findings": {}}', '{"version": 1, "findings": {"a": 1}}'])
def test_a_broken_baseline(tree: Path, text: str) -> None:
    (tree / "known.json").write_text(text)
    done = amplint("--baseline", "known.json", cwd=tree)
    assert done.returncode == 2
    assert "known.json: is not" in done.stderr
    done = amplint("--baseline", "gone.json", cwd=tree)
    assert done.returncode == 2
    assert "write it with `amplint baseline write`" in done.stderr


def test_suppressions_in_bulk(tree: Path) -> None:
    done = amplint("--add-ignore", *FLAGS, cwd=tree)
    assert (done.returncode, done.stdout) == (0, "")
    assert "a.py: suppressed 1 finding\n" in done.stderr
    comment = "            # amplint: ignore[AMP402]\n"
    assert (tree / "a.py").read_text() == LOOP.replace("            scaler.step", comment + "            scaler.step")
    assert (tree / "b.py").read_bytes().count(b"\r\n") == LOOP.count("\n") + 1
    assert amplint("--select", "AMP402,AMP001", cwd=tree).returncode == 0


def test_only_changed_lines(tree: Path) -> None:
    _git(tree, "init", "-q")
    _git(tree, "add", ".")
    _git(tree, "commit", "-qm", "old")
    assert amplint("--diff-base", "HEAD", *FLAGS, cwd=tree).returncode == 0
    (tree / "b.py").write_text(LOOP.replace("step(optimizer)", "step(optimizer )"))
    (tree / "c.py").write_text(LOOP)
    done = amplint("--diff-base", "HEAD", "--output-format", "concise", *FLAGS, cwd=tree)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == ["b.py", "c.py"]
    assert "1 finding on unchanged lines not shown." in done.stderr
    done = amplint("--diff-base", "nonsense", cwd=tree)
    assert done.returncode == 2
    assert "'nonsense' is no revision" in done.stderr
