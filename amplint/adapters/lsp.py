"""The language server: what an editor asks and tells, answered by the same run that the command line makes.

Knows the protocol and when to check; judges nothing itself.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from amplint import __version__
from amplint.adapters import answers
from amplint.adapters.desk import Analysis, Desk

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.amplint"
# Seconds without a further change before a changed file is checked, and the files that its text has a say in.
PAUSE, LONG_PAUSE = 0.2, 1.0
# What may change findings: code, configuration, dependency lists.
WATCHED = "**/*.{py,ipynb,toml,txt,cfg,yml,yaml}"
_NOTEBOOKS = types.NotebookDocumentSyncOptions(
    notebook_selector=[
        types.NotebookDocumentFilterWithNotebook(
            notebook="jupyter-notebook", cells=[types.NotebookCellLanguage(language="python")]
        )
    ]
)

_Answer = TypeVar("_Answer")


class Server(LanguageServer):
    """A server with what it knows of each open file; files are named by the address of document or notebook."""

    def __init__(self) -> None:
        super().__init__("amplint", __version__, notebook_document_sync=_NOTEBOOKS)
        self.desk = Desk(self)
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._said: dict[str, str] = {}
        # One work at a time: a plan that is given up does not stop the work that it waits for, as it would free a lock.
        self._worker = ThreadPoolExecutor(1, "amplint")

    def expect(self, file: str, pause: float = 0.0) -> None:
        """Check a file soon, and forget an earlier plan to."""
        if (earlier := self._waiting.pop(file, None)) is not None:
            earlier.cancel()
        self._waiting[file] = asyncio.ensure_future(self._check(file, pause))

    def expect_changed(self, file: str) -> None:
        """Check a file that is being edited once its editor rests, and then those that depend on it."""
        self.expect(file, PAUSE)
        for other in self.desk.dependents(file):
            self.expect(other, LONG_PAUSE)

    def expect_all(self) -> None:
        """Check every open file again: what one of them says may follow from another."""
        self.desk.forget()
        for file in self.desk.files():
            self.expect(file)

    async def analysis(self, document: str) -> Analysis | None:
        """What is known of the file of a document, for the text that it has now."""
        return await self._worked(self.desk.analysis, self.desk.file_of(document))

    async def fixed(self, document: str) -> list[types.TextDocumentEdit]:
        """The edits of all safe fixes in the file of a document."""
        return await self._worked(self.desk.fixed, self.desk.file_of(document))

    async def _worked(self, work: Callable[[str], _Answer], file: str) -> _Answer:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, file)

    def close(self, file: str, documents: list[str]) -> None:
        """Take back what was said about a file that is open no more."""
        if (plan := self._waiting.pop(file, None)) is not None:
            plan.cancel()
        for other in self.desk.dependents(file):
            self.expect(other)
        self.desk.close(file)
        for uri in documents:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    async def _check(self, file: str, pause: float) -> None:
        await asyncio.sleep(pause)
        analysis = await self._worked(self.desk.analysis, file)
        if analysis is None:
            return
        self._complain(file, "\n".join(analysis.complaints))
        for uri, diagnostics in answers.diagnostics(analysis).items():
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, diagnostics))

    def _complain(self, file: str, message: str) -> None:
        """Show why a file could not be checked, once until the reason changes."""
        if message and self._said.get(file) != message:
            shown = types.ShowMessageParams(types.MessageType.Warning, f"amplint: {message}")
            self.window_show_message(shown)
        self._said[file] = message


def build_server() -> Server:
    """A server that answers everything, and has not started."""
    server = Server()
    _watch(server)
    _listen(server)
    _listen_to_notebooks(server)
    _answer(server)
    return server


def serve() -> None:
    """Serve one editor on standard input and output until it leaves."""
    build_server().start_io()


def _watch(server: Server) -> None:
    """Learn of files that change beside the editor, say by a checkout, where the editor can tell."""

    @server.feature(types.INITIALIZED)
    async def initialized(_: types.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            wanted = types.DidChangeWatchedFilesRegistrationOptions([types.FileSystemWatcher(WATCHED)])
            registration = types.Registration("amplint", method, wanted)
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed(_: types.DidChangeWatchedFilesParams) -> None:
        server.expect_all()


def _listen(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        if document.language_id == "python" or Path(document.uri).suffix in (".py", ".pyi"):
            server.desk.open(document.uri)
            server.expect(document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        if server.desk.is_open(params.text_document.uri):
            server.expect_changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveTextDocumentParams) -> None:
        server.expect_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri, [params.text_document.uri])


def _listen_to_notebooks(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenNotebookDocumentParams) -> None:
        server.desk.open(params.notebook_document.uri)
        server.expect(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeNotebookDocumentParams) -> None:
        server.expect_changed(params.notebook_document.uri)

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_SAVE)
    def saved(_: types.DidSaveNotebookDocumentParams) -> None:
        server.expect_all()

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseNotebookDocumentParams) -> None:
        cells = [document.uri for document in params.cell_text_documents]
        server.close(params.notebook_document.uri, cells)


def _answer(server: Server) -> None:
    kinds: list[types.CodeActionKind | str] = [types.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        wanted = [str(getattr(kind, "value", kind)) for kind in params.context.only or ()]
        uri = params.text_document.uri
        found: list[types.CodeAction] = []
        if answers.is_wanted(types.CodeActionKind.QuickFix.value, wanted):
            analysis = await server.analysis(uri)
            if analysis is not None:
                found += answers.quick_fixes(analysis, uri, params.range)
        # Working out all fixes takes time, so an editor that only asks what there is at a place is not told of it.
        if wanted and answers.is_wanted(FIX_ALL, wanted):
            edits = await server.fixed(uri)
            if edits:
                found.append(
                    types.CodeAction(
                        "amplint: apply all safe fixes",
                        kind=FIX_ALL,
                        edit=types.WorkspaceEdit(document_changes=list(edits)),
                    )
                )
        return found

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        analysis = await server.analysis(params.text_document.uri)
        place = types.Range(params.position, params.position)
        return answers.hover(analysis, params.text_document.uri, place) if analysis is not None else None
