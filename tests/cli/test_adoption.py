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
    assert "amplint-baseline.json: 2 findings known now." in done.stderr
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
    assert "1 finding dropped, 1 still known." in done.stderr
    (tree / "b.py").unlink()
    amplint("baseline", "prune", *FLAGS, cwd=tree)
    assert json.loads((tree / "amplint-baseline.json").read_text()) == {"version": 1, "findings": {}}


def test_a_baseline_is_written_folder_by_folder(tree: Path) -> None:
    amplint("baseline", "write", "a.py", *FLAGS, cwd=tree)
    done = amplint("baseline", "write", "b.py", *FLAGS, cwd=tree)
    assert done.stderr == (
        "amplint-baseline.json: 1 finding known now (1 more in files not looked at).\n"
        'Set `baseline = "amplint-baseline.json"` in the configuration to use it.\n'
    )
    assert set(json.loads((tree / "amplint-baseline.json").read_text())["findings"]) == {"a.py", "b.py"}
    (tree / "amplint-baseline.json").write_text("<<<<<<< HEAD")
    assert amplint("baseline", "write", "b.py", *FLAGS, cwd=tree).returncode == 0
    assert set(json.loads((tree / "amplint-baseline.json").read_text())["findings"]) == {"b.py"}


def test_what_the_baseline_knows_is_not_fixed_unless_asked_for(tmp_path: Path) -> None:
    old = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
    (tmp_path / "old.py").write_text(old)
    (tmp_path / "amplint.toml").write_text('baseline = "known.json"\n')
    amplint("baseline", "write", cwd=tmp_path)
    assert amplint("--fix", cwd=tmp_path).returncode == 0
    assert (tmp_path / "old.py").read_text() == old
    (tmp_path / "old.py").write_text(f"{old}other = torch.cuda.amp.GradScaler(init_scale=8.0)\n")
    assert "-scaler" not in amplint("--diff", cwd=tmp_path).stdout
    done = amplint("--fix", cwd=tmp_path)
    assert (tmp_path / "old.py").read_text() == f'{old}other = torch.amp.GradScaler("cuda", init_scale=8.0)\n'
    assert "Fixed 1 finding: 1 migration.\nNo findings (1 file checked).\n1 known finding" in done.stderr
    assert "not applied" not in done.stderr
    assert amplint("--no-baseline", cwd=tmp_path).returncode == 1
    assert amplint("--fix", "--no-baseline", cwd=tmp_path).returncode == 0
    assert "cuda.amp" not in (tmp_path / "old.py").read_text()


def test_equal_lines_are_fixed_beyond_the_number_that_is_known(tmp_path: Path) -> None:
    line = "torch.cuda.amp.GradScaler()\n"
    (tmp_path / "old.py").write_text(f"import torch\n{line}")
    amplint("baseline", "write", cwd=tmp_path)
    (tmp_path / "old.py").write_text(f"import torch\n{line}print()\n{line}{line}")
    amplint("--fix", "--baseline", "amplint-baseline.json", cwd=tmp_path)
    fixed = 'torch.amp.GradScaler("cuda")\n'
    assert (tmp_path / "old.py").read_text() == f"import torch\n{line}print()\n{fixed}{fixed}"


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


def test_a_decorator_is_suppressed_on_its_own_lines(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import torch\n\n\n@torch.autocast  # amplint: ignore[AMP108]\ndef f(x):\n    return x\n\n\n"
        '@torch.autocast(\n    "cuda:0"\n)  # amplint: ignore[AMP107]\ndef g(x):\n    return x\n\n\n'
        "@torch.autocast\ndef h(x):  # amplint: ignore[AMP108]\n    return x\n"
    )
    done = amplint("--output-format", "concise", "--select", "AMP1", cwd=tmp_path)
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [["a.py:16:2:", "AMP108"]]


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


def test_only_changed_lines_are_fixed(tmp_path: Path) -> None:
    old = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
    (tmp_path / "old.py").write_text(old)
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", ".")
    _git(tmp_path, "commit", "-qm", "old")
    (tmp_path / "old.py").write_text(f"{old}other = torch.cuda.amp.GradScaler()\n")
    amplint("--fix", "--diff-base", "HEAD", cwd=tmp_path)
    assert (tmp_path / "old.py").read_text() == f'{old}other = torch.amp.GradScaler("cuda")\n'
