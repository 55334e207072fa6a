"""Long programs are parsed in pieces, and the tree is that of the whole."""

import pytest

from amplint.source.text import MOST_CHARACTERS, SourceError, source_from_bytes
from amplint.syntax import native
from amplint.syntax.geometry import UncertainError
from amplint.syntax.native import lower_natively
from tests.fixture_cases import cases

ODD = '''"""A text
def that_is_no_code(): pass
"""
if a:
    b
elif c:
    d
else:
    e
try:
    f
except E:
    g
else:
    h
finally:
    i

@j
@k
class L:
    x = [
1,
two,
    ]

m = n + \\
o
p = ("é" "\U0001f600",
q); r = 1
async def s(): await t  # a comment
'''


@pytest.mark.parametrize("size", [1, 7, 40, 200])
def test_pieces_make_the_tree_of_the_whole(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    texts = [ODD, *(raw.decode() for case in cases()[::9] for name, raw in case.files.items() if name.endswith(".py"))]
    for text in (text.replace("\r\n", "\n").lstrip("\ufeff") for text in texts):
        try:
            whole = repr(lower_natively(text))
        except UncertainError:
            continue
        with monkeypatch.context() as patched:
            patched.setattr(native, "_MANY", size)
            assert repr(lower_natively(text)) == whole


@pytest.mark.parametrize("text", ["x = (1\ny = 2\n", "def f():\n    pass\nelse:\n    pass\n", "x = 1\n'''\ny = 2\n"])
def test_what_is_no_program_is_none_in_pieces(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(native, "_MANY", 1)
    with pytest.raises(UncertainError):
        lower_natively(text)


def test_a_program_that_would_take_the_memory_is_refused() -> None:
    with pytest.raises(SourceError, match="longer than 2,000,000 characters"):
        source_from_bytes(b"x = 1\n" * (MOST_CHARACTERS // 6 + 1), "a.py")
