"""`amplint run` and `amplint verify` on the command line: what they print, write and return."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("torch")

from amplint.cli.parser import parse
from amplint.runtime.drive import Driver

ROOT = Path(__file__).parent.parent.parent
LOOPS = ROOT / "tests/runtime/loops"
GOOD = (LOOPS / "mlp.py").read_text()
BAD = GOOD.replace("        scaler.unscale_(optimizer)\n", "")
OLD = GOOD.replace("from torch.amp import GradScaler, autocast", "from torch.cuda.amp import GradScaler, autocast")
OLD = OLD.replace('GradScaler("cpu", init_scale', "GradScaler(init_scale").replace(
    'autocast("cpu", dtype', "autocast(dtype"
)


def amplint(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "NO_COLOR": "1"} | variables
    command = [sys.executable, "-m", "amplint", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.fixture
def script(tmp_path):
    def make(text: str) -> Path:
        (tmp_path / "train.py").write_text(text)
        return tmp_path

    return make


@pytest.fixture(scope="module")
def driver():
    with Driver(time_limit=60) as shared:
        yield shared


@pytest.fixture
def run_warmed(driver, monkeypatch, capsys):
    """`amplint run` with torch loaded before: its exit code, and what it says on standard error."""

    def run(folder: Path, *arguments: str) -> tuple[int, str]:
        monkeypatch.chdir(folder)
        monkeypatch.setattr("amplint.cli.run.Driver", lambda *given, **named: nullcontext(driver))
        options = parse(["run", *arguments])
        return options.run(options), capsys.readouterr().err

    return run


def test_run_reports_what_it_sees(script):
    result = amplint(script(BAD), "run", "--output-format", "concise", "train.py")
    assert result.returncode == 1
    assert [line.split()[:2] for line in result.stdout.splitlines()] == [["train.py:19:9:", "AMP201"]]
    assert "8 optimizer steps on cpu, 0 skipped; 1 finding." in result.stderr
    assert sorted(path.name for path in Path(script(BAD)).iterdir()) == ["train.py"]


def test_run_of_a_correct_script(script):
    result = amplint(script(GOOD), "run", "--steps", "2", "train.py")
    assert (result.returncode, result.stdout) == (0, "")
    assert "2 optimizer steps" in result.stderr


def test_run_honours_comments_and_settings(script):
    silenced = BAD.replace("(model.parameters(), 1.0)", "(model.parameters(), 1.0)  # amplint: ignore[AMP201]")
    assert amplint(script(silenced), "run", "train.py").returncode == 0


def test_run_writes_json_and_a_trace(script):
    folder = script(BAD)
    result = amplint(folder, "run", "--output-format", "json", "--trace", "run.jsonl", "train.py")
    (finding,) = json.loads(result.stdout)
    assert (finding["code"], finding["location"]) == ("AMP201", {"row": 19, "column": 9})
    records = [json.loads(line)["record"] for line in (folder / "run.jsonl").read_text().splitlines()]
    assert records[0] == "start"
    assert records[-1] == "outcome"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("print('nothing')\n", "without an optimizer step"),
        ("raise KeyError('missing')\n", "KeyError: 'missing'"),
        ("input()\n", "asked for input"),
        ("import sys\nsys.exit(4)\n", "exit status 4"),
        ("import os\nos._exit(3)\n", "ended without a word"),
    ],
)
def test_run_of_a_script_that_shows_nothing(script, run_warmed, text, message):
    code, said = run_warmed(script(text), "train.py")
    assert code == 2
    assert message in said


def test_run_of_no_script(tmp_path):
    result = amplint(tmp_path, "run", "missing.py")
    assert result.returncode == 2
    assert "missing.py: no such script" in result.stderr
    assert amplint(tmp_path, "run").returncode == 2


def test_verify_of_a_correct_script(script):
    folder = script(GOOD)
    for name in ("home", "temporary"):
        (folder / name).mkdir()
    own = {"HOME": str(folder / "home"), "TMPDIR": str(folder / "temporary")}
    result = amplint(folder, "verify", "--report", "page.html", "train.py", **own)
    assert result.returncode == 0, result.stdout
    assert "the program as it is: confirmed" in result.stdout
    assert "Is AMP worth it here?" in result.stdout
    page = (folder / "page.html").read_text()
    assert page.count("<svg") == 1
    assert "<script" not in page
    assert "src=" not in page
    assert sorted(path.name for path in folder.iterdir()) == ["home", "page.html", "temporary", "train.py"]
    assert not any((folder / "home").rglob("*"))
    left = {path.name for path in (folder / "temporary").iterdir() if not path.name.startswith("torchinductor")}
    assert not left, "its own folder goes away with it; the other one is torch's"


def test_verify_without_fixes_refutes_a_wrong_script(script):
    result = amplint(script(BAD), "verify", "--no-fix", "--no-worth", "--output-format", "json", "train.py")
    assert result.returncode == 1
    data = json.loads(result.stdout)
    assert data["script"]["conclusion"] == "refuted"
    assert [check["passed"] for check in data["script"]["checks"]] == [True, False, True, False, True]


def test_verify_confirms_a_migration(script):
    folder = script(OLD)
    result = amplint(folder, "verify", "--no-worth", "train.py")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "AMP101 deprecated-amp-namespace: confirmed" in result.stdout
    assert "bitwise equal" in result.stdout
    assert (folder / "train.py").read_text() == OLD


def test_verify_of_a_script_that_fails(script):
    result = amplint(script("raise SystemExit(3)\n"), "verify", "train.py")
    assert result.returncode == 2


@pytest.mark.parametrize(
    ("text", "arguments", "advice"),
    [
        ("import nowhere_to_be_found\n", ["train.py"], f"It ran in {sys.executable}: install there"),
        ("import sys\nsys.exit(2)\n", ["train.py"], "behind its name: `amplint run SCRIPT ARGS`."),
        ("", ["-m", "nowhere_to_be_found"], "amplint: No module named nowhere_to_be_found\n"),
    ],
)
def test_what_to_do_about_a_program_that_does_not_get_to_its_training(script, run_warmed, text, arguments, advice):
    code, said = run_warmed(script(text), *arguments)
    assert code == 2
    assert advice in said
    assert "amplint.runtime" not in said


@pytest.mark.parametrize(
    ("command", "place", "reason"),
    [
        (["verify", "--report"], "train.py", "is a program, so nothing else is written there"),
        (["verify", "--report"], ".", "it is a folder"),
        (["run", "--output-file"], "train.py", "is a program"),
        (["run", "--trace"], "gone/run.jsonl", "there is no folder gone"),
    ],
)
def test_what_a_run_leaves_takes_the_place_of_no_program(script, command, place, reason):
    folder = script(GOOD)
    result = amplint(folder, *command, place, "train.py")
    assert (result.returncode, result.stdout) == (2, "")
    assert reason in result.stderr
    assert (folder / "train.py").read_text() == GOOD


@pytest.mark.parametrize(
    ("flag", "value"), [("--seed", "-1"), ("--seed", "4294967296"), ("--time-limit", "nan"), ("--time-limit", "-1")]
)
def test_numbers_that_no_run_can_have(script, flag, value):
    result = amplint(script(GOOD), "run", f"{flag}={value}", "train.py")
    assert (result.returncode, result.stdout) == (2, "")
    assert f"argument {flag}: '{value}' is no number" in result.stderr
