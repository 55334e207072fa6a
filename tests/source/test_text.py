"""Files come in and go out byte for byte, whatever their encoding and newlines."""

import codecs
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplint.model.edit import Edit
from amplint.model.span import Span
from amplint.source.text import Source, SourceError, read_source, source_from_bytes


def _read(raw: bytes) -> Source:
    return source_from_bytes(raw, "x.py")


@pytest.mark.parametrize(
    ("raw", "encoding", "program"),
    [
        (b"", "utf-8", ""),
        (b"a = 1", "utf-8", "a = 1"),
        (b"a\r\nb\rc\nd", "utf-8", "a\nb\nc\nd"),
        (codecs.BOM_UTF8 + b"a\n", "utf-8", "a\n"),
        (b"# -*- coding: latin-1 -*-\ns = '\xe9'\n", "iso8859-1", "# -*- coding: latin-1 -*-\ns = 'é'\n"),
        (b"#!/bin/python\n# vim: set fileencoding=cp1252 :\n'\x80'\n", "cp1252", None),
        (b"x = 1\n# coding: latin-1\n", "utf-8", None),
        ("s = '\u2028'\x0c\n".encode(), "utf-8", "s = '\u2028'\x0c\n"),
    ],
)
def test_reads(raw: bytes, encoding: str, program: str | None) -> None:
    source = _read(raw)
    assert source.encoding == encoding
    if program is not None:
        assert source.program == program
    whole = [Edit(Span(n, 0, n, len(line)), line) for n, line in enumerate(source.lines, 1)]
    assert source.splice(whole) == raw


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"s = '\xe9'\n", "byte 0xe9 in line 1; save it as UTF-8 or declare"),
        (b"# coding: klingon\n", "unknown encoding 'klingon'"),
        (b"# coding: rot13\n", "unknown encoding 'rot13'"),
        (b"a\0b", "NUL bytes"),
        (codecs.BOM_UTF8 + b"# coding: latin-1\n", "byte order mark"),
    ],
)
def test_says_what_is_wrong(raw: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        _read(raw)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        read_source(tmp_path / "gone.py", "gone.py")


def test_new_lines_take_the_newline_of_the_lines_they_replace() -> None:
    source = _read(b"a\r\nb\nc\rd")
    assert source.splice([Edit(Span(1, 1, 1, 1), "\nx")]) == b"a\r\nx\r\nb\nc\rd"
    assert source.splice([Edit(Span(2, 0, 4, 0), "x\ny\n")]) == b"a\r\nx\ny\rd"
    assert source.splice([Edit(Span(4, 1, 4, 1), "\ne")]) == b"a\r\nb\nc\rd\re"


def test_edits_keep_order_and_refuse_overlap() -> None:
    source = _read(b"abcdef\n")
    edits = [Edit(Span(1, 3, 1, 4), "D"), Edit(Span(1, 0, 1, 1), "A"), Edit(Span(1, 0, 1, 0), "<")]
    assert source.splice(edits) == b"<AbcDef\n"
    with pytest.raises(ValueError, match="overlap"):
        source.splice([Edit(Span(1, 0, 1, 3), ""), Edit(Span(1, 2, 1, 4), "")])


def test_text_that_the_encoding_cannot_hold_is_refused() -> None:
    source = _read(b"# coding: latin-1\n")
    with pytest.raises(SourceError, match="cannot hold"):
        source.splice([Edit(Span(2, 0, 2, 0), "'€'")])


@given(st.text(alphabet="ab \t\x0c\n\r'é😀", max_size=40), st.data())
def test_bytes_outside_edits_stay(text: str, data: st.DataObject) -> None:
    raw = text.encode()
    source = _read(raw)
    line = data.draw(st.integers(1, len(source.lines)))
    column = data.draw(st.integers(0, len(source.lines[line - 1])))
    new = source.splice([Edit(Span(line, column, line, column), "NEW")])
    assert new.replace(b"NEW", b"", 1) == raw
    assert source_from_bytes(new, "x.py").lines[line - 1][column:].startswith("NEW")
