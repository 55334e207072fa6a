from copy import copy

import pytest

from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.geometry import UncertainError
from amplint.syntax.lower import lower
from amplint.syntax.native import lower_natively
from amplint.syntax.parse import lowered_by_libcst, parse, second_reading

ODD = [
    "",
    "\n",
    "# only",
    "x",
    "if a:\n\tpass\n\n\n",
    "f(a , (b) , *c, k = (d), **e,)",
    "f((a), ((b)), ( # (\n c), (d # )\n))",
    "(f)(a)((b))(\n  # (\n  (c)\n)",
    "f(x for x in y)\nf((x for x in y))\nf((x) for x in (y))\nf(a, (x for x in y))\nf(  x for x in y\n )",
    "class A((B), *c, metaclass = (M)): pass\nclass C(): pass",
    "x[0,], x[(1, 2)], x[(1), 2], x[(1), (2)], x[((1), (2))], x[()], x[(a, *b)], x[1:, ::2, ...], x[ : ]",
    "[a for b in c if (d) for e in (f)]\n{k: (v) for k, v in z}\n{(s) async for s in t}",
    "for x, in y: pass\nfor (x, y) in z: a = 1, 2,\nx = ((1), (2))\nx = (yield)",
    "def f(a, /, b: int = 1, *c, d=(2), **e): pass\nlambda *, k: -k ** 2\nasync  def  g(): pass\nclass \\\n  D: pass",
    "with (open(a) as b, (c)): pass\nwith a, (b) as (c): pass\nasync def f():\n  async with a as b, c: pass",
    "try: pass\nexcept (A, B) as e: pass\nimport a.b as c, d\nfrom . import (e as f, g,)\nfrom x import *",
    "x = 'a' \"#\" '''#\n''' # d\ny = f'{a}#' r'\\\\'#e\nz = '\\'#'",
    "x = f'{a!r:>{width}} {{}}' f\"{b['c']}\" 'd'\ny = f'''\n{a}\n {b . c}\n'''\nz = f\"é{é}\"",
    "'é'; ä.ö(ü, ß=(é))  # ñ\ndef ó(ñ: é = ä): pass\n",
    "\f@d\n\fasync def f(): pass\n \f # c\n\f\nclass A: x = 1\n",
    "x = a if b else c\nx: int = (y := 3)\ndel x, (y), [z]\nglobal g\nx @= not -y ** ~z or a < b is not c not in d",
]
RARE = ["f(x for x in y # c\n)", "match a:\n  case b: pass", "x[*a, b]", "x[*a]", "ﬁ = 1", "a.ﬁ", "def f(ﬁ): pass"]


@pytest.mark.parametrize("program", ODD)
def test_both_parsers_build_the_same_tree(program: str) -> None:
    assert repr(lower_natively(program)) == repr(lower(program))


@pytest.mark.parametrize("program", RARE)
def test_rare_kinds_are_left_to_libcst(program: str) -> None:
    with pytest.raises(UncertainError):
        lower_natively(program)
    assert repr(parse(program)) == repr(lower(program))


def test_what_python_rejects_is_left_to_libcst() -> None:
    with pytest.raises(SyntaxFaultError):
        parse("x = = 1")


def test_an_agreeing_second_reading_changes_nothing() -> None:
    program = (
        "class A:\n    @d(\n      1)\n    def f(self):\n        if a: b; c\n        else: e\n        g((1),\n  2)\n"
    )
    module = parse(program)
    places = [Span(2, 5, 2, 6), Span(5, 14, 5, 15), Span(5, 17, 5, 18), Span(6, 14, 6, 15), Span(7, 10, 8, 3)]
    assert second_reading(program, module, places) is None
    assert second_reading(program, module, []) is None


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (Span(2, 9, 2, 15), "if 1:\n    with autocast(\n        'cuda'\n    ):\n        pass"),
        (Span(2, 4, 5, 20), "if 1:\n    with autocast(\n        'cuda'\n    ):\n        loss = f(batch)"),
        (Span(5, 8, 5, 12), "if 1:\n        loss = f(batch)"),
    ],
)
def test_a_block_is_read_again_only_where_something_in_it_is_asked_about(place: Span, text: str) -> None:
    program = "def step(batch):\n    with autocast(\n        'cuda'\n    ):\n        loss = f(batch)\n    return loss\n"
    read: list[str] = []

    def lowered(said: str) -> tree.Module | None:
        read.append(said)
        return lowered_by_libcst(said)

    assert second_reading(program, parse(program), [place], lowered) is None
    assert read == [text]


def test_another_reading_before_a_block_counts() -> None:
    program = "with autocast('cuda'):\n    loss = f(batch)\n"
    other = lowered_by_libcst(program.replace("cuda", "cpu "))
    assert second_reading(program, parse(program), [Span(1, 5, 1, 13)], lambda _: other) is other


def test_a_differing_second_reading_replaces_the_whole_tree() -> None:
    program = "a()\n\n\ndef f():\n    b()\n"
    module = parse(program)
    function = module.body[1]
    assert isinstance(function, tree.FunctionDef)
    moved = copy(function.body[0])
    moved.span = Span(5, 4, 5, 9)
    function.body = (moved,)
    assert second_reading(program, module, [Span(1, 0, 1, 1)]) is None
    again = second_reading(program, module, [Span(5, 4, 5, 5)])
    assert again is not None
    assert repr(again) == repr(parse(program))
