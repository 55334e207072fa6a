"""An editor that does not wait: changes, closes and cancels while a check runs, and names what is no file."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types

from tests.adapters.editor import CLIP, Editor, session

BAD = CLIP.format(comment="")
GOOD = CLIP.format(comment="\n        scaler.unscale_(optimizer)")
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(100_000, 0))


def _long(functions: int) -> str:
    """A program whose check takes a while."""
    head, body = BAD.split("\n\n\n")
    return "\n\n\n".join([head, *(body.rstrip().replace("def train", f"def train_{n}") for n in range(functions))])


def test_a_change_during_a_check_leaves_nothing_of_the_old_text(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", BAD)
        assert await editor.codes(uri) == ["AMP201"]
        version = 1
        for pause in (0.25, 0.3, 0.5):
            editor.change(uri, _long(40), version := version + 1)
            await asyncio.sleep(pause)  # longer than the server waits: the check of the long text has begun
            editor.change(uri, GOOD, version := version + 1)
            assert await editor.actions(uri, EVERYWHERE) == []
        await asyncio.sleep(2)  # whatever still ran has ended
        assert await editor.actions(uri, EVERYWHERE) == []
        assert await editor.codes(uri) == []

    session(tmp_path, act)


def test_files_closed_during_their_check_stay_silent(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        for number in range(8):
            uri = editor.open(tmp_path / f"{number}.py", _long(4))
            if number % 2:
                await asyncio.sleep(0.05)
                editor.client.text_document_did_close(
                    types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
                )
        uris = [(tmp_path / f"{number}.py").as_uri() for number in range(8)]
        await editor.until(lambda: all(editor.published.get(uri) for uri in uris[::2]))
        assert not any(editor.published.get(uri) for uri in uris[1::2])

    session(tmp_path, act)


def test_a_cancelled_request_harms_no_other(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "a.py", _long(8))
        context = types.CodeActionContext([], only=["source.fixAll"])  # type: ignore[list-item]  # strings are kinds
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), EVERYWHERE, context)
        protocol = editor.client.protocol
        asked = asyncio.ensure_future(protocol.send_request_async("textDocument/codeAction", params, msg_id="first"))
        await asyncio.sleep(0.1)
        protocol.notify("$/cancelRequest", types.CancelParams("first"))
        with pytest.raises(Exception, match="cancel"):
            await asked
        assert len(await editor.actions(uri, EVERYWHERE, ["source.fixAll"])) == 1

    session(tmp_path, act)


NO_FILES = ["untitled:Untitled-1", "nothing", "", "git:/a.py?x", "file://host/a.py", "file:///%00.py", "file:///"]


def test_what_is_no_file_is_checked_by_its_text(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        for uri in NO_FILES:
            document = types.TextDocumentItem(uri, "python", 1, BAD)
            editor.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
            assert await editor.codes(uri) == ["AMP201"], uri
            editor.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    session(tmp_path, act)


def test_an_old_version_of_a_file_does_not_stand_in_for_it(tmp_path: Path) -> None:
    helper = "def prepare(scaler, optimizer):\n    {}\n"
    (tmp_path / "helper.py").write_text(helper.format("scaler.unscale_(optimizer)"))
    program = "from helper import prepare\n" + CLIP.format(comment="\n        prepare(scaler, optimizer)")

    async def act(editor: Editor) -> None:
        old = f"git:{tmp_path.as_posix()}/helper.py?HEAD"
        document = types.TextDocumentItem(old, "python", 1, helper.format("pass"))
        editor.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        assert await editor.codes(editor.open(tmp_path / "train.py", program)) == []

    session(tmp_path, act)


def test_a_path_that_no_disk_takes_is_named(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / ("a" * 300 + ".py"), BAD)
        await editor.until(lambda: bool(editor.messages))
        assert "File name too long" in editor.messages[0]
        assert await editor.actions(uri, EVERYWHERE) == []

    session(tmp_path, act)
