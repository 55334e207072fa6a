"""A file as bytes and as the program in it, and the way back for edits; knows nothing of what the program means."""

import codecs
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.config.disk import read_plain
from amplint.model.data import Value
from amplint.source.lines import normalise, splice

if TYPE_CHECKING:
    from amplint.model.edit import Edit
    from amplint.source.notebook import Notebook

_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n|$)")
_FIRST_LINES = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|$)")


# Checking takes some 400 bytes and 5 microseconds for each character of a program that is one large table.
MOST_CHARACTERS = 2_000_000


class SourceError(Exception):
    """A file cannot be read or written as a program; the message says why and what to do."""


class Source(Value, dict=True):
    """One file. path is as the user named it, program is what is parsed: line feeds, no byte order mark.

    In a notebook the program is all cells in order, with magics, shell lines and foreign cells blanked out, one line
    for each line.
    """

    path: str
    raw: bytes
    program: str
    encoding: str = "utf-8"
    has_bom: bool = False
    notebook: "Notebook | None" = None

    @property
    def is_notebook(self) -> bool:
        """Whether lines belong to cells."""
        return self.notebook is not None

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the program, without their newlines; the last is empty where the program ends in a newline."""
        return self.program.split("\n")

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """The cell (from 1, over all cells) and the line in it (from 1), or None outside notebooks."""
        return self.notebook.cell_of(line) if self.notebook else None

    def splice(self, edits: "Sequence[Edit]") -> bytes:
        """The file with the edits made; every byte outside them is kept.

        Raises SourceError where the encoding cannot hold the new text or a notebook edit crosses cells or magics.
        """
        if not edits:
            return self.raw
        return self._prefix + self._encode(self._spliced(self._text, edits))

    def _spliced(self, text: str, edits: "Sequence[Edit]") -> str:
        if self.notebook is None:
            return splice(text, edits)
        from amplint.source.notebook import NotebookError

        try:
            return self.notebook.splice(text, edits)
        except NotebookError as error:
            raise SourceError(str(error)) from error

    @property
    def _prefix(self) -> bytes:
        return codecs.BOM_UTF8 if self.has_bom else b""

    @property
    def _text(self) -> str:
        text = self.raw[len(self._prefix) :].decode(self.encoding)
        # Encodings with shift states do not come back byte for byte.
        if text.encode(self.encoding) != self.raw[len(self._prefix) :]:
            raise SourceError(f"its encoding {self.encoding} cannot be written back byte for byte; convert it to UTF-8")
        return text

    def _encode(self, text: str) -> bytes:
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            bad = text[error.start : error.end]
            raise SourceError(f"its encoding {self.encoding} cannot hold {bad!r}; convert it to UTF-8") from error


def read_source(path: Path, display: str) -> Source:
    """Read a file. Raises SourceError where it cannot be read or decoded."""
    return source_from_bytes(read_bytes(path), display)


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a file. Raises SourceError, with the system's reason, where they cannot be read."""
    try:
        return read_plain(path)
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror or error}") from error


def source_from_bytes(raw: bytes, display: str) -> Source:
    """The source in the bytes of a file; `.ipynb` in the name makes it a notebook. Raises SourceError."""
    has_bom = raw.startswith(codecs.BOM_UTF8)
    body = raw[len(codecs.BOM_UTF8) :] if has_bom else raw
    if display.lower().endswith(".ipynb"):
        return _notebook_source(raw, body, display, has_bom)
    if b"\0" in body:
        raise SourceError("holds NUL bytes, so it is not Python source; exclude it, or save it as UTF-8")
    encoding = _declared_encoding(body, has_bom)
    return Source(display, raw, _bounded(normalise(_decode(body, encoding))), encoding, has_bom)


def _notebook_source(raw: bytes, body: bytes, display: str, has_bom: bool) -> Source:
    # Notebooks are rare; other runs need not load a JSON reader.
    from amplint.source.notebook import NotebookError, read_notebook

    text = _decode(body, "utf-8")
    try:
        notebook, program = read_notebook(text)
    except NotebookError as error:
        raise SourceError(str(error)) from error
    except RecursionError as error:
        raise SourceError("is not a notebook: nested too deeply") from error
    return Source(display, raw, _bounded(program), "utf-8", has_bom, notebook)


def _bounded(program: str) -> str:
    """A program that is not so long that checking it would take the machine's memory. Raises SourceError."""
    if len(program) > MOST_CHARACTERS:
        raise SourceError(f"is not checked: it is longer than {MOST_CHARACTERS:,} characters; split it, or exclude it")
    return program


def _declared_encoding(body: bytes, has_bom: bool) -> str:
    """The encoding of PEP 263: a comment in the first line, or in the second below a blank or a comment."""
    first = _FIRST_LINES.match(body)
    assert first is not None
    cookie = _COOKIE.match(first.group())
    if cookie is None and _BLANK.match(first.group()):
        second = _FIRST_LINES.match(body, first.end())
        cookie = _COOKIE.match(second.group()) if second else None
    if cookie is None:
        return "utf-8"
    name = cookie.group(1).decode("ascii", "replace")
    try:
        found = codecs.lookup(name).name
        "".encode(found)
    except LookupError as error:
        raise SourceError(f"declares the unknown encoding {name!r}") from error
    if has_bom and found not in ("utf-8", "utf-8-sig"):
        raise SourceError(f"starts with a UTF-8 byte order mark but declares {name!r}")
    return "utf-8" if found == "utf-8-sig" else found


def _decode(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding)
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        byte = body[error.start]
        raise SourceError(
            f"is not {encoding}: byte 0x{byte:02x} in line {line}; save it as UTF-8 or declare its encoding in line 1"
        ) from error
    except (UnicodeError, ValueError) as error:
        raise SourceError(f"is not {encoding}: {error}") from error
