"""A notebook as one program, and edits of that program spliced back into its cells; knows nothing of files.

Only the source lines that an edit changes are written anew; every other byte of the JSON stays, outputs included.
"""

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.span import Span
from amplint.source.json_spans import RawCell, read_cells
from amplint.source.lines import normalise, splice
from amplint.source.magics import python_of

_ESCAPED = re.compile(r"\\u00[89a-fA-F]|\\u0[1-9a-fA-F]|\\u[1-9a-fA-F]")

# Half of a character beyond U+FFFF: escapes in JSON may give one, no program can hold it.
_HALF = re.compile("[\ud800-\udfff]")


class NotebookError(Exception):
    """The JSON is no notebook that can be read, or an edit cannot be made in it."""


class Cell(Value):
    """The source of one code cell.

    number counts from 1 over all cells; first_line is its first line in the program; strings are the places of its
    source strings in the JSON text. untouchable lines (of the program) hold magics or another language.
    """

    number: int
    first_line: int
    line_count: int
    strings: tuple[tuple[int, int, str], ...]
    is_list: bool
    untouchable: frozenset[int]

    @property
    def text(self) -> str:
        """The source as the notebook holds it."""
        return "".join(value for _, _, value in self.strings)


class Notebook(Value):
    """The code cells of a notebook, in order."""

    cells: tuple[Cell, ...]

    def cell_at(self, line: int) -> Cell | None:
        """The cell that holds a line of the program."""
        index = bisect_right(self.cells, line, key=lambda cell: cell.first_line) - 1
        return self.cells[index] if index >= 0 else None

    def cell_of(self, line: int) -> tuple[int, int] | None:
        """The number of the cell and the line in it, both from 1."""
        cell = self.cell_at(line)
        return (cell.number, line - cell.first_line + 1) if cell else None

    def splice(self, text: str, edits: Sequence[Edit]) -> str:
        """The JSON text with edits of the program made. Raises NotebookError, ValueError where edits overlap."""
        by_cell: defaultdict[int, list[Edit]] = defaultdict(list)
        for edit in edits:
            cell = self._cell_for(edit)
            by_cell[cell.first_line].append(_shifted(edit, 1 - cell.first_line))
        ensure_ascii = text.isascii() and bool(_ESCAPED.search(text))
        pieces: list[str] = []
        done = 0
        changed = [cell for cell in self.cells if cell.first_line in by_cell]
        for cell in sorted(changed, key=lambda cell: cell.strings[0][0]):
            start, end = cell.strings[0][0], cell.strings[-1][1]
            new = _new_source(text, cell, splice(cell.text, by_cell[cell.first_line]), ensure_ascii)
            pieces += [text[done:start], new]
            done = end
        pieces.append(text[done:])
        return "".join(pieces)

    def objection(self, edits: Sequence[Edit]) -> str | None:
        """Why some edits of the program cannot be made in its cells; None where each of them can."""
        try:
            for edit in edits:
                self._cell_for(edit)
        except NotebookError as error:
            return str(error)
        return None

    def _cell_for(self, edit: Edit) -> Cell:
        cell = self.cell_at(edit.span.line)
        if cell is None or not cell.strings:
            raise NotebookError("a fix would write into an empty cell")
        number, last = cell.number, cell.first_line + cell.line_count - 1
        is_next_start = edit.span.end_line == last + 1 and edit.span.end_column == 0
        if edit.span.end_line > last and not is_next_start:
            raise NotebookError(f"a fix would reach out of cell {number}")
        inside = range(edit.span.line, edit.span.end_line + (1 if edit.span.end_column else 0))
        if any(line in cell.untouchable for line in inside):
            raise NotebookError(f"a fix would change a magic or shell line of cell {number}")
        return cell


def _shifted(edit: Edit, lines: int) -> Edit:
    span = edit.span
    return Edit(Span(span.line + lines, span.column, span.end_line + lines, span.end_column), edit.text)


def _new_source(text: str, cell: Cell, source: str, ensure_ascii: bool) -> str:
    """What stands in the JSON text from the first source string of a cell to its last, for a new source."""
    if not cell.is_list:
        return _json_of(source, ensure_ascii)
    from difflib import SequenceMatcher

    old = [value for _, _, value in cell.strings]
    new = re.findall(r"[^\n]*\n|[^\n]+", source) or [""]
    tokens: list[str] = []
    for tag, start, end, new_start, new_end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            tokens += [text[first:last] for first, last, _ in cell.strings[start:end]]
        else:
            tokens += [_json_of(line, ensure_ascii) for line in new[new_start:new_end]]
    gaps = [text[left[1] : right[0]] for left, right in zip(cell.strings, cell.strings[1:], strict=False)]
    if len(tokens) != len(cell.strings):
        usual = Counter(gaps).most_common(1)[0][0] if gaps else ", "
        gaps = [usual] * (len(tokens) - 1)
    return "".join(part for pair in zip(tokens, [*gaps, ""], strict=True) for part in pair)


def _json_of(text: str, ensure_ascii: bool) -> str:
    """JSON of a text; halves of characters can only be written as escapes."""
    return json.dumps(text, ensure_ascii=ensure_ascii or _HALF.search(text) is not None)


def read_notebook(text: str) -> tuple[Notebook, str]:
    """The notebook in a JSON text and its program. Raises NotebookError."""
    try:
        members, raw_cells = read_cells(text)
    except RecursionError as error:
        raise NotebookError("is nested too deeply to be a notebook") from error
    except ValueError as error:
        raise NotebookError(f"is not a notebook: broken JSON: {error}") from error
    if "cells" not in members:
        hint = "; upgrade it with `jupyter nbconvert --to notebook`" if "worksheets" in members else ""
        raise NotebookError(f"is not a notebook of format 4: it has no `cells`{hint}")
    is_python = _is_python(members.get("metadata"))
    cells: list[Cell] = []
    parts: list[str] = []
    line = 1
    for number, raw in enumerate(raw_cells, start=1):
        if raw.members.get("cell_type") != "code":
            continue
        source = normalise("".join(value for _, _, value in raw.strings))
        count = source.count("\n") + 1
        if is_python and _is_python_cell(raw):
            program, replaced = python_of(_HALF.sub("\ufffd", source))
        else:
            program, replaced = "\n" * (count - 1), frozenset(range(1, count + 1))
        untouchable = frozenset(line + at - 1 for at in replaced)
        cells.append(Cell(number, line, count, tuple(raw.strings), raw.is_list, untouchable))
        parts.append(program)
        line += count
    return Notebook(tuple(cells)), "\n".join([*parts, ""]) if parts else ""


def _is_python(metadata: Any) -> bool:
    """Whether the notebook's kernel speaks Python; one that says nothing is taken to."""
    for section, key in (("kernelspec", "language"), ("language_info", "name")):
        value = metadata.get(section) if isinstance(metadata, dict) else None
        language = value.get(key) if isinstance(value, dict) else None
        if isinstance(language, str) and language:
            return "python" in language.lower()
    return True


def _is_python_cell(raw: RawCell) -> bool:
    """Whether a cell of a notebook with several languages is Python; editors and kernels name it in metadata."""
    metadata = raw.members.get("metadata")
    if not isinstance(metadata, dict):
        return True
    editor = metadata.get("vscode")
    named = [
        metadata.get("language"),
        metadata.get("kernel"),
        editor.get("languageId") if isinstance(editor, dict) else None,
    ]
    return all("python" in name.lower() or name.lower() == "sos" for name in named if isinstance(name, str) and name)
