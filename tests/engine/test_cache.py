import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amplint.source.discover import CACHE_FOLDER as FOLDER
from tests.cli.running import amplint

ROOT = Path(__file__).parent.parent.parent
TRAIN = """\
import torch
from steps import learn

def train(model, loader, optimizer):
    for batch in loader:
        with torch.autocast("cuda"):
            loss = model(batch).sum()
            learn(loss)
        optimizer.step()
"""
BACKWARD = "def learn(loss):\n    loss.backward()\n"
PASS = """\
import torch

def one_pass(model, optimizer, batches):
    scaler = torch.amp.GradScaler("cuda")
    for batch in batches:
        optimizer.zero_grad()
        scaler.scale(model(batch).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
"""
LOOPING = """\
from passes import one_pass

def main(model, optimizer, schedule, batches):
    for _ in range(3):
        one_pass(model, optimizer, batches)
        schedule.step()
"""
NO_BACKWARD = "def learn(loss):\n    print(loss.backward)\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "steps.py").write_text(BACKWARD)
    (tmp_path / "other.py").write_text("x = 1\n")
    make_old(tmp_path)
    return tmp_path


def make_old(tree: Path) -> None:
    """Back-date the files, for what has just been written is never trusted."""
    for path in tree.rglob("*.py"):
        os.utime(path, (1_000_000_000 + len(path.read_bytes()), 1_000_000_000))


def lint(tree: Path, *arguments: str, code: str = "") -> tuple[list[str], str]:
    given = ("check", "--output-format", "json", *(arguments or (".",)))
    if code:
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", code, *given]
        done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
    else:
        done = amplint(*given, cwd=tree)
    assert done.returncode in (0, 1), done.stderr
    return [item["code"] for item in json.loads(done.stdout)], done.stdout


WITHOUT_PARSER = """
import sys
sys.modules["libcst"] = None
from amplint.cli.main import main
sys.exit(main())
"""


def test_a_second_run_says_the_same_without_parsing(tree: Path) -> None:
    first, text = lint(tree)
    assert first == ["AMP401"]
    assert lint(tree, code=WITHOUT_PARSER) == (first, text)


BRANCHES = """import torch

def learn(model, optimizer, batches, is_fresh, is_due):
    scaler = torch.amp.GradScaler("cuda")
    for batch in batches:
        if is_fresh:
            optimizer.zero_grad()
        scaler.scale(model(batch)).backward()
        if is_due:
            scaler.step(optimizer)
            scaler.update()
"""
FEW_STATES = """
import sys
from amplint.flow import fixpoint
fixpoint.MOST_ARRIVALS = 4
from amplint.facts import protocol
protocol.MOST_STATES = 1
from amplint.cli.main import main
sys.exit(main())
"""


def test_what_was_too_much_to_judge_is_said_again(tree: Path) -> None:
    command = [sys.executable, "-c", FEW_STATES, "check", "train.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    (tree / "train.py").write_text(BRANCHES)
    make_old(tree)
    runs = [
        subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False)
        for _ in range(2)
    ]
    assert "too many paths" in runs[0].stderr
    assert (runs[0].stdout, runs[0].stderr) == (runs[1].stdout, runs[1].stderr)
    stored = [text for path in (tree / ".amplint_cache").rglob("*.json") for text in [path.read_text()]]
    assert any("too many paths" in text for text in stored)


def test_text_reports_show_the_source_again(tree: Path) -> None:
    arguments = ("--output-format", "text", ".")
    command = [sys.executable, "-m", "amplint", "check", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    runs = [
        subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, check=False).stdout
        for _ in range(2)
    ]
    assert "learn(loss)" in runs[0]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("arguments", [("--isolated", "."), ("train.py",), (".", "--ignore", "AMP401")])
def test_other_arguments_have_their_own_memory(tree: Path, arguments: tuple[str, ...]) -> None:
    lint(tree)
    assert lint(tree, *arguments) == lint(tree, *arguments, "--no-cache")


def test_a_changed_context_file_counts(tree: Path) -> None:
    assert lint(tree)[0] == ["AMP401"]
    (tree / "steps.py").write_text(NO_BACKWARD)
    assert lint(tree)[0] == []
    (tree / "steps.py").write_text(BACKWARD)
    assert lint(tree)[0] == ["AMP401"]


def test_a_context_file_that_is_not_named_counts(tree: Path) -> None:
    assert lint(tree, "train.py")[0] == ["AMP401"]
    (tree / "steps.py").write_text(NO_BACKWARD)
    assert lint(tree, "train.py")[0] == []


