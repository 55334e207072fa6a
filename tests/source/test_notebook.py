"""Notebooks become one program, and edits touch nothing but the lines that they change."""

import json
from typing import Any

import pytest

from amplint.model.edit import Edit
from amplint.model.span import Span
from amplint.source.magics import python_of
from amplint.source.text import Source, SourceError, source_from_bytes


def _notebook(*cells: Any, **top: Any) -> bytes:
    book = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **top}
    return json.dumps(book, indent=1).encode() + b"\n"


def _code(*lines: str, **members: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": 3,
        "outputs": [{"text": ["a = 1\n"]}],
        "source": list(lines),
    } | members


def _markdown(*lines: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(lines)}


def _read(raw: bytes) -> Source:
    return source_from_bytes(raw, "x.ipynb")


def test_cells_are_numbered_over_all_cells() -> None:
    source = _read(_notebook(_markdown("# T"), _code("a = 1\n", "b = 2"), _markdown("x"), _code("c = 3\n")))
    assert source.program == "a = 1\nb = 2\nc = 3\n\n"
    assert [source.cell_of(line) for line in (1, 2, 3, 4)] == [(2, 1), (2, 2), (4, 1), (4, 2)]


def test_an_edit_changes_its_lines_only() -> None:
    raw = _notebook(_code("a = 'é'\n", "b = 2\n", "c = 3"), _code("d = '\\u00e9'"), _markdown("m"))
    source = _read(raw)
    new = source.splice([Edit(Span(2, 4, 2, 5), "22"), Edit(Span(4, 0, 4, 1), "e")])
    assert new == raw.replace(b"b = 2", b"b = 22").replace(b"d = '", b"e = '")


def test_inserted_lines_become_items() -> None:
    raw = _notebook(_code("a = 1\n", "b = 2"))
    new = json.loads(_read(raw).splice([Edit(Span(2, 0, 2, 0), "x = 0\n")]))
    assert new["cells"][0]["source"] == ["a = 1\n", "x = 0\n", "b = 2"]
    alone = json.loads(_read(_notebook(_code("a = 1"))).splice([Edit(Span(1, 5, 1, 5), "\nb = 'ü'")]))
    assert alone["cells"][0]["source"] == ["a = 1\n", "b = 'ü'"]


def test_source_as_one_string() -> None:
    raw = _notebook({"cell_type": "code", "source": "a = 1\r\nb = 2", "metadata": {}})
    source = _read(raw)
    assert source.program == "a = 1\nb = 2\n"
    assert source.splice([Edit(Span(1, 0, 1, 1), "z")]) == raw.replace(b"a = 1", b"z = 1")
    assert source.splice([]) == raw


