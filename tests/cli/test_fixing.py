"""`--fix` and its kin, as a person and as a hook use them."""

from pathlib import Path

import pytest

from tests.cli.running import amplint

OLD = "from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n"
NEW = 'from torch.amp import GradScaler\n\nscaler = GradScaler("cuda")\n'
# One clip, one scaler, one optimizer: the repair admits one reading, so it is safe.
LOOP = """\
import torch


def train(model, optimizer, loader):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = model(x, y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""
TARGET = ("--target-torch", "2.4")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "loop.py").write_text(LOOP)
    return tmp_path


def test_fix_applies_safe_fixes_and_says_which_change_training(tree: Path) -> None:
    done = amplint("--fix", *TARGET, cwd=tree)
    assert (tree / "old.py").read_text() == NEW
    fixed = LOOP.replace("        torch.nn", "        scaler.unscale_(optimizer)\n        torch.nn")
    assert (tree / "loop.py").read_text() == fixed
    assert (done.returncode, done.stdout) == (0, "")
    assert "Fixed 2 findings: 1 migration, 1 repair.\n  changes training: loop.py:11 AMP201 " in done.stderr
    assert "amplint verify --no-fix SCRIPT" in done.stderr
    again = amplint("--fix", *TARGET, cwd=tree)
    assert "Fixed" not in again.stderr


def test_a_hook_migrates_only_and_fails_for_it(tree: Path) -> None:
    hook = ("--fix", "--migrations-only", "--exit-non-zero-on-fix", "--select", "AMP1", *TARGET)
    assert amplint(*hook, cwd=tree).returncode == 1
    assert ((tree / "old.py").read_text(), (tree / "loop.py").read_text()) == (NEW, LOOP)
    assert amplint(*hook, cwd=tree).returncode == 0


def test_diff_shows_and_writes_nothing(tree: Path) -> None:
    done = amplint("--diff", *TARGET, cwd=tree)
    assert done.returncode == 1
    assert "+++ old.py" in done.stdout
    assert '+scaler = GradScaler("cuda")' in done.stdout
    assert "Would fix 2 findings" in done.stderr
    assert ((tree / "old.py").read_text(), (tree / "loop.py").read_text()) == (OLD, LOOP)


def test_configuration_says_which_fixes_may_be_applied(tree: Path) -> None:
    (tree / "amplint.toml").write_text('unfixable = ["AMP101"]\nextend-unsafe-fixes = ["AMP201"]\n')
    done = amplint("--fix", *TARGET, cwd=tree)
    assert done.returncode == 1
    assert ((tree / "old.py").read_text(), (tree / "loop.py").read_text()) == (OLD, LOOP)
    assert "1 more fix with --fix --unsafe-fixes" in done.stderr
    amplint("--fix", "--unsafe-fixes", *TARGET, cwd=tree)
    assert (tree / "old.py").read_text() == OLD
    assert "scaler.unscale_(optimizer)" in (tree / "loop.py").read_text()


def test_a_suppressed_use_keeps_its_import(tree: Path) -> None:
    text = OLD.replace("()", "()  # amplint: ignore[AMP101]")
    (tree / "old.py").write_text(text)
    amplint("--fix", "--select", "AMP101", *TARGET, cwd=tree)
    assert (tree / "old.py").read_text() == text


def test_standard_input_is_fixed_on_standard_output(tree: Path) -> None:
    done = amplint("-", "--fix", *TARGET, cwd=tree, stdin=OLD.encode())
    assert (done.stdout, done.returncode) == (NEW, 0)


def test_a_read_only_file_is_left_alone_and_named(tree: Path) -> None:
    (tree / "old.py").chmod(0o444)
    done = amplint("--fix", *TARGET, cwd=tree)
    if (tree / "old.py").read_text() == OLD:  # root may write it
        assert done.returncode == 2
        assert "old.py: not fixed" in done.stderr


def test_a_broken_neighbour_stops_nothing(tree: Path) -> None:
    (tree / "bad.py").write_bytes(b"import old, torch.cuda.amp\ns = '\xe9'\n")
    (tree / "worse.py").write_text("import old, torch.cuda.amp\ndef f(:\n")
    done = amplint("--fix", *TARGET, cwd=tree)
    assert done.returncode == 2
    assert "bad.py: is not utf-8" in done.stderr
    assert (tree / "old.py").read_text() == NEW
