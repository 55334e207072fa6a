"""The language server as an editor meets it: one document."""

from pathlib import Path

import pytest
from lsprotocol import types

from tests.adapters.editor import CLIP, Editor, applied, edits_of, session


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


def test_all_fixes_are_the_safe_ones(tmp_path: Path) -> None:
    text = "import torch\n\n\ndef train(enabled):\n    torch.cuda.amp.GradScaler()\n"
    text += "    with torch.autocast(enabled):\n        pass\n"

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", text)
        assert await editor.codes(uri) == ["AMP101", "AMP103"]
        safe, guess = editor.published[uri]
        (unsafe_fix, *_) = await editor.actions(uri, guess.range)
        assert "(unsafe)" in unsafe_fix.title
        assert not unsafe_fix.is_preferred
        (fix_all,) = await editor.actions(uri, safe.range, ["source.fixAll.amplint"])
        mended = applied(text, edits_of(fix_all, uri))
        assert mended == text.replace("torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")')

    session(tmp_path, act)


def test_diagnostics_link_to_a_built_documentation(tmp_path: Path) -> None:
    (tmp_path / "amplint.toml").write_text('docs-url = "https://docs.example.com"\n')

    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "train.py", CLIP.format(comment=""))
        await editor.codes(uri)
        (diagnostic,) = editor.published[uri]
        assert diagnostic.code_description is not None
        page = "https://docs.example.com/rules/AMP201-clip-of-scaled-gradients.html"
        assert diagnostic.code_description.href == page

    session(tmp_path, act)


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(tmp_path / "odd.py", "# coding: no-such\nimport torch.cuda.amp\n")
        assert await editor.codes(uri) == []
        assert "no-such" in " ".join(editor.messages)

    session(tmp_path, act)
