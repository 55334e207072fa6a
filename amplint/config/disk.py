"""Reads files that anybody may have put into a tree, without waiting for those that are none; knows no content."""

import errno
import os
import stat
from pathlib import Path

_FLAGS = getattr(os, "O_NONBLOCK", 0)


def read_plain(path: Path | str) -> bytes:
    """The bytes of a file. Raises OSError where it cannot be read, and for pipes, sockets and devices.

    To open a pipe waits for somebody to write, and a device may never end.
    """
    with open(path, "rb", buffering=0, opener=_open) as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
        return stream.read()


def _open(path: str, flags: int) -> int:
    return os.open(path, flags | _FLAGS)
