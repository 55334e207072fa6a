"""The plugin in a real flake8, in a subprocess."""

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
CODE = """\
import torch


def train(model, optimizer, scaler, loader):
    with torch.autocast("cuda"):
        for batch in loader:
            scaler.scale(model(batch)).backward()
            scaler.step(optimizer)
            scaler.update()
"""
PLACE = "a.py:8:13: AMP402"


def is_installed() -> bool:
    entries = importlib.metadata.entry_points(group="flake8.extension")
    return any(entry.name == "AMP" for entry in entries)


def _flake8(cwd: Path, *arguments: str, config: str = "", stdin: str | None = None) -> str:
    plugins = "" if is_installed() else "[flake8:local-plugins]\nextension = AMP = amplint.adapters.flake8:Plugin\n"
    (cwd / ".flake8").write_text(f"[flake8]\nmax-line-length = 120\n{config}\n{plugins}")
    done = subprocess.run(
        [sys.executable, "-m", "flake8", *(arguments or (".",))],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert not done.stderr
    return done.stdout.removeprefix("./")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_text(CODE)
    (tmp_path / "plain.py").write_text("x = 1\n")
    return tmp_path


def test_reports(folder: Path) -> None:
    assert _flake8(folder).startswith(PLACE)
    assert _flake8(folder, "--select", "AMP").startswith(PLACE)
    assert _flake8(folder, "--select", "F") == ""
    assert _flake8(folder, "--extend-ignore", "AMP4") == ""
    assert "AMP402" in _flake8(folder, "-", stdin=CODE)


def test_flake8_s_own_ways_to_silence(folder: Path) -> None:
    assert _flake8(folder, config="per-file-ignores = a.py: AMP402") == ""
    (folder / "a.py").write_text(CODE.replace("step(optimizer)", "step(optimizer)  # noqa: AMP402"))
    assert _flake8(folder) == ""
    (folder / "a.py").write_text(CODE.replace("step(optimizer)", "step(optimizer)  # noqa"))
    assert _flake8(folder) == ""


def test_amplint_s_own_comments_and_settings(folder: Path) -> None:
    (folder / "a.py").write_text(CODE.replace("step(optimizer)", "step(optimizer)  # amplint: ignore[AMP402]"))
    assert _flake8(folder) == ""
    (folder / "a.py").write_text("from torch.cuda.amp import GradScaler\n\nscaler = GradScaler()\n")
    (folder / "amplint.toml").write_text('target-torch = "2.4"\nignore = ["AMP1"]\n')
    assert "AMP101" in _flake8(folder), "selecting is flake8's"
    assert _flake8(folder, "--amplint-target-torch", "1.9") == ""
    (folder / "amplint.toml").write_text('target-torch = "1.9"\n')
    assert _flake8(folder) == ""


def test_opt_in_rules_have_to_be_named(folder: Path) -> None:
    (folder / "a.py").write_text(
        "def train(scaler, optimizer, scheduler, loss):\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n    scheduler.step()\n"
    )
    assert _flake8(folder) == ""
    assert "AMP601" in _flake8(folder, "--extend-select", "AMP601")


def test_a_syntax_error_is_flake8_s_to_report(folder: Path) -> None:
    (folder / "a.py").write_text(CODE + "def f(:\n")
    assert "E999" in _flake8(folder)
    assert "AMP" not in _flake8(folder)


def test_a_file_without_amp_loads_nothing(folder: Path) -> None:
    program = (
        "import sys; from amplint.adapters.flake8 import Plugin; list(Plugin(None, 'x.py', ['import torch']).run());"
        "print(sorted(name for name in sys.modules if name.startswith('amplint.')))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "['amplint.adapters', 'amplint.adapters.flake8', 'amplint.source', 'amplint.source.prefilter']"
    )
