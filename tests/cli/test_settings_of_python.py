"""The command under settings of the interpreter that some people live with."""

from pathlib import Path

import pytest

from tests.cli.running import AMP_CODE, amplint


@pytest.mark.parametrize(
    "settings",
    [
        {"PYTHONOPTIMIZE": "1"},
        {"PYTHONOPTIMIZE": "2"},
        {"PYTHONWARNINGS": "error"},
        {"PYTHONDEVMODE": "1"},
        {"PYTHONHASHSEED": "7", "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=str,
)
@pytest.mark.parametrize("flags", [[], ["--diff"]])
def test_what_is_said_does_not_depend_on_the_interpreter(
    tmp_path: Path, settings: dict[str, str], flags: list[str]
) -> None:
    (tmp_path / "train.py").write_text(AMP_CODE)
    plain = amplint("--isolated", "--no-cache", *flags, cwd=tmp_path)
    done = amplint("--isolated", "--no-cache", *flags, cwd=tmp_path, environment=settings)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert "AMP101" in plain.stdout or flags
