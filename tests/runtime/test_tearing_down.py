"""Whoever ends amplint ends the program that it runs, and all that this started; nothing is left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ENDLESS = """
import subprocess, sys, time
from pathlib import Path
own = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
Path(sys.argv[1]).write_text(str(own.pid))
time.sleep(300)
"""


def _is_alive(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


def _until(condition, seconds: float = 60) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize(
    ("command", "number", "word"),
    [
        ("run", signal.SIGINT, "The program was interrupted; it stood here"),
        ("verify", signal.SIGINT, "amplint: Interrupted"),
        ("run", signal.SIGTERM, ""),
        ("run", signal.SIGKILL, ""),
    ],
    ids=lambda each: getattr(each, "name", None),
)
def test_nothing_outlives_the_tool(tmp_path, command, number, word):
    script, note, own = tmp_path / "train.py", tmp_path / "own", tmp_path / "tmp"
    script.write_text(ENDLESS)
    own.mkdir()
    tool = _started(command, str(script), str(note), folder=own)
    assert _until(lambda: note.exists() and note.read_text())
    worker = int(note.read_text())
    assert _is_alive(worker)
    tool.send_signal(number)
    _, said = tool.communicate(timeout=60)
    assert tool.returncode in ((130,) if number is signal.SIGINT else (-number, 128 + number))
    assert word in said if word else not said
    assert "Traceback" not in said
    assert _until(lambda: not _is_alive(worker))
    assert _until(lambda: not list(own.glob("amplint-*")))


def _started(*words: str, folder: Path) -> "subprocess.Popen[str]":
    """amplint with its temporary files in a folder; a shell starts what runs in the background deaf to interrupts."""
    return subprocess.Popen(
        [sys.executable, "-m", "amplint", *words],
        env=os.environ | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


WRONG_FOR_EVER = """
import sys, torch
from pathlib import Path
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
turn = 0
while True:
    optimizer.zero_grad()
    scaler.scale(model(torch.ones(2, 4)).mean()).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    turn += 1
    if turn == 5:
        Path(sys.argv[1]).write_text("five")
"""


@pytest.mark.parametrize("flags", [[], ["--nproc", "2"]], ids=["one process", "two ranks"])
def test_an_interrupt_of_a_run_leaves_what_was_seen(tmp_path, flags):
    script, note = tmp_path / "train.py", tmp_path / "note"
    script.write_text(WRONG_FOR_EVER)
    tool = _started("run", *flags, str(script), str(note), folder=tmp_path)
    assert _until(lambda: note.exists() and note.read_text())
    tool.send_signal(signal.SIGINT)
    found, said = tool.communicate(timeout=60)
    assert tool.returncode == 130
    assert "train.py:11:5  AMP201" in found
    assert "The program was interrupted; it stood here" in said
    assert "Traceback" not in said


def _run(directory: Path, *words: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    extra = {} if path is None else {"PYTHONPATH": os.pathsep.join([str(path), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "amplint", *words]
    return subprocess.run(command, cwd=directory, env=os.environ | extra, capture_output=True, text=True, timeout=100)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("note.ipynb",), "a notebook; write it out as a script first"),
        (("folder",), "a directory; name a script in it, or run a package with -m"),
        (("absent.py",), "no such script"),
        (("-m", "folder/main.py"), "a module is named with dots"),
    ],
)
@pytest.mark.parametrize("command", ["run", "verify"])
def test_what_is_no_program_is_refused(tmp_path, command, words, said):
    (tmp_path / "note.ipynb").write_text("{}")
    (tmp_path / "folder").mkdir()
    result = _run(tmp_path, command, *words)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_flag_of_another_command_is_called_that(tmp_path):
    result = _run(tmp_path, "run", "--unsafe-fixes", "train.py")
    assert result.returncode == 2
    assert "unrecognized arguments: --unsafe-fixes (a flag of other commands)" in result.stderr


@pytest.mark.parametrize(
    ("torch", "said"),
    [
        ("raise ModuleNotFoundError(\"No module named 'torch'\")", "No module named 'torch'"),
        ("__version__ = '2.0.1+cu117'", "torch 2.0.1+cu117 is older than 2.3"),
        ("raise OSError('libcudart.so.11.0: cannot open shared object file')", "libcudart.so.11.0: cannot open"),
    ],
)
def test_a_torch_that_does_not_do_is_named_and_how_to_install_it(tmp_path, torch, said):
    (tmp_path / "path/torch").mkdir(parents=True)
    (tmp_path / "path/torch/__init__.py").write_text(torch + "\n")
    (tmp_path / "train.py").write_text("print('ran')\n")
    result = _run(tmp_path, "run", "train.py", path=tmp_path / "path")
    assert result.returncode == 2
    assert said in result.stderr
    assert '-m pip install --upgrade "amplint[torch]"' in result.stderr
    assert "Traceback" not in result.stderr
