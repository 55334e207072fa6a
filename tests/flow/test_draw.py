from pathlib import Path

import pytest

from amplint.flow.draw import mermaid
from amplint.flow.statements import build
from amplint.model.tree import FunctionDef
from amplint.syntax.lower import lower

GRAPHS = sorted((Path(__file__).parent / "graphs").glob("*.py"))


@pytest.mark.parametrize("path", GRAPHS, ids=lambda path: path.stem)
def test_graphs_are_drawn_as_expected(path, request):
    program = path.read_text()
    function = lower(program).body[0]
    assert isinstance(function, FunctionDef)
    drawn = mermaid(build(function), program)
    golden = path.with_suffix(".mmd")
    if request.config.getoption("--update", default=False):
        golden.write_text(drawn)
    assert drawn == golden.read_text()


def test_long_and_quoted_text_stays_one_label():
    program = f'def f():\n    g("a<b", {", ".join(["xyz"] * 30)})\n'
    function = lower(program).body[0]
    assert isinstance(function, FunctionDef)
    label = mermaid(build(function), program).splitlines()[1]
    assert label.startswith('    b0["0<br/>call g(#quot;a&lt;b#quot;, xyz')
    assert label.endswith('…"]')
