"""The files that an editor has open, each checked with the text that it has there instead of the one on disk.

Knows how documents and notebooks make a file; knows no request and no rule.
"""

import json
import os
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from lsprotocol import types
from msgspec import field
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from amplint.adapters.positions import Sheet, difference
from amplint.config.load import Resolver
from amplint.config.usage import UsageError
from amplint.engine.narrow import narrowing
from amplint.engine.outcome import Wanted
from amplint.engine.tree import Run, run
from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.finding import Finding
from amplint.model.tree import Module
from amplint.report.pages import published
from amplint.source.text import Source, SourceError, source_from_bytes

# So many parsed programs are kept, which is most of the work of checking one again.
_KEPT = 300


class Analysis(Value):
    """What checking an open file gave.

    texts are the other files that notes stand in, by path; folder is what their paths are relative to; uses are the
    files whose texts had a say; docs is the address of the documentation. complaints say why something could not be
    checked.
    """

    sheet: Sheet
    findings: tuple[Finding, ...] = ()
    edits: Mapping[Finding, tuple[Edit, ...]] = field(default_factory=dict)
    texts: Mapping[str, Source] = field(default_factory=dict)
    folder: Path = Path()
    uses: frozenset[Path] = frozenset()
    docs: str | None = None
    complaints: tuple[str, ...] = ()


class _Text(Value):
    """An open file as it is now: the bytes that a file of this text would have, and its documents."""

    path: Path
    raw: bytes
    uris: tuple[str, ...]
    versions: tuple[int | None, ...]
    newline: str