def test_non_ascii_is_written_as_the_notebook_writes_it() -> None:
    book = {"cells": [_code("a = 1\n", "s = 'é'")], "nbformat": 4}
    for ensure_ascii in (True, False):
        raw = json.dumps(book, ensure_ascii=ensure_ascii).encode()
        new = _read(raw).splice([Edit(Span(1, 4, 1, 5), "'ß'")])
        written = b"'\\u00df'" if ensure_ascii else "'ß'".encode()
        assert new == raw.replace(b'["a = 1\\n", "s', b'["a = ' + written + b'\\n", "s')


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "broken JSON"),
        (b"{", "broken JSON"),
        (b'{"cells": [{"source": [1]}]}', "source that is not text"),
        (b'{"cells": [], "x": 1} trailing', "behind the end"),
        (b'{"worksheets": []}', "nbconvert"),
        (b"[]", "broken JSON"),
        (b'{"cells": {}}', "broken JSON"),
        (b"[" * 100_000, "JSON"),
    ],
)
def test_broken_notebooks_are_named(raw: bytes, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        _read(raw)


_NO_MAGIC = "cat = 1\ncat in x\nless.x\nman or y\nf(\nman if ls else cp\n)"


@pytest.mark.parametrize(
    ("cell", "program", "replaced"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1", {1}),
        ("!pip install \\\n  torch\nx", "pass\n\nx", {1, 2}),
        ("cd data/run\nx", "pass\nx", {1}),
        ("pip install -q torch\nrm -r old\nls ~", "pass\npass\npass", {1, 2, 3}),
        (
            "cat = 1\ncat in x\nless.x\nman or y\nf(\nman if ls else cp\n)",
            "cat = 1\ncat in x\nless.x\nman or y\nf(\nman if ls else cp\n)",
            set(),
        ),
        ("if x:\n    !ls\n", "if x:\n    pass\n", {2}),
        ("files = !ls\ny = %sql select", "files = ...\ny = ...", {1, 2}),
        ("torch.amp?\n?torch", "pass\npass", {1, 2}),
        ("%%time\nx = 1", "\nx = 1", {1}),
        ("%%bash\nls\n", "\n\n", {1, 2, 3}),
        ("#@title Setup\n%%bash\nls", "\n\n", {1, 2, 3}),
        ("# timed\n%%time\nx = 1", "# timed\n\nx = 1", {2}),
        ("\n%%html\n<b>", "\n\n", {1, 2, 3}),
        ("s = '''\n%d\n!x\n'''", "s = '''\n%d\n!x\n'''", set()),
        ("x = (a\n  % b)\ny = a \\\n  % b", "x = (a\n  % b)\ny = a \\\n  % b", set()),
        ("x = a % b != c  # what?", "x = a % b != c  # what?", set()),
        ("# (\n%time f()", "# (\npass", {2}),
        ("    x = 1\n    y = 2", "x = 1\ny = 2", {1, 2}),
        ("s = '%'\nd['!'] = \"'''\"\n!ls", "s = '%'\nd['!'] = \"'''\"\npass", {3}),
    ],
)
def test_magics(cell: str, program: str, replaced: set[int]) -> None:
    assert python_of(cell) == (program, frozenset(replaced))


def test_other_languages_are_blank() -> None:
    foreign = _code("x <- 1", metadata={"vscode": {"languageId": "r"}})
    source = _read(_notebook(foreign, _code("y = 1", metadata={"kernel": "Python3"})))
    assert source.program == "\ny = 1\n"
    julia = {"kernelspec": {"language": "julia"}}
    assert _read(_notebook(_code("x = 1;"), metadata=julia)).program.strip() == ""


def test_edits_stay_in_their_cell_and_off_magics() -> None:
    source = _read(_notebook(_code("%time f()\n", "a = 1"), _code("b = 2")))
    with pytest.raises(SourceError, match="magic"):
        source.splice([Edit(Span(1, 0, 1, 4), "x")])
    with pytest.raises(SourceError, match="out of cell 1"):
        source.splice([Edit(Span(2, 0, 3, 1), "x")])
    assert b'"import y\\n"' in source.splice([Edit(Span(2, 0, 2, 0), "import y\n")])


@pytest.mark.parametrize("beside", ["", "é"])
@pytest.mark.parametrize("is_list", [True, False])
def test_half_a_character_is_kept_and_read_as_one_that_is_unknown(beside: str, is_list: bool) -> None:
    lines = ["q = 1\n", "b = '\\ud800'\n", f"c = '{beside}'"]
    raw = _notebook(_code(*lines) if is_list else _code() | {"source": "".join(lines)})
    raw = raw.replace(b"\\\\ud800", b"\\ud800").replace(b"\\u00e9", "é".encode())
    source = _read(raw)
    assert source.program.splitlines()[1] == "b = '\ufffd'"
    assert source.splice([Edit(Span(1, 4, 1, 5), "2")]).replace(b"\\u00e9", "é".encode()) == raw.replace(
        b"q = 1", b"q = 2"
    )


def test_a_number_of_any_length_beside_the_cells() -> None:
    raw = _notebook(_code("a = 1"), metadata={"n": 1}).replace(b'"n": 1', b'"n": ' + b"9" * 9000)
    assert _read(raw).program == "a = 1\n"


def test_edits_that_no_cell_takes() -> None:
    source = _read(_notebook(_code("%time\n", "a = 1"), _code("  # to the right\n", "  b = 2")))
    assert source.notebook is not None
    at = {line: source.notebook.objection([Edit(Span(line, 0, line, 1), "x")]) for line in (1, 2, 3, 4)}
    assert at[4] == "a fix would change a magic or shell line of cell 2"
    assert [bool(at[line]) for line in (1, 2, 3, 4)] == [True, False, True, True]
