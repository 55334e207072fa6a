"""The language server and the cells of notebooks."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from amplint.adapters.desk import notebook_of
from amplint.adapters.positions import difference
from amplint.source.text import source_from_bytes
from tests.adapters.editor import Editor, applied, edits_of, session


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


def test_a_finding_in_a_cell_is_suppressed_in_its_cell(tmp_path: Path) -> None:
    path = tmp_path / "train.ipynb"
    cells = ["import torch", "if True:\n    scaler = torch.cuda.amp.GradScaler()"]
    uris = [f"vscode-notebook-cell:{path}#{number}" for number in range(2)]

    async def act(editor: Editor) -> None:
        items = [types.TextDocumentItem(uri, "python", 1, text) for uri, text in zip(uris, cells, strict=True)]
        kinds = [types.NotebookCell(types.NotebookCellKind.Code, uri) for uri in uris]
        book = types.NotebookDocument(path.as_uri(), "jupyter-notebook", 1, kinds)
        editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(book, items))
        assert await editor.codes(uris[1]) == ["AMP101"]
        actions = await editor.actions(uris[1], editor.published[uris[1]][0].range)
        suppress = next(action for action in actions if "ignore[AMP101]" in action.title)
        changed = applied(cells[1], edits_of(suppress, uris[1]))
        assert changed == cells[1].replace("    scaler", "    # amplint: ignore[AMP101]\n    scaler")
        editor.published.pop(uris[1])
        editor.client.notebook_document_did_change(
            types.DidChangeNotebookDocumentParams(
                types.VersionedNotebookDocumentIdentifier(2, path.as_uri()),
                types.NotebookDocumentChangeEvent(
                    cells=types.NotebookDocumentCellChanges(
                        text_content=[
                            types.NotebookDocumentCellContentChanges(
                                types.VersionedTextDocumentIdentifier(2, uris[1]),
                                [types.TextDocumentContentChangeWholeDocument(changed)],
                            )
                        ]
                    )
                ),
            )
        )
        assert await editor.codes(uris[1]) == []

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