def test_a_changed_importer_counts(tmp_path: Path) -> None:
    """What a file is called by decides too, also where the caller names nothing of AMP."""
    (tmp_path / "passes.py").write_text(PASS)
    (tmp_path / "main.py").write_text(LOOPING)
    make_old(tmp_path)
    assert lint(tmp_path)[0] == ["AMP208"]
    assert lint(tmp_path, "passes.py")[0] == ["AMP208"]
    (tmp_path / "main.py").write_text(LOOPING.replace("for _ in range(3)", "if batches"))
    assert lint(tmp_path)[0] == []
    assert lint(tmp_path, "passes.py")[0] == []


def test_a_change_of_equal_size_within_the_clock_counts(tree: Path) -> None:
    (tree / "train.py").write_text(TRAIN)
    assert lint(tree)[0] == ["AMP401"]
    status = (tree / "train.py").stat()
    (tree / "train.py").write_text(TRAIN.replace("learn(loss)", "print(loss)"))
    os.utime(tree / "train.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert lint(tree)[0] == []


def test_a_new_module_that_takes_an_import_over_counts(tree: Path) -> None:
    assert lint(tree)[0] == ["AMP401"]
    (tree / "steps").mkdir()
    (tree / "steps" / "__init__.py").write_text(NO_BACKWARD)
    make_old(tree)
    assert lint(tree)[0] == []


def test_settings_count(tree: Path) -> None:
    assert lint(tree)[0] == ["AMP401"]
    (tree / "amplint.toml").write_text('ignore = ["AMP401"]\n')
    assert lint(tree)[0] == []


def test_suppressions_are_remembered(tree: Path) -> None:
    (tree / "train.py").write_text(TRAIN.replace("learn(loss)", "learn(loss)  # amplint: ignore[AMP401]"))
    (tree / "other.py").write_text("import torch.cuda.amp\nx = 1  # amplint: ignore[AMP401]\n")
    make_old(tree)
    first = lint(tree)
    assert "AMP001" in first[0]
    assert "AMP401" not in first[0]
    assert lint(tree, code=WITHOUT_PARSER) == first


@pytest.mark.parametrize("text", ["", "{", "[]", '{"stamps": {"x": [1]}}', '{"stamps": 3}', "\x00"])
def test_a_damaged_memory_is_no_memory(tree: Path, text: str) -> None:
    first = lint(tree)
    for path in (tree / FOLDER).glob("*.json"):
        path.write_text(text)
    assert lint(tree) == first
    assert lint(tree, code=WITHOUT_PARSER) == first


def test_a_strange_outcome_is_checked_again(tree: Path) -> None:
    first = lint(tree)
    (path,) = (tree / FOLDER).glob("*.json")
    stored = json.loads(path.read_text())
    for entry in stored["entries"].values():
        entry[0] = ["object", "Path", "x"]
    path.write_text(json.dumps(stored))
    assert lint(tree) == first


def test_git_ignores_the_memory(tree: Path) -> None:
    lint(tree)
    assert (tree / FOLDER / ".gitignore").read_text().splitlines()[-1] == "*"


def test_nothing_is_written_beside_files_of_elsewhere(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert lint(elsewhere, str(tree))[0] == ["AMP401"]
    assert not list(elsewhere.iterdir())
    assert not (tree / FOLDER).exists()


def test_no_cache_leaves_nothing(tree: Path) -> None:
    lint(tree, "--no-cache", ".")
    assert not (tree / FOLDER).exists()


def test_only_the_newest_runs_are_kept(tree: Path) -> None:
    (tree / FOLDER).mkdir()
    for number in range(40):
        (tree / FOLDER / f"{number:032x}.json").write_text("{}")
    lint(tree)
    assert len(list((tree / FOLDER).glob("*.json"))) == 16


def test_a_change_in_a_file_that_imports_another_is_seen_in_that_one(tmp_path: Path) -> None:
    (tmp_path / "make.py").write_text(
        "import torch\n\ndef step(model, optimizer, batch):\n    scaler = torch.amp.GradScaler('cuda')\n"
        "    scaler.scale(model(batch)).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"
    )
    caller = "import torch.amp\nfrom make import step\n\ndef train(model, optimizer, loader):\n"
    caller += "    for batch in loader:\n        optimizer.zero_grad()\n"
    (tmp_path / "main.py").write_text(caller + "    step(model, optimizer, batch)\n")
    make_old(tmp_path)
    assert lint(tmp_path, "--select", "AMP208")[0] == []
    (tmp_path / "main.py").write_text(caller + "        step(model, optimizer, batch)\n")
    make_old(tmp_path)
    assert lint(tmp_path, "--select", "AMP208")[0] == ["AMP208"]
