"""`amplint check`: paths, formats, exit codes, standard input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from amplint import __version__
from tests.cli.running import AMP_CODE, amplint

BROKEN = AMP_CODE + "with autocast(:\n    pass\n"
UNKNOWN = AMP_CODE.replace("cuda.", "") + "x = 1  # amplint: ignore[AMP9]\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "broken.py").write_text(BROKEN)
    (tmp_path / "clean.py").write_text("x = 1\n")
    return tmp_path


def test_paths(tree: Path) -> None:
    assert amplint("src", cwd=tree).stdout == amplint("check", "src/", cwd=tree).stdout
    assert amplint(cwd=tree).stdout == amplint(".", cwd=tree).stdout
    assert amplint("clean.py", cwd=tree).returncode == 0
    assert amplint("src/broken.py", "src", cwd=tree).stdout.count("AMP000") == 1


def test_text_shows_the_source(tree: Path) -> None:
    assert amplint("src", cwd=tree).stdout == (
        "src/broken.py:3:15  AMP000 invalid-syntax\n"
        "  does not parse: invalid syntax\n"
        "  |\n"
        "3 | with autocast(:\n"
        "  |               ^\n"
    )


def test_concise_and_statistics(tree: Path) -> None:
    assert amplint("--output-format=concise", cwd=tree).stdout == (
        "src/broken.py:3:15: AMP000 does not parse: invalid syntax\n"
    )
    assert amplint("--statistics", cwd=tree).stdout == "1  AMP000  invalid-syntax\n"


def test_json_has_ruff_s_shape(tree: Path) -> None:
    (record,) = json.loads(amplint("--output-format=json", cwd=tree).stdout)
    assert record == {
        "cell": None,
        "code": "AMP000",
        "name": "invalid-syntax",
        "message": "does not parse: invalid syntax",
        "severity": "error",
        "filename": str(tree / "src/broken.py"),
        "location": {"row": 3, "column": 15},
        "end_location": {"row": 3, "column": 16},
        "fix": None,
        "url": None,
        "notes": [],
    }


def test_several_outputs_at_once(tree: Path) -> None:
    done = amplint("--output-format", "concise,json:out.json", cwd=tree)
    assert "AMP000" in done.stdout
    assert json.loads((tree / "out.json").read_text())[0]["code"] == "AMP000"
    assert amplint("--output-format", "json", "-o", "out2.json", cwd=tree).stdout == ""
    assert (tree / "out2.json").read_text() == (tree / "out.json").read_text()


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ([], 1),
        (["--exit-zero"], 0),
        (["--ignore", "AMP0"], 0),
        (["--ignore", "invalid-syntax"], 0),
        (["--select", "AMP001"], 0),
        (["--select", "ALL", "--fail-on", "error"], 1),
    ],
)
def test_exit_codes(tree: Path, flags: list[str], code: int) -> None:
    assert amplint(*flags, cwd=tree).returncode == code


def test_fail_on_spares_the_lesser(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(UNKNOWN)
    assert amplint(cwd=tmp_path).returncode == 1
    done = amplint("--fail-on", "error", cwd=tmp_path)
    assert (done.returncode, "AMP002" in done.stdout) == (0, True)


def test_standard_input(tmp_path: Path) -> None:
    done = amplint("-", cwd=tmp_path, stdin=BROKEN.encode())
    assert done.stdout.startswith("stdin.py:3:15  AMP000")
    done = amplint("-", "--stdin-filename", "pkg/x.py", cwd=tmp_path, stdin=BROKEN.encode())
    assert done.stdout.startswith("pkg/x.py:3:15  AMP000")
    done = amplint("-", "--fix", cwd=tmp_path, stdin=UNKNOWN.encode())
    assert done.stdout == UNKNOWN


def test_colour(tree: Path) -> None:
    assert "\x1b[" not in amplint(cwd=tree).stdout
    assert "\x1b[" in amplint(cwd=tree, environment={"FORCE_COLOR": "1"}).stdout
    assert "\x1b[" not in amplint(cwd=tree, environment={"FORCE_COLOR": "1", "NO_COLOR": "1"}).stdout
    assert "\x1b[" in amplint("--color=always", cwd=tree, environment={"NO_COLOR": "1"}).stdout
    assert "\x1b[" not in amplint("--color=never", cwd=tree, environment={"FORCE_COLOR": "1"}).stdout


def test_quiet_and_the_assumed_target(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(AMP_CODE.replace("cuda.", ""))
    assert amplint("--quiet", cwd=tmp_path).stderr == ""
    assert "2.4 is assumed" in amplint(cwd=tmp_path).stderr
    assert "assumed" not in amplint("--target-torch", "2.6", cwd=tmp_path).stderr
    (tmp_path / "requirements.txt").write_text("torch>=2.2\n")
    assert "assumed" not in amplint(cwd=tmp_path).stderr
    assert "assumed" in amplint("--isolated", cwd=tmp_path).stderr


def test_configuration_holds_by_folder(tree: Path) -> None:
    (tree / "other").mkdir()
    (tree / "other" / "a.py").write_text(UNKNOWN)
    (tree / "other" / "amplint.toml").write_text('ignore = ["AMP002"]\n')
    (tree / "src" / "b.py").write_text(UNKNOWN)
    assert [line.split(":")[0] for line in amplint("--output-format=concise", cwd=tree).stdout.splitlines()] == [
        "src/b.py",
        "src/broken.py",
    ]


def test_per_file_ignores(tree: Path) -> None:
    (tree / "pyproject.toml").write_text('[tool.amplint.per-file-ignores]\n"src/*" = ["AMP0"]\n')
    assert amplint(cwd=tree).returncode == 0
    assert amplint(str(tree / "src"), cwd=tree / "src").returncode == 0


def test_several_processes_say_the_same(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"f{number:02}.py").write_text(UNKNOWN if number % 2 else BROKEN)
    one, many = (amplint("--jobs", jobs, cwd=tmp_path) for jobs in ("1", "3"))
    assert one.stdout == many.stdout == amplint(cwd=tmp_path).stdout
    assert one.stderr == many.stderr
    assert one.stdout.count("AMP00") == 12


def test_show_files(tree: Path) -> None:
    assert amplint("--show-files", cwd=tree).stdout == "clean.py\nsrc/broken.py\n"
    assert amplint("config", "--files", "src", cwd=tree).stdout == "src/broken.py\n"


def test_version_and_help(tmp_path: Path) -> None:
    assert amplint("--version", cwd=tmp_path).stdout == f"amplint {__version__}\n"
    assert "check" in amplint("--help", cwd=tmp_path).stdout
    assert "--unsafe-fixes" in amplint("check", "--help", cwd=tmp_path).stdout


def test_a_reader_that_stops_reading(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"f{number}.py").write_text(BROKEN)
    done = subprocess.run(
        f"PYTHONPATH={Path(__file__).parents[2]} {sys.executable} -m amplint --jobs 1 | head -1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert "Broken" not in done.stderr


def test_rule(tmp_path: Path) -> None:
    by_code = amplint("rule", "AMP000", cwd=tmp_path)
    assert by_code.stdout == amplint("rule", "invalid-syntax", cwd=tmp_path).stdout
    assert by_code.stdout.startswith("AMP000 invalid-syntax\nerror · on by default · fix: none · since 0.1.0\n\n")
    records = json.loads(amplint("rule", "--all", "--output-format=json", cwd=tmp_path).stdout)
    codes = [record["code"] for record in records]
    assert "AMP201" in codes
    assert codes == sorted(codes)
    assert all(record["summary"] and record["explanation"] for record in records)


def test_config(tmp_path: Path) -> None:
    (tmp_path / "amplint.toml").write_text('ignore = ["AMP1"]\n')
    shown = amplint("config", cwd=tmp_path).stdout
    assert f'ignore = ["AMP1"]  # {tmp_path / "amplint.toml"}\n' in shown
    assert 'target-torch = "auto"  # default\n' in shown
    assert json.loads(amplint("config", "--schema", cwd=tmp_path).stdout)["title"] == "amplint"


def test_timing(tree: Path) -> None:
    (tree / "a.py").write_text(UNKNOWN)
    said = amplint("--timing", "--no-cache", cwd=tree).stderr
    for what in ("find files", "read", "parse", "AMP001"):
        assert f" ms  {what}\n" in said
