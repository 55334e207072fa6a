"""`amplint debug new-rule` writes a rule that is whole."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amplint.cli.new_rule import write
from amplint.config.usage import UsageError

ROOT = Path(__file__).parent.parent


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "amplint", tmp_path / "amplint", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def amplint(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "amplint", *arguments]
    environment = {"PYTHONPATH": str(checkout), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=checkout, env=environment)


def test_a_new_rule_is_found_and_reports(checkout: Path) -> None:
    done = amplint(checkout, "debug", "new-rule", "AMP299", "forgotten-thing")
    assert done.stdout.splitlines() == [
        "amplint/rules/amp299_forgotten_thing.py",
        "tests/fixtures/AMP299/bad_plain.py",
        "tests/fixtures/AMP299/good_plain.py",
    ]
    assert amplint(checkout, "rule", "forgotten-thing").stdout.startswith("AMP299 forgotten-thing\n")
    (checkout / "loop.py").write_text("import torch.cuda.amp\n\ntorch.nothing()\n")
    assert "loop.py:3:1: AMP299" in amplint(checkout, "loop.py", "--isolated", "--output-format", "concise").stdout


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("AMP29", "forgotten-thing", "three digits"),
        ("AMP299", "Forgotten", "kebab-case"),
        ("AMP001", "forgotten-thing", "taken by amplint/rules/amp001"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(checkout: Path, code: str, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        write(checkout, code, name)


def test_only_a_checkout_gets_rules(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="checkout"):
        write(tmp_path, "AMP299", "forgotten-thing")
