from pathlib import Path

import pytest
from ast_mirror import from_ast, from_tree

import amplint
from amplint.model import tree
from amplint.model.walks import dotted
from amplint.syntax.lower import SyntaxFaultError, lower
from amplint.syntax.parse import parse

PROGRAM = '''\
"""Doc."""
from __future__ import annotations
import torch.cuda.amp as amp, os
from . import (a as b, c,)
from ..pkg import *
@decorator
@amp.autocast(enabled=True)
async def f(p, /, q: int = 1, *args, k=(1, 2), **kw) -> None:
    global g
    async for i in (x async for x in y if x if not z): yield i
    else: pass
    async with open("f") as h, (yield): return
class C(Base, metaclass=M):
    x: int = 3; y = z = [*a, *b]
    def g(self): return lambda *, k: -k ** 2
if a and b and (c or d) or not e: pass
elif a < b <= c is not None not in {1, 2, *s}: del x, y
else:
    while (n := next(it)) != 3:
        try: break
        except (A, B) as e: raise X from e
        except: continue
        else: assert x, "m"
        finally: x @= {"a": 1, **d}
match command:
    case {"k": [1, *rest], **others} if rest: pass
    case Point(x=0, y=var) | torch.float16 as p: pass
    case _: pass
s = f"{a!r:>{width}} {{}}" "tail" if c else u"\\d" 'x'
t = x[1:, ::2, ...], x[0,], {k: v for k, v in d for z in v}
'''


def test_tree_matches_ast() -> None:
    assert from_tree(lower(PROGRAM)) == from_ast(PROGRAM)


@pytest.mark.parametrize("path", sorted(Path(amplint.__file__).parent.rglob("*.py")), ids=lambda p: p.stem)
def test_tree_of_own_modules_matches_ast_and_what_the_other_parser_builds(path: Path) -> None:
    program = path.read_text(encoding="utf-8")
    lowered = lower(program)
    assert from_tree(lowered) == from_ast(program)
    assert repr(parse(program)) == repr(lowered)


def test_definitions_start_at_their_keyword() -> None:
    module = lower("@a\n@b(\n  1)\ndef f():\n    @c\n    class D: pass\n")
    function = module.body[0]
    assert isinstance(function, tree.FunctionDef)
    assert function.span.start == (4, 0)
    assert function.body[0].span.start == (6, 4)


def test_match_patterns_keep_captures_values_and_whether_they_always_fit() -> None:
    match = lower("match m:\n    case A.b | [x, *y]: pass\n    case {'k': v, **w}: pass\n    case _: pass\n").body[0]
    assert isinstance(match, tree.Match)
    patterns = [case.pattern for case in match.cases]
    assert [p.captures for p in patterns] == [("x", "y"), ("v", "w"), ()]
    assert [[dotted(v) for v in p.values] for p in patterns] == [["A.b"], [None], []]
    assert [p.is_irrefutable for p in patterns] == [False, False, True]


def test_comments_keep_their_place() -> None:
    module = lower("# one\nx = [  # two\n  1,\n  # three\n]")
    assert [(c.text, c.is_own_line, c.span.line, c.span.column) for c in module.comments] == [
        ("# one", True, 1, 0),
        ("# two", False, 2, 7),
        ("# three", True, 4, 2),
    ]


def test_argument_spans_cover_name_star_and_parentheses_but_no_comma() -> None:
    program = "f(a , (b) , *c, k = (d), **e,)"
    call = lower(program).body[0].value  # type: ignore[union-attr]
    assert [program[a.span.column : a.span.end_column] for a in call.args] == ["a", "(b)", "*c", "k = (d)", "**e"]
    assert [(a.name, a.star) for a in call.args] == [(None, ""), (None, ""), (None, "*"), ("k", ""), (None, "**")]


@pytest.mark.parametrize("text", ["", "\n", "# only\n", "x", "\n\n  \n", "if a:\n\tpass\n\n\n"])
def test_small_and_odd_programs(text: str) -> None:
    assert from_tree(lower(text)) == from_ast(text)


@pytest.mark.parametrize(
    "text",
    [
        "a()\n\fX()\nb()\n",
        "if a:\n    b()\n\f    c(d,\n\f  e)\nf()\n",
        "\f@d\n\fasync def f(): pass\n \f # c\n\f\nclass A: x = 1\n",
        "a(\f)\n\f\nb()\f\n",
    ],
)
def test_form_feeds_move_nothing(text: str) -> None:
    assert from_tree(lower(text)) == from_ast(text)


@pytest.mark.parametrize(("text", "line"), [("x = (\n", 1), ("a\n  b\n", 2), ("x = = 1", 1), ("print 'x'", 1)])
def test_syntax_faults_say_where(text: str, line: int) -> None:
    with pytest.raises(SyntaxFaultError) as caught:
        lower(text)
    assert caught.value.line == line
    assert caught.value.message


@pytest.mark.filterwarnings("error")
def test_invalid_escapes_do_not_warn_about_the_checked_code() -> None:
    value = lower(r"x = '\d'").body[0].value  # type: ignore[union-attr]
    assert value.value == r"\d"
