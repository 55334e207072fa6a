"""Writes fixed files to disk, whole or not at all; knows nothing of findings."""

import os
import stat
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from amplint.config.disk import read_plain
from amplint.model.finding import Problem
from amplint.source.text import Source


def write_source(path: Path, before: Source, after: Source, roots: Sequence[Path]) -> Problem | None:
    """Put the new text in the place of the old one. Returns a problem, and leaves the file alone, where that fails.

    A symbolic link is written through to its target where that lies below one of the roots. Mode and owner are kept.
    """
    try:
        target = path.resolve(strict=True)
        if path.is_symlink() and not any(target.is_relative_to(root.resolve()) for root in roots):
            return _problem(before, f"not fixed: the link leads out of the tree, to {target}")
        if read_plain(target) != before.raw:
            return _problem(before, "not fixed: the file changed since it was read; run again")
        if not os.access(target, os.W_OK):
            return _problem(before, "not fixed: the file is read-only")
        _replace(target, after.raw)
    except OSError as error:
        return _problem(before, f"not fixed: cannot be written: {error.strerror or error}")
    except RuntimeError:  # a link that leads to itself by now
        return _problem(before, "not fixed: the file changed since it was read; run again")
    return None


def _problem(source: Source, message: str) -> Problem:
    return Problem(source.path, message)


def _replace(target: Path, raw: bytes) -> None:
    """Write beside the target and rename over it, so that no moment sees half a file."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".amplint", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(raw)
        _take_after(name, target.stat())
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _take_after(name: str, status: os.stat_result) -> None:
    """Give a new file the owner and the mode of the old one."""
    if hasattr(os, "chown"):
        with suppress(OSError):  # only root gives files away, and a folder may be on a disk that knows no owners
            os.chown(name, status.st_uid, status.st_gid)
    os.chmod(name, stat.S_IMODE(status.st_mode))
