"""An editor for tests: a real client of the language server, over standard input and output."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.lsp.client import LanguageClient

ROOT = Path(__file__).parent.parent.parent
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
        self.registered: list[str] = []
        self._news = asyncio.Event()
        self.client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: self._take(params))
        self.client.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params.message))

        self.client.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda params: self._register(params))

    def _register(self, params: types.RegistrationParams) -> None:
        self.registered += [registration.method for registration in params.registrations]
        self._news.set()

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
async def editing(folder: Path, capabilities: types.ClientCapabilities | None = None) -> AsyncIterator[Editor]:
    editor = Editor()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    await editor.client.start_io(sys.executable, "-m", "amplint", "lsp", env=environment, cwd=folder)
    await editor.client.initialize_async(
        types.InitializeParams(
            capabilities=capabilities or types.ClientCapabilities(),
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


def session(
    folder: Path,
    act: Callable[[Editor], Coroutine[Any, Any, None]],
    capabilities: types.ClientCapabilities | None = None,
) -> None:
    async def whole() -> None:
        async with editing(folder, capabilities) as editor:
            await act(editor)

    asyncio.run(asyncio.wait_for(whole(), 200))
