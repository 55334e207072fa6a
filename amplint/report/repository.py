"""Paths as a repository's services know them: relative to its root, in slashes."""

import os
from pathlib import Path
from urllib.parse import quote

from amplint.report.report import Report


def repository_root(folder: Path) -> Path:
    """The nearest folder upwards that holds `.git`, else the folder itself."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def from_root(report: Report, path: str, root: Path | None = None) -> str:
    """A file's path relative to a root (the repository's, where none is given); one outside keeps its whole path."""
    whole = Path(os.path.normpath(report.folder / path))
    root = root or repository_root(report.folder)
    return (whole.relative_to(root) if whole.is_relative_to(root) else whole).as_posix()


def uri(path: str) -> str:
    """A path in slashes as a URI: relative where the path is."""
    encoded = quote(path.encode("utf-8", "surrogateescape"), safe="/~!$&'()*+,;=@")
    return f"file://{encoded}" if path.startswith("/") else encoded
