"""ruff leaves amplint's comments alone, as the guide says."""

import re
import subprocess
import sys
from pathlib import Path

GUIDE = Path(__file__).parent.parent / "docs" / "guides" / "flake8-and-ruff.md"
TEXT = """\
import torch

first = torch.amp.GradScaler("cuda")  # amplint: ignore[AMP201] a reason
# amplint: ignore[clip-of-scaled-gradients]
second = torch.amp.GradScaler("cuda")  # noqa: AMP201
print(first, second)
"""


def settings() -> str:
    """The block of the guide that is for ruff."""
    blocks = re.findall(r"^```toml\n(\[tool\.ruff.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (block,) = blocks
    return block


def fixed(folder: Path, configuration: str) -> str:
    (folder / "pyproject.toml").write_text(configuration)
    (folder / "train.py").write_text(TEXT)
    rules = ["--select", "RUF100,RUF102", "--preview"]
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--fix", "--unsafe-fixes", *rules, "train.py"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return (folder / "train.py").read_text()


def test_with_the_documented_line_ruff_changes_nothing(tmp_path: Path) -> None:
    assert fixed(tmp_path, settings()) == TEXT


def test_without_it_only_noqa_is_touched(tmp_path: Path) -> None:
    assert fixed(tmp_path, "") == TEXT.replace("  # noqa: AMP201", "")