class Desk:
    """All open files of a server, by the address of document or notebook."""

    def __init__(self, server: LanguageServer) -> None:
        self._server = server
        self._open: dict[str, None] = {}
        self._known: dict[str, Analysis] = {}
        self._texts: dict[str, bytes] = {}
        self._lowered: dict[str, Module] = {}
        self._uses: dict[str, frozenset[Path]] = {}
        # How often something beside the texts may have changed: what began before that is not kept.
        self._turn = 0

    def open(self, file: str) -> None:
        """Take a file up."""
        self._open[file] = None

    def close(self, file: str) -> None:
        """Put a file away, and forget the checks in which its unsaved text had a say."""
        self._turn += 1
        for other in self.dependents(file):
            self._known.pop(other, None)
        self._open.pop(file, None)
        self._known.pop(file, None)
        self._texts.pop(file, None)
        self._uses.pop(file, None)

    def is_open(self, file: str) -> bool:
        """Whether a file was taken up."""
        return file in self._open

    def files(self) -> list[str]:
        """The open files."""
        return list(self._open)

    def forget(self) -> None:
        """Know nothing of earlier checks, because something beside the open texts may have changed."""
        self._turn += 1
        self._known.clear()

    def dependents(self, file: str) -> list[str]:
        """The other open files in whose last check the text of a file had a say."""
        path = _path(file)
        return [other for other, uses in list(self._uses.items()) if other != file and path in uses]

    def file_of(self, document: str) -> str:
        """The file that a document belongs to: its notebook where it is a cell."""
        notebook = self._server.workspace.get_notebook_document(cell_uri=document)
        return notebook.uri if notebook is not None else document

    def analysis(self, file: str) -> Analysis | None:
        """What the file's present text gives; None for a file that is not open.

        The editor goes on while this works: it may change, open and close files meanwhile, but ask for no other work.
        """
        texts = self._notice()
        known, turn = self._known.get(file), self._turn
        if file not in texts or known is not None:
            return known
        known = self._analysed(texts[file], texts)
        if file in self._open and turn == self._turn:
            self._known[file], self._uses[file] = known, known.uses
        return known

    def _notice(self) -> dict[str, _Text]:
        """The texts of the open files; checks of those whose text changed are forgotten, and those where it counted."""
        texts = {}
        for file in list(self._open):
            with suppress(OSError):  # closed a moment ago, so its text is looked for on disk
                texts[file] = self._text(file)
        for file, text in texts.items():
            if self._texts.get(file) != text.raw:
                self._texts[file] = text.raw
                for stale in (file, *self.dependents(file)):
                    self._known.pop(stale, None)
        return texts

    def fixed(self, file: str) -> list[types.TextDocumentEdit]:
        """The edits of all safe fixes, document by document."""
        texts = self._notice()
        if file not in texts:
            return []
        text = texts[file]
        try:
            done = self._run(text, texts, fixes=True)
        except (UsageError, SourceError, OSError):
            return []
        edits: dict[str, list[types.TextEdit]] = {}
        for _, before, after in done.changed:
            sheet = self._sheet(text, before)
            for edit in difference(before, after):
                uri, text_edit = sheet.text_edit(edit)
                edits.setdefault(uri, []).append(text_edit)
        versions = dict(zip(text.uris, text.versions, strict=True))
        return [
            types.TextDocumentEdit(types.OptionalVersionedTextDocumentIdentifier(uri, versions[uri]), list(found))
            for uri, found in edits.items()
        ]

    def _analysed(self, text: _Text, texts: Mapping[str, _Text]) -> Analysis:
        try:
            source = source_from_bytes(text.raw, str(text.path))
        except SourceError as error:
            empty = Source(str(text.path), b"", "")
            return Analysis(self._sheet(text, empty), complaints=(f"{text.path.name} {error}",))
        sheet = self._sheet(text, source)
        try:
            docs = Resolver({}, self._folder(text.path)).top().settings.docs_url or published()
            done = self._run(text, texts)
        except (UsageError, OSError) as error:
            return Analysis(sheet, complaints=(str(error),))
        report = done.report
        return Analysis(
            sheet,
            tuple(finding for finding in report.findings if finding.path == source.path),
            report.edits,
            {path: found for path, found in report.texts.items() if isinstance(found, Source)},
            self._folder(text.path),
            done.uses,
            docs,
            tuple(f"{problem.path}: {problem.message}" for problem in report.problems),
        )

    def _run(self, text: _Text, texts: Mapping[str, _Text], *, fixes: bool = False) -> Run:
        folder = self._folder(text.path)
        resolver = Resolver({}, folder)
        # An editor shows other things than files too, as an old version under the path of the file.
        files = [other for uri, other in texts.items() if uri.startswith("file:")]
        unsaved = {other.path: other.raw for other in files if other.path != text.path}
        wanted = Wanted(
            stdin=text.raw,
            fixes=fixes,
            jobs=1,
            unsaved=unsaved,
            narrowing=narrowing(resolver.top(), folder),
            lowered=self._lowered,
        )
        try:
            return run([str(text.path)], resolver, folder, wanted)
        finally:
            while len(self._lowered) > _KEPT:
                self._lowered.pop(next(iter(self._lowered)))

    def _folder(self, path: Path) -> Path:
        """The folder of the workspace that holds a file, as the working directory of a run."""
        root = self._server.workspace.root_path
        for folder in (*self._server.workspace.folders, *((Path(root).as_uri(),) if root else ())):
            place = to_fs_path(folder)
            if place is not None and path.is_relative_to(place):
                return Path(place)
        return path.parent

    def _text(self, file: str) -> _Text:
        path = _path(file)
        workspace = self._server.workspace
        notebook = workspace.get_notebook_document(notebook_uri=file)
        if notebook is None:
            document = workspace.get_text_document(file)
            return _Text(path, _encoded(document.source), (file,), (document.version,), _newline(document.source))
        uris = tuple(cell.document for cell in notebook.cells)
        documents = [workspace.get_text_document(uri) for uri in uris]
        sources = [document.source for document in documents]
        versions = tuple(document.version for document in documents)
        return _Text(path.with_suffix(".ipynb"), notebook_of(sources), uris, versions, _newline("".join(sources)))

    def _sheet(self, text: _Text, source: Source) -> Sheet:
        return Sheet(source, text.uris, self._server.workspace.position_codec.client_num_units, text.newline)


def _path(file: str) -> Path:
    place = to_fs_path(file)
    return Path(os.path.abspath(place)) if place else Path.cwd() / "untitled.py"


def _encoded(text: str) -> bytes:
    """The bytes of a file with this text, in the encoding that it declares."""
    raw = text.encode("utf-8", "replace")
    try:
        encoding, _ = tokenize.detect_encoding(BytesIO(raw).readline)
        return text.encode(encoding, "replace")
    except (SyntaxError, LookupError):
        return raw


def notebook_of(cells: list[str]) -> bytes:
    """A notebook that holds these code cells."""
    found = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in cells]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}).encode()


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
