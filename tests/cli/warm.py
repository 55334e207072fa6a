"""A process that has loaded the command and becomes it in a fork for each call: loading is most of a small check.

A fork ends as `python -m amplint` does, by `enter`, with arguments, folder, environment and streams of its own.
"""

import json
import os
import socket
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from tempfile import TemporaryFile

import amplint

ROOT = Path(__file__).parent.parent.parent
# What needs torch or an editor's libraries, or is loaded by contributors only.
_NOT_LOADED = ("amplint.adapters", "amplint.runtime", "amplint.cli.lsp", "amplint.cli.new_rule", "amplint.__main__")


def can_become(environment: dict[str, str]) -> bool:
    """Whether a fork would be as a new process; what the interpreter reads when it starts comes too late for one."""
    return hasattr(os, "fork") and not any(name.startswith(("PYTHON", "LC_", "LANG")) for name in environment)


def become(
    arguments: tuple[str, ...], cwd: Path, stdin: bytes, environment: dict[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """The finished process."""
    request = json.dumps([arguments, os.fspath(cwd), environment]).encode()
    with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        server = _server()
        socket.send_fds(server, [len(request).to_bytes(8, "big")], [given.fileno(), out.fileno(), err.fileno()])
        server.sendall(request)
        code = int.from_bytes(_read(server, 8), "big", signed=True)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(("amplint", *arguments), code, out.read(), err.read())


@cache
def _server() -> socket.socket:
    """A connection to the process, which ends with it."""
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, "-m", "tests.cli.warm", str(theirs.fileno())],
            cwd=ROOT,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours


def _read(connection: socket.socket, size: int) -> bytes:
    read = b""
    while len(read) < size:
        piece = connection.recv(size - len(read))
        if not piece:
            raise EOFError("the other end is gone")
        read += piece
    return read


def _serve(connection: socket.socket) -> None:
    for module in walk_packages(amplint.__path__, "amplint."):
        if not module.name.startswith(_NOT_LOADED):
            import_module(module.name)
    while True:
        size, streams, _, _ = socket.recv_fds(connection, 8, 3)
        if not size:
            return
        arguments, cwd, environment = json.loads(_read(connection, int.from_bytes(size, "big")))
        child = os.fork()
        if not child:
            connection.close()
            _become(arguments, cwd, environment, streams)
        for stream in streams:
            os.close(stream)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        connection.sendall(code.to_bytes(8, "big", signed=True))


def _become(arguments: list[str], cwd: str, environment: dict[str, str], streams: list[int]) -> None:
    from amplint.cli.main import enter

    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["amplint", *arguments]
        sys.path[0] = cwd
        enter()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(70)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
