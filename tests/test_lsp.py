"""The language server as an editor meets it: a real client over standard input and output."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.lsp.client import LanguageClient

from amplint.adapters.desk import notebook_of
from amplint.adapters.positions import difference
from amplint.source.text import source_from_bytes

ROOT = Path(__file__).parent.parent
CLIP = """\
import torch
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, loader, loss):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            found = loss(model(x), y)
        scaler.scale(found).backward(){comment}
        clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
"""


class Editor:
    """A client that keeps what the server published last, by document."""

    def __init__(self) -> None:
        self.client = LanguageClient("test", "1")
        self.published: dict[str, list[types.Diagnostic]] = {}
        self.messages: list[str] = []
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._take(params))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))

    def _take(self, params: types.PublishDiagnosticsParams) -> None:
        self.published[params.uri] = list(params.diagnostics)
        self._news.set()

    async def until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), 100)

    async def codes(self, uri: str) -> list[Any]:
        """The codes of a document, once the server has said something about it."""
        await self.until(lambda: uri in self.published)
        return [diagnostic.code for diagnostic in self.published[uri]]

    def open(self, path: Path, text: str, version: int = 1) -> str:
        document = types.TextDocumentItem(path.as_uri(), "python", version, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return document.uri

    def change(self, uri: str, text: str, version: int) -> None:
        self.published.pop(uri, None)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    async def actions(self, uri: str, place: types.Range, only: list[str] | None = None) -> list[types.CodeAction]:
        context = types.CodeActionContext([], only=only)  # type: ignore[arg-type]  # plain strings are kinds too
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        found = await self.client.text_document_code_action_async(params)
        assert all(isinstance(action, types.CodeAction) for action in found or ())
        return list(found or ())  # type: ignore[arg-type]


@asynccontextmanager
async def editing(folder: Path) -> AsyncIterator[Editor]:
    editor = Editor()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    await editor.client.start_io(sys.executable, "-m", "amplint", "lsp", env=environment, cwd=folder)
    await editor.client.initialize_async(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            root_uri=folder.as_uri(),
            workspace_folders=[types.WorkspaceFolder(folder.as_uri(), folder.name)],
        )
    )
    editor.client.initialized(types.InitializedParams())
    try:
        yield editor
    finally:
        await editor.client.shutdown_async(None)
        editor.client.exit(None)
        await editor.client.stop()


def applied(text: str, edits: list[types.TextEdit]) -> str:
    """The text with edits made as an editor does: columns in UTF-16 units."""

    def offset(position: types.Position) -> int:
        lines = text.split("\n")
        before = sum(len(line) + 1 for line in lines[: position.line])
        units = 0
        for number, character in enumerate(lines[position.line]):
            if units >= position.character:
                return before + number
            units += 1 + (ord(character) > 0xFFFF)
        return before + len(lines[position.line])

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


def edits_of(action: types.CodeAction, uri: str) -> list[types.TextEdit]:
    assert action.edit is not None
    if action.edit.changes is not None:
        return list(action.edit.changes[uri])
    (change,) = action.edit.document_changes or ()
    assert isinstance(change, types.TextDocumentEdit)
    assert change.text_document.uri == uri
    return [edit for edit in change.edits if isinstance(edit, types.TextEdit)]


def session(folder: Path, act: Callable[[Editor], Coroutine[Any, Any, None]]) -> None:
    async def whole() -> None:
        async with editing(folder) as editor:
            await act(editor)

    asyncio.run(asyncio.wait_for(whole(), 200))


def test_a_file_is_checked_on_open_and_change_and_forgotten_on_close(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        assert await editor.codes(uri) == ["AMP201"]
        editor.change(uri, "import torch\n", 2)
        assert await editor.codes(uri) == []
        editor.change(uri, CLIP.format(comment=""), 3)
        assert await editor.codes(uri) == ["AMP201"]
        editor.published.pop(uri)
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        assert await editor.codes(uri) == []

    session(tmp_path, act)


def test_a_diagnostic_shows_the_path(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        await editor.codes(uri)
        (diagnostic,) = editor.published[uri]
        assert diagnostic.source == "amplint"
        assert diagnostic.severity == types.DiagnosticSeverity.Error
        assert "clip-of-scaled-gradients" in diagnostic.message
        assert diagnostic.range.start == types.Position(11, 8)
        related = diagnostic.related_information or ()
        assert {item.location.range.start.line for item in related} >= {10}
        assert all(item.location.uri == uri for item in related)

    session(tmp_path, act)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_quick_fix_and_all_fixes_mend_the_text(tmp_path: Path, newline: str) -> None:
    text = CLIP.format(comment="").replace("\n", newline)

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        await editor.codes(uri)
        (diagnostic,) = editor.published[uri]
        actions = await editor.actions(uri, diagnostic.range)
        fix = next(action for action in actions if action.is_preferred)
        assert fix.kind == types.CodeActionKind.QuickFix
        mended = applied(text, edits_of(fix, uri))
        assert f"        scaler.unscale_(optimizer){newline}        clip_grad_norm_" in mended
        (fix_all,) = await editor.actions(
            uri, types.Range(types.Position(0, 0), types.Position(0, 0)), ["source.fixAll"]
        )
        assert applied(text, edits_of(fix_all, uri)) == mended
        editor.change(uri, mended, 2)
        assert await editor.codes(uri) == []

    session(tmp_path, act)


def test_columns_count_utf_16_units(tmp_path: Path) -> None:
    text = 'import torch\nx = "🔥🔥"; scaler = torch.cuda.amp.GradScaler()\n'

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        assert await editor.codes(uri) == ["AMP101"]
        (diagnostic,) = editor.published[uri]
        assert diagnostic.range.start.character == len('x = "...."; scaler = ')
        (fix, *_) = await editor.actions(uri, diagnostic.range)
        assert applied(text, edits_of(fix, uri)) == text.replace(
            "torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")'
        )

    session(tmp_path, act)


def test_hover_shows_the_page_of_the_rule(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        await editor.codes(uri)
        document = types.TextDocumentIdentifier(uri)
        shown = await editor.client.text_document_hover_async(types.HoverParams(document, types.Position(11, 10)))
        assert shown is not None
        assert isinstance(shown.contents, types.MarkupContent)
        assert shown.contents.value.startswith("# AMP201 clip-of-scaled-gradients\n")
        assert await editor.client.text_document_hover_async(types.HoverParams(document, types.Position(0, 1))) is None

    session(tmp_path, act)


def test_a_finding_can_be_suppressed_in_its_place(tmp_path: Path) -> None:
    text = CLIP.format(comment="")

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        await editor.codes(uri)
        (diagnostic,) = editor.published[uri]
        actions = await editor.actions(uri, diagnostic.range)
        suppress = next(action for action in actions if "ignore[AMP201]" in action.title)
        changed = applied(text, edits_of(suppress, uri))
        assert "# amplint: ignore[AMP201]" in changed
        editor.change(uri, changed, 2)
        assert await editor.codes(uri) == []

    session(tmp_path, act)


def test_cells_of_a_notebook_are_one_program(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    cells = ["%matplotlib inline\nimport torch", 'x = "🔥"; scaler = torch.cuda.amp.GradScaler()']
    uris = [f"vscode-notebook-cell:{path}#{number}" for number in range(2)]

    async def act(editor: Editor) -> None:
        items = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(uris, cells, strict=True)]
        book = types.NotebookDocument(
            path.as_uri(),
            "jupyter-notebook",
            1,
            [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris],
        )
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(book, items))
        assert await editor.codes(uris[1]) == ["AMP101"]
        assert await editor.codes(uris[0]) == []
        (diagnostic,) = editor.published[uris[1]]
        assert diagnostic.range.start == types.Position(0, len('x = "..."; scaler = ') - 1)
        (fix, *_) = await editor.actions(uris[1], diagnostic.range)
        assert applied(cells[1], edits_of(fix, uris[1])).endswith('scaler = torch.amp.GradScaler("cuda")')
        (fix_all,) = await editor.actions(uris[0], types.Range(types.Position(0, 0), types.Position(0, 0)), ["source"])
        assert applied(cells[1], edits_of(fix_all, uris[1])).endswith('scaler = torch.amp.GradScaler("cuda")')

    session(tmp_path, act)


def test_a_helper_in_another_file_is_followed_and_seen_after_saving(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("def prepare(scaler, optimizer):\n    print(scaler.get_scale())\n")
    calls = "; prepare(scaler, optimizer); scaler.unscale_(optimizer)"
    text = f"from helper import prepare\n{CLIP.format(comment=calls)}"

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        assert await editor.codes(uri) == []
        helper.write_text("def prepare(scaler, optimizer):\n    scaler.unscale_(optimizer)\n")
        editor.published.pop(uri)
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        assert await editor.codes(uri) == ["AMP205"]
        (diagnostic,) = editor.published[uri]
        assert helper.as_uri() in [item.location.uri for item in diagnostic.related_information or ()]

    session(tmp_path, act)


def test_unsaved_text_of_another_open_file_counts(tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("def prepare(scaler, optimizer):\n    print(scaler.get_scale())\n")
    unscales = "def prepare(scaler, optimizer):\n    scaler.unscale_(optimizer)\n"
    calls = "; prepare(scaler, optimizer); scaler.unscale_(optimizer)"
    text = f"from helper import prepare\n{CLIP.format(comment=calls)}"

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        assert await editor.codes(uri) == []
        other = editor.open(helper, helper.read_text())
        assert await editor.codes(other) == []
        editor.published.pop(uri)
        editor.change(other, unscales, 2)
        assert await editor.codes(uri) == ["AMP205"]
        (diagnostic,) = editor.published[uri]
        places = {item.location.uri: item.location.range.start for item in diagnostic.related_information or ()}
        assert places[other] == types.Position(1, 4), "the line is that of the unsaved text"
        editor.published.pop(uri)
        editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(other)))
        assert await editor.codes(uri) == []

    session(tmp_path, act)


def test_what_the_baseline_knows_is_not_shown(tmp_path: Path) -> None:
    text = CLIP.format(comment="")
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "amplint.toml").write_text('baseline = "known.json"\n')
    command = [sys.executable, "-m", "amplint", "baseline", "write"]
    subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        assert await editor.codes(uri) == []
        start = types.Range(types.Position(0, 0), types.Position(0, 0))
        assert await editor.actions(uri, start, ["source.fixAll"]) == []

    session(tmp_path, act)


def test_configuration_of_the_project_holds_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    (tmp_path / "amplint.toml").write_text('ignore = ["AMP201"]\n')

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        assert await editor.codes(uri) == []
        (tmp_path / "amplint.toml").write_text('ignroe = ["AMP201"]\n')
        editor.published.pop(uri)
        editor.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        await editor.codes(uri)
        assert "ignroe" in " ".join(editor.messages)

    session(tmp_path, act)


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "odd.py", "# coding: no-such\nimport torch.cuda.amp\n")
        assert await editor.codes(uri) == []
        assert "no-such" in " ".join(editor.messages)

    session(tmp_path, act)


cell_texts = st.lists(st.sampled_from(["a", "b", "", "c"]), max_size=5).map("\n".join)


@given(st.integers(1, 3).flatmap(lambda n: st.tuples(*[st.lists(cell_texts, min_size=n, max_size=n)] * 2)))
def test_differences_turn_one_text_into_another(pair: tuple[list[str], list[str]]) -> None:
    old, new = (source_from_bytes(notebook_of(cells), "x.ipynb") for cells in pair)
    edits = list(difference(old, new))
    if all(pair[0]):  # an empty cell has no place that an edit could name
        assert source_from_bytes(old.splice(edits), "x.ipynb").program == new.program
    plain_old, plain_new = (source_from_bytes(cells[0].encode(), "x.py") for cells in pair)
    assert plain_old.splice(list(difference(plain_old, plain_new))) == plain_new.raw


def test_cells_become_a_notebook() -> None:
    assert source_from_bytes(notebook_of(["a = 1\n", "b = 2"]), "x.ipynb").cell_of(3) == (2, 1)
