"""The language server and what stands beside the open document: other files, configuration, baseline."""

import os
import subprocess
import sys
from pathlib import Path

from lsprotocol import types

from tests.adapters.editor import CLIP, ROOT, Editor, session


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


def test_files_that_change_beside_the_editor_are_watched(tmp_path: Path) -> None:
    (tmp_path / "amplint.toml").write_text('ignore = ["AMP201"]\n')
    watching = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    workspace = types.WorkspaceClientCapabilities(did_change_watched_files=watching)
    asked: list[str] = []

    async def act(editor: Editor) -> None:
        await editor.until(lambda: bool(editor.registered))
        asked.extend(editor.registered)
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        assert await editor.codes(uri) == []
        (tmp_path / "amplint.toml").unlink()
        editor.published.pop(uri)
        event = types.FileEvent((tmp_path / "amplint.toml").as_uri(), types.FileChangeType.Deleted)
        editor.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([event]))
        assert await editor.codes(uri) == ["AMP201"]

    session(tmp_path, act, types.ClientCapabilities(workspace=workspace))
    assert asked == ["workspace/didChangeWatchedFiles"]


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
