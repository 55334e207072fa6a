"""Whatever is wrong with the input: a clear message, the right exit code, and the other files are still reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import AMP_CODE, ROOT, amplint

BROKEN = AMP_CODE + "with autocast(:\n    pass\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "broken.py").write_text(BROKEN)
    (tmp_path / "empty.py").write_text("")
    return tmp_path


def test_a_syntax_error_is_a_finding(tree: Path) -> None:
    done = amplint(cwd=tree)
    assert done.returncode == 1
    assert done.stdout.startswith("broken.py:3:15  AMP000 invalid-syntax\n  does not parse: invalid syntax\n")
    assert "Found 1 finding in 1 file (2 files checked)." in done.stderr


def test_a_syntax_error_in_a_file_without_amp_is_none_of_our_business(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def f(:\n")
    done = amplint(cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


def test_a_missing_path(tree: Path) -> None:
    done = amplint("nope.py", "broken.py", cwd=tree)
    assert done.returncode == 2
    assert "amplint: nope.py: does not exist\n" in done.stderr
    assert "AMP000" in done.stdout


def test_an_empty_file(tree: Path) -> None:
    assert amplint("empty.py", cwd=tree).returncode == 0


def test_a_file_that_is_not_utf8(tree: Path) -> None:
    (tree / "latin.py").write_bytes(AMP_CODE.encode() + b"name = '\xe9'\n")
    done = amplint(cwd=tree)
    assert done.returncode == 2
    assert "amplint: latin.py: is not utf-8: byte 0xe9 in line 3; save it as UTF-8 or declare" in done.stderr
    assert "broken.py" in done.stdout


def test_a_declared_encoding(tree: Path) -> None:
    (tree / "latin.py").write_bytes(b"# coding: latin-1\n" + AMP_CODE.encode() + b"name = '\xe9'\n")
    assert "latin.py" not in amplint(cwd=tree).stderr


def test_nul_bytes(tree: Path) -> None:
    (tree / "nul.py").write_bytes(AMP_CODE.encode() + b"\0")
    done = amplint("nul.py", cwd=tree)
    assert done.returncode == 2
    assert "amplint: nul.py: holds NUL bytes" in done.stderr


def test_a_broken_notebook(tree: Path) -> None:
    (tree / "a.ipynb").write_text('{"cells": [import torch.cuda.amp')
    done = amplint(cwd=tree)
    assert done.returncode == 2
    assert "amplint: a.ipynb: is not a notebook: broken JSON" in done.stderr
    assert "broken.py" in done.stdout


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_file(tree: Path) -> None:
    (tree / "secret.py").write_text(AMP_CODE)
    (tree / "secret.py").chmod(0)
    done = amplint(cwd=tree)
    assert done.returncode == 2
    assert "amplint: secret.py: cannot be read: Permission denied" in done.stderr
    assert "broken.py" in done.stdout


def test_a_folder_with_the_name_of_a_file(tree: Path) -> None:
    (tree / "folder.py").mkdir()
    assert amplint(cwd=tree).returncode == 1
    assert amplint("folder.py", cwd=tree).returncode == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["AMP1"]', "unknown key 'selct' (did you mean 'select'?)"),
        ('ignore = ["AMP999"]', "amplint.toml: unknown rule 'AMP999'"),
        ('unfixable = ["AMP999"]', "amplint.toml: unknown rule 'AMP999'"),
        ('per-file-ignores = { "a" = ["AMP999"] }', "unknown rule 'AMP999'"),
        ("fix = true", "amplint.toml: 'fix' is no key; --fix is for the command line only"),
        ('output-format = "jsn"', "amplint.toml: unknown output format 'jsn'"),
        ('required-version = "~=0.1"', "must be as '>=0.1'"),
        ("ignore = [", "is not TOML"),
        ('target-torch = "new"', "amplint.toml: target-torch 'new' is no version"),
    ],
)
def test_wrong_configuration(tree: Path, text: str, message: str) -> None:
    (tree / "amplint.toml").write_text(text)
    done = amplint(cwd=tree)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert amplint("--isolated", cwd=tree).returncode == 1


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--select", "AMP999"], "unknown rule 'AMP999'"),
        (["--ignore", "invalid-syntx"], "(did you mean 'invalid-syntax'?)"),
        (["--output-format", "jsn"], "unknown output format 'jsn' (did you mean 'json'?)"),
        (["--output-format", "json,text"], "two formats for one place"),
        (["--jobs", "0"], "--jobs '0'"),
        (["--config", "no.toml"], "no.toml: cannot be read"),
        (["--target-torch", "two"], "target-torch 'two'"),
        (["--nonsense"], "amplint: unrecognized arguments: --nonsense"),
        (["--fixx"], "amplint: unrecognized arguments: --fixx (did you mean '--fix'?); see"),
        (["--unsafe"], "(did you mean '--unsafe-fixes'?)"),
        (["--fail-on", "warn"], "argument --fail-on: invalid choice: 'warn'"),
        (["rule", "AMP40"], "'AMP40' begins the codes of several rules: AMP401, "),
        (["config", "nowhere"], "nowhere does not exist"),
        (["-", "a.py"], "no other path"),
        (["-o", "no/such/folder/x"], "no/such/folder/x: cannot be written: there is no folder no/such/folder"),
        (["-o", "."], ".: cannot be written: it is a folder"),
        (["--output-format", "sarif:.", "--fix"], ".: cannot be written: it is a folder"),
        (["--exclude", "[z-a]"], "amplint: a pattern cannot be read: bad character range z-a"),
        (["--config", "."], ": cannot be read: Is a directory"),
        (["rule", "AMP999"], "unknown rule 'AMP999'"),
        (["rule"], "name one rule"),
        (["config", "--files", "nope"], "nope does not exist"),
    ],
)
def test_wrong_flags(tree: Path, flags: list[str], message: str) -> None:
    done = amplint(*flags, cwd=tree)
    assert done.returncode == 2
    assert message in done.stderr


_FAULTY = """
import sys
from amplint.engine import tree, work
from amplint.report import json
def fail(*given, **named): raise KeyError("x" * 9000)
def write(report, stream, look): stream.write("[") and fail()
where = {"tree": (tree, "_chunks", fail), "file": (work, "_fill", fail), "report": (json, "write", write)}
setattr(*where[sys.argv.pop(1)])
from amplint.cli.main import main
raise SystemExit(main())
"""


def _faulty(where: str, *flags: str, tree: Path, **more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _FAULTY, where, "check", "--isolated", "--no-cache", *flags, "."]
    env = {**os.environ, "PYTHONPATH": str(ROOT), **more}
    return subprocess.run(command, cwd=tree, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("where", ["tree", "report"])
@pytest.mark.parametrize("to_file", [True, False])
def test_a_fault_of_the_tool_itself(tree: Path, where: str, to_file: bool) -> None:
    """Nothing is half written, and one line says what to report."""
    (tree / "report").write_text("old")
    done = _faulty(where, "--output-format", "json:report" if to_file else "json", tree=tree)
    assert (done.returncode, done.stdout, (tree / "report").read_text()) == (2, "", "old")
    [line] = done.stderr.splitlines()
    assert line.startswith("amplint: internal fault: KeyError: 'xxx")
    assert line.endswith("); please report it, with what AMPLINT_TRACEBACK=1 shows")
    assert len(line) < 400


@pytest.mark.parametrize("where", ["tree", "report", "file"])
def test_a_fault_is_shown_whole_where_that_is_wanted(tree: Path, where: str) -> None:
    done = _faulty(where, "--output-format", "json", tree=tree, AMPLINT_TRACEBACK="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    assert "\nKeyError: 'xxx" in done.stderr
    assert done.stderr.splitlines()[-1].endswith("please report it")


def test_a_fault_in_one_file_is_a_problem_of_it(tree: Path) -> None:
    done = _faulty("file", tree=tree)
    assert done.returncode == 2
    problem = done.stderr.splitlines()[0]
    assert problem.startswith("amplint: broken.py: internal fault: KeyError: 'xxx")
    assert problem.endswith("please report it with the file")


def test_a_name_that_is_not_text(tree: Path) -> None:
    (tree / os.fsdecode(b"caf\xe9.py")).write_text(BROKEN)
    done = amplint(cwd=tree)
    assert done.returncode == 1
    assert "caf\\udce9.py:3:15" in done.stdout


@pytest.mark.parametrize(
    "text",
    ["-" * 900 + "1", "(" * 3000 + ")" * 3000, "a and " * 9000 + "a", "a" + ".b" * 9000, "lambda: " * 9000 + "1"],
)
def test_deep_nesting_is_a_problem_not_silence(tree: Path, text: str) -> None:
    (tree / "deep.py").write_text(f"{AMP_CODE}x = {text}\n")
    done = amplint(cwd=tree)
    assert done.returncode == 2
    assert "amplint: deep.py: nested too deeply to parse\n" in done.stderr
    assert "broken.py" in done.stdout
