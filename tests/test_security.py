"""What docs/security.md promises, on a tree that does harm to whoever imports, evaluates, runs or believes it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.adapters.test_flake8 import is_installed
from tests.cli.running import ROOT

HARM = "import os, pathlib\npathlib.Path(os.environ['MARK']).joinpath('harm').mkdir(exist_ok=True)\n"
CODE = HARM + "import torch\nfrom torch.cuda.amp import GradScaler, autocast\nscaler = GradScaler()\n"
NAMES = (
    "train.py",
    "__init__.py",
    "conftest.py",
    "setup.py",
    "sitecustomize.py",
    "usercustomize.py",
    "torch.py",
    "libcst.py",
    "json.py",
    "tokenize.py",
    "amplint.py",
    "numpy/__init__.py",
    "pygls/__init__.py",
    "rich/__init__.py",
    "pathspec/__init__.py",
)
OUTSIDE = "outside/precious.py"


def _amplint(*arguments: str, cwd: Path, sent: bytes = b"") -> "subprocess.CompletedProcess[str]":
    """The command as its script starts it: Python looks for no modules where it stands."""
    return _run("amplint", *arguments, cwd=cwd, sent=sent, mark=cwd.parent)


def _run(*command: str, cwd: Path, mark: Path, sent: bytes = b"") -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [sys.executable, "-P", "-m", *command],
        cwd=cwd,
        input=sent,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MARK": str(mark)},
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """A folder that harm would be done to; the tree lies in it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / OUTSIDE).write_text(CODE)
    tree = tmp_path / "tree"
    for name in NAMES:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(CODE)
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": [CODE]}
    shell = {**cell, "source": [f"!mkdir {tmp_path}/harm\n", f"%run {tree}/train.py\n", "import torch.cuda.amp"]}
    book = {"cells": [cell, shell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tree / "book.ipynb").write_text(json.dumps(book))
    dependency = json.dumps(f"torch>=2.4; {HARM}")
    (tree / "pyproject.toml").write_text(f"[project]\ndependencies = [{dependency}]\n[tool.amplint]\npreview = true\n")
    (tree / ".flake8").write_text("[flake8]\nextend-select = AMP\n")
    (tree / "link.py").symlink_to(tmp_path / OUTSIDE)
    (tree / "away").symlink_to(tmp_path / "outside")
    (tree / ".amplint_cache").symlink_to(tmp_path / "outside")
    subprocess.run(["git", "init", "--quiet", str(tree)], check=True)
    for name in ("post-index-change", "pre-commit", "monitor"):
        hook = tree / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\nmkdir {tmp_path}/harm\n")
        hook.chmod(0o755)
    with (tree / ".git" / "config").open("a") as config:
        config.write(f"[core]\n\tfsmonitor = {tree}/.git/hooks/monitor\n")
    return tmp_path


def _unharmed(mark: Path) -> bool:
    written = {path.relative_to(mark).as_posix() for path in mark.rglob("*") if "tree" not in path.parts}
    return written == {"outside", OUTSIDE, "tree"} - {"tree"} and (mark / OUTSIDE).read_text() == CODE


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--fix", "--unsafe-fixes", "--select", "AMP"),
        ("--diff-base", "HEAD", "--diff"),
        ("--add-ignore",),
        ("--fix", "link.py"),
        ("--output-format", "sarif"),
    ],
)
def test_checking_and_fixing_run_nothing_and_write_nothing_elsewhere(mark: Path, flags: tuple[str, ...]) -> None:
    if "--diff-base" in flags:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null"]
        git = ["git", *identity, "-c", "core.fsmonitor=false"]
        subprocess.run([*git, "add", "."], cwd=mark / "tree", check=True)
        subprocess.run([*git, "commit", "-qm", "a"], cwd=mark / "tree", check=True)
    done = _amplint(*flags, cwd=mark / "tree")
    assert "Traceback" not in done.stderr
    assert "pyproject.toml" not in done.stderr
    if "link.py" in flags:
        assert "the link leads out of the tree" in done.stderr
    assert _unharmed(mark)


def test_flake8_runs_nothing(mark: Path) -> None:
    pytest.importorskip("flake8")
    config = mark / "tree" / ".flake8"
    plugins = "" if is_installed() else "[flake8:local-plugins]\nextension = AMP = amplint.adapters.flake8:Plugin\n"
    config.write_text(f"[flake8]\n{plugins}")
    done = _run("flake8", "--config", str(config), "--jobs", "1", ".", cwd=mark / "tree", mark=mark)
    assert "AMP101" in done.stdout
    assert _unharmed(mark)


def test_the_language_server_runs_nothing(mark: Path) -> None:
    pytest.importorskip("pygls")
    place = (mark / "tree" / "train.py").as_uri()
    text = (mark / "tree" / "train.py").read_text()
    messages = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": place, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {
            "method": "textDocument/didOpen",
            "params": {"textDocument": {"uri": place, "languageId": "python", "version": 1, "text": text}},
        },
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    sent = b""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        sent += b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
    done = _amplint("lsp", cwd=mark / "tree", sent=sent)
    assert "capabilities" in done.stdout
    assert _unharmed(mark)


@pytest.mark.parametrize(
    ("config", "command"),
    [
        ('output-format = "json:{outside}"', ("check",)),
        ('output-format = "text,json:train.py"', ("check",)),
        ('baseline = "{outside}"', ("baseline", "write")),
        ('baseline = "../outside/precious.py"', ("baseline", "write")),
        ('baseline = "away/precious.py"', ("baseline", "write")),
    ],
)
def test_a_configuration_names_nothing_to_write(mark: Path, config: str, command: tuple[str, ...]) -> None:
    (mark / "tree" / "amplint.toml").write_text(config.format(outside=mark / OUTSIDE))
    before = (mark / "tree" / "train.py").read_text()
    done = _amplint(*command, cwd=mark / "tree")
    assert done.returncode == 2
    assert _unharmed(mark)
    assert (mark / "tree" / "train.py").read_text() == before


STRANGE = 'a"<b>&\n::error::%0A\x1b[31m\x08\U0001f600.py'


def _parsed_json(text: str) -> None:
    json.loads(text)


def _parsed_lines(text: str) -> None:
    for line in text.splitlines():
        json.loads(line)


def _parsed_xml(text: str) -> None:
    ElementTree.fromstring(text)


def _only_commands(text: str) -> None:
    assert all(line.startswith(("::error title=", "::warning title=", "::notice title=")) for line in text.splitlines())
    assert "%0A%3A%3Aerror" in text


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("json", _parsed_json),
        ("sarif", _parsed_json),
        ("gitlab", _parsed_json),
        ("json-lines", _parsed_lines),
        ("junit", _parsed_xml),
        ("github", _only_commands),
    ],
)
def test_a_name_breaks_out_of_no_format(tmp_path: Path, name: str, holds: Callable[[str], None]) -> None:
    (tmp_path / STRANGE).write_text("import torch\nfrom torch.cuda.amp import autocast\nwith autocast(): pass\n")
    done = _amplint("--isolated", "--output-format", name, cwd=tmp_path)
    assert done.returncode == 1
    holds(done.stdout)
    assert "\x1b" not in done.stdout
    assert "\x08" not in done.stdout
