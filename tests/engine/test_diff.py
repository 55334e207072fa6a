"""Diffs that `patch` and `git apply` take."""

import json
import subprocess
from pathlib import Path

import pytest

from amplint.engine.diff import diff
from amplint.source.text import Source, source_from_bytes


def _sources(old: bytes, new: bytes, path: str = "a.py") -> tuple[Source, Source]:
    return source_from_bytes(old, path), source_from_bytes(new, path)


def _book(*cells: str, indent: int | None = 1) -> bytes:
    records = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": [cell]} for cell in cells]
    book = {"cells": records, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book, indent=indent, ensure_ascii=False).encode()


def test_a_file() -> None:
    old, new = _sources(b"a = 1\nb = 2\n", b"a = 1\nb = 3\n")
    assert diff(old, new) == b"--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
    assert diff(old, old) == b""


def test_a_notebook_names_its_cells() -> None:
    old, new = _book("a = 1", "b = 2", "c = 3"), _book("a = 1", "b = 5", "c = 3")
    shown = diff(*_sources(old, new, "n.ipynb")).decode()
    assert shown.startswith("--- n.ipynb\n+++ n.ipynb\n@@ -")
    assert shown.count(" @@ cell 2\n") == 1
    assert '-    "b = 2"\n+    "b = 5"\n' in shown
    flat = diff(*_sources(_book("a = 1", "b = 2", indent=None), _book("a = 2", "b = 3", indent=None), "n.ipynb"))
    assert flat.count(b" @@ cell 1, 2\n") == 1


CASES = {
    "plain.py": (b"a = 1\nb = 2\n", b"a = 1\nc = 0\nb = 3\n"),
    "two words.py": (b"a = 1\n", b"a = 2\n"),
    'a "name"\nof \\ two lines.py': (b"a = 1\n", b"a = 2\n"),
    "crlf.py": (b"a = 1\r\nb = 2\r\n", b"a = 1\r\nb = 3\r\n"),
    "mixed.py": (b"a = 1\r\nb = 2\nc = 3\r\n", b"a = 1\r\nb = 3\nc = 3\r\n"),
    "open.py": (b"a = 1", b"a = 2"),
    "bom.py": (b"\xef\xbb\xbfa = 1\n", b"\xef\xbb\xbfa = 2\n"),
    "latin.py": (b"# coding: latin-1\na = '\xe9'\n", b"# coding: latin-1\nb = '\xe9'\n"),
    "feed.py": (b"a = 1\n\x0cb = 2\n", b"a = 2\n\x0cb = 2\n"),
    "book.ipynb": (_book("a = 1", "b = 'é'"), _book("a = 1", "b = 'ü'")),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "command", [["git", "apply", "-p0", "all.patch"], ["patch", "-p0", "--binary", "-i", "all.patch"]]
)
def test_it_applies(tmp_path: Path, name: str, command: list[str]) -> None:
    old, new = CASES[name]
    (tmp_path / name).write_bytes(old)
    (tmp_path / "all.patch").write_bytes(diff(*_sources(old, new, name)))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / name).read_bytes() == new
