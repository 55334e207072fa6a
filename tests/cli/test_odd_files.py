"""Trees in which not everything is a file that can be read: nothing waits, nothing is lost, the rest is reported."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run
from amplint.source import discover
from tests.cli.running import AMP_CODE, ROOT, amplint

CODE = AMP_CODE + "with autocast():\n    pass\n"
FIXED = 'import torch\nfrom torch.amp import autocast\nwith autocast("cuda"):\n    pass\n'
posix = pytest.mark.skipif(os.name != "posix", reason="names and kinds of files are POSIX's")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "good.py").write_text(CODE)
    return tmp_path


def _odd(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    os.mkfifo(tree / "pipe.ipynb")
    os.mkfifo(tree / "helper.py")
    for name in (".gitignore", "pyproject.toml", "amplint.toml", "requirements.txt", "setup.cfg", "__init__.py"):
        os.mkfifo(tree / name)
    (tree / "importer.py").write_text("from helper import x\n" + CODE)
    place = os.getcwd()
    os.chdir(tree)  # an address may not be long
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("socket.py")
    os.chdir(place)
    (tree / "endless.py").symlink_to("/dev/zero")
    (tree / "lost.py").symlink_to("nowhere.py")
    (tree / "one.py").symlink_to("other.py")
    (tree / "other.py").symlink_to("one.py")
    (tree / "below").symlink_to(".")
    (tree / "folder.py").mkdir()


@posix
@pytest.mark.parametrize("has_git", [False, True])
def test_what_is_no_file_is_passed_over_without_waiting(tree: Path, has_git: bool) -> None:
    if has_git:
        subprocess.run(["git", "init", "--quiet", "."], cwd=tree, check=True)
    _odd(tree)
    if has_git:
        (tree / ".gitignore").unlink()  # git itself waits for it
    done = amplint("--output-format", "concise", cwd=tree)
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["good.py", "importer.py"]
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


@posix
def test_what_is_no_file_and_was_named_is_a_problem(tree: Path) -> None:
    _odd(tree)
    done = amplint("--isolated", "pipe.py", "endless.py", "lost.py", "one.py", "socket.py", "", "good.py", cwd=tree)
    assert done.returncode == 2
    assert done.stderr.splitlines()[:6] == [
        "amplint: pipe.py: is neither a file nor a folder",
        "amplint: endless.py: is neither a file nor a folder",
        "amplint: lost.py: is a link that leads nowhere",
        "amplint: one.py: is a link that leads nowhere",
        "amplint: socket.py: is neither a file nor a folder",
        "amplint: : does not exist",
    ]
    assert "good.py:2:1" in done.stdout


def test_an_empty_tree(tmp_path: Path) -> None:
    done = amplint(cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "No findings (0 files checked).\n")


def _checked(tree: Path, **wanted: bool) -> tuple[list[str], list[str]]:
    report = run(["."], Resolver({"isolated": True}, tree), tree, Wanted(jobs=1, **wanted)).report
    return [finding.path for finding in report.findings], [f"{p.path}: {p.message}" for p in report.problems]


def test_a_folder_that_cannot_be_listed_is_a_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "secret").mkdir()
    listed = os.scandir

    def scandir(path: str) -> object:
        if "secret" in str(path):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(discover.os, "scandir", scandir)
    assert _checked(tree) == (["good.py"], ["secret/: cannot be listed: Permission denied"])


def test_what_vanishes_between_looking_and_reading_is_no_problem(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "folder").mkdir()
    for name in ("gone.py", "folder/gone.py"):
        (tree / name).write_text(CODE)
    found = discover._in_folder

    def vanish(*given: object) -> object:
        files = found(*given)  # type: ignore[arg-type]
        for name in ("gone.py", "folder/gone.py"):
            (tree / name).unlink()
        (tree / "folder").rmdir()
        return files

    monkeypatch.setattr(discover, "_in_folder", vanish)
    assert _checked(tree) == (["good.py"], [])


@posix
def test_a_fix_keeps_links_and_modes_and_spares_other_names_of_a_file(tree: Path) -> None:
    (tree / "script").write_text(CODE)
    (tree / "script").chmod(0o751)
    (tree / "link.py").symlink_to("script")
    (tree / "twin.py").write_text(CODE)
    outside = tree.parent / f"{tree.name}-twin"
    os.link(tree / "twin.py", outside)
    assert amplint("--fix", "--isolated", cwd=tree).returncode == 0
    assert (tree / "script").read_text() == FIXED
    assert (tree / "link.py").is_symlink()
    assert stat.S_IMODE((tree / "script").stat().st_mode) == 0o751
    assert ((tree / "twin.py").read_text(), outside.read_text()) == (FIXED, CODE)


@posix
@pytest.mark.parametrize("named", [("script", "one.py", "two.py"), ("two.py", "."), (".",), ("again", ".")])
def test_a_file_with_several_names_is_fixed_once(tree: Path, named: tuple[str, ...]) -> None:
    (tree / "good.py").rename(tree / "script")
    for link in ("one.py", "two.py"):
        (tree / link).symlink_to("script")
    (tree / "again").symlink_to(".")
    done = amplint("--fix", "--isolated", *named, cwd=tree)
    assert (done.returncode, done.stdout) == (0, "")
    assert "Fixed 1 finding: 1 migration.\nNo findings (1 file checked)." in done.stderr
    assert (tree / "script").read_text() == FIXED


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_a_fix_keeps_the_owner(tree: Path) -> None:
    os.chown(tree / "good.py", 12345, 54321)
    (tree / "good.py").chmod(0o4750)
    assert amplint("--fix", "--isolated", cwd=tree).returncode == 0
    status = (tree / "good.py").stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (12345, 54321, 0o4750)


def test_a_terminal_of_an_odd_width(tree: Path) -> None:
    for name in ("COLUMNS", "LINES"):
        done = amplint("--isolated", "--color", "always", cwd=tree, environment={name: "²"})
        assert (done.returncode, "good.py:2:1" in done.stdout) == (1, True)


@posix
@pytest.mark.parametrize("named", [".", "inside.py", "folder", "folder/inside.py"])
def test_a_fix_never_leaves_the_tree(tree: Path, named: str) -> None:
    outside = tree.parent / f"{tree.name}-outside.txt"
    outside.write_text(CODE)
    (tree / "folder").mkdir()
    for name in ("inside.py", "folder/inside.py"):
        (tree / name).symlink_to(outside)
    for flag in ("--fix", "--add-ignore"):
        amplint(flag, "--isolated", named, cwd=tree)
        assert outside.read_text() == CODE


@posix
def test_a_file_in_a_folder_that_takes_no_others_is_left_alone(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from amplint.engine import write

    def refuse(**given: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(write.tempfile, "mkstemp", refuse)
    done = run(["."], Resolver({"isolated": True}, tree), tree, Wanted(jobs=1, fixes=True))
    [(path, old, new)] = done.changed
    problem = write.write_source(path, old, new, [tree])
    assert problem is not None
    assert problem.message == "not fixed: cannot be written: Permission denied"
    assert (tree / "good.py").read_text() == CODE


def test_names_steer_no_terminal_and_no_log(tree: Path) -> None:
    name = "a\n::error::x\x1b[31m\u202e.py"
    (tree / name).write_text(CODE + "# \x1b[2J\n")
    (tree / f"b{name}").write_bytes(b"import torch.cuda.amp\n\0")
    for flags in ((), ("--output-format", "concise"), ("--fix", "--diff", "--color", "always")):
        done = amplint("--isolated", *flags, cwd=tree)
        for text in (done.stdout, done.stderr):
            assert "\n::error" not in text
            assert "\x1b[31m\u202e" not in text
            assert "\x1b[2J" not in text
        assert ("a\\n::error::x" in done.stdout) or ('"a\\012::error::x\\033[31m' in done.stdout)
        assert "ba\\n::error::x\\x1b[31m\\u202e.py: holds NUL bytes" in done.stderr


@posix
@pytest.mark.parametrize("closed", ["1", "2", "0", "12"])
def test_closed_streams(tree: Path, closed: str) -> None:
    (tree / "empty").mkdir()
    command = f'"{sys.executable}" -m amplint --isolated . ' + " ".join(f"{number}>&-" for number in closed)
    done = subprocess.run(
        command, cwd=tree, shell=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert (b"good.py" in done.stdout) == ("1" not in closed)


@posix
@pytest.mark.parametrize("format_", ["text", "json"])
def test_a_full_standard_output_is_said(tree: Path, format_: str) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no full device")
    command = f'"{sys.executable}" -m amplint --isolated --output-format {format_} . > /dev/full'
    done = subprocess.run(
        command, cwd=tree, shell=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == 2
    assert done.stderr == b"amplint: cannot go on: [Errno 28] No space left on device\n"


@posix
@pytest.mark.parametrize("command", ["--version", "rule AMP201", "rule --all", "config --schema"])
@pytest.mark.parametrize("stream", [">&-", "2>&-", ">&- 2>&-", "> /dev/full", "| true"])
def test_small_commands_have_no_say_in_their_streams(command: str, stream: str, tmp_path: Path) -> None:
    if "full" in stream and not os.path.exists("/dev/full"):
        pytest.skip("there is no full device")
    done = subprocess.run(
        f'"{sys.executable}" -m amplint {command} {stream}',
        cwd=tmp_path,
        shell=True,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    full = b"amplint: cannot go on: [Errno 28] No space left on device\n"
    assert (done.returncode, done.stderr) == ((2, full) if "full" in stream else (0, b""))


def test_a_terminal_that_knows_only_ascii(tree: Path) -> None:
    (tree / "gr\u00fc\u00df.py").write_text(CODE + "with autocast(): x = '\u2713\U0001f600'\n", encoding="utf-8")
    done = amplint("--isolated", cwd=tree, environment={"LC_ALL": "C", "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert "gr\\xfc\\xdf.py:2:1" in done.stdout
    assert "x = '\\u2713\\U0001f600'" in done.stdout


def test_very_many_arguments(tree: Path) -> None:
    names = [f"a_name_that_is_not_short_{number}.py" for number in range(3000)]
    for name in names:
        (tree / name).write_text("x = 1\n")
    done = amplint("--isolated", "good.py", *names, cwd=tree)
    assert (done.returncode, "(3001 files checked)" in done.stderr) == (1, True)
