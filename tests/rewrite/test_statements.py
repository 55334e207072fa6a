import pytest

from amplint.model.edit import DedentTail, DeleteStatement, InsertAfter, InsertBefore, MoveStatement
from tests.rewrite.rendering import refusal, rendered, span_of

BEFORE = {
    "plain": ("a()\nX()\n", "a()\nnew()\nX()\n"),
    "indented": ("def f():\n    a()\n    X()\n", "def f():\n    a()\n    new()\n    X()\n"),
    "tabs": ("if a:\n\tX()\n", "if a:\n\tnew()\n\tX()\n"),
    "comment above stays above": ("a()\n# why\nX()\n", "a()\n# why\nnew()\nX()\n"),
    "suppression above stays with it": (
        "a()\n# amplint: ignore[AMP201]\nX()\n",
        "a()\nnew()\n# amplint: ignore[AMP201]\nX()\n",
    ),
    "one-line block": ("if a: X()\n", "if a:\n    new()\n    X()\n"),
    "one-line block in tabs": ("def f():\n\tif a: X()\n", "def f():\n\tif a:\n\t\tnew()\n\t\tX()\n"),
    "one-line else": ("if a: b()\nelse: X()\n", "if a: b()\nelse:\n    new()\n    X()\n"),
    "one-line loop, second": ("for i in a: b(); X()\n", "for i in a:\n    b()\n    new()\n    X()\n"),
    "header over two lines": ("if (a and\n        b): X()\n", "if (a and\n        b):\n    new()\n    X()\n"),
    "semicolon": ("b(); X()  # c\n", "b()\nnew()\nX()  # c\n"),
    "semicolon in a block": ("if a:\n  b() ; X(); c()\n", "if a:\n  b()\n  new()\n  X(); c()\n"),
    "semicolon and continuation": ("b(); \\\n  X()\n", "b()\nnew()\nX()\n"),
    "decorated": ("@d\n# c\n@e(1)\ndef X(): pass\n", "new()\n@d\n# c\n@e(1)\ndef X(): pass\n"),
    "one-line except": ("try: a()\nexcept E: X()\n", "try: a()\nexcept E:\n    new()\n    X()\n"),
    "match case": ("match a:\n  case 1: X()\n", "match a:\n  case 1:\n    new()\n    X()\n"),
    "form feed above": ("a()\n\f\nX()\n", "a()\n\f\nnew()\nX()\n"),
    "form feed": ("if a:\n    b()\n\f    X()\n", "if a:\n    b()\n    new()\n\f    X()\n"),
    "comment that ends in a backslash": ("a()  # c \\\nX()\n", "a()  # c \\\nnew()\nX()\n"),
    "no final newline": ("X()", "new()\nX()"),
    "bracketed": ("a()\n(X())\n", "a()\nnew()\n(X())\n"),
    "bracketed in a one-line block": ("if a: (X())\n", "if a:\n    new()\n    (X())\n"),
}
AFTER = {
    "plain": ("X()\nb()\n", "X()\nnew()\nb()\n"),
    "behind a comment": ("X()  # c\nb()\n", "X()  # c\nnew()\nb()\n"),
    "no final newline": ("X()", "X()\nnew()"),
    "several lines": ("if a:\n  X(\n    1,\n  )\n  b()\n", "if a:\n  X(\n    1,\n  )\n  new()\n  b()\n"),
    "one-line block": ("if a: X()\nb()\n", "if a:\n    X()\n    new()\nb()\n"),
    "first of two": ("X(); b()\n", "X()\nnew()\nb()\n"),
    "trailing semicolon": ("X();\nb()\n", "X();\nnew()\nb()\n"),
    "first of two in a one-line block": ("if a: X(); b()\n", "if a:\n    X()\n    new()\n    b()\n"),
    "bracketed over lines": ("(X(\n))\nb()\n", "(X(\n))\nnew()\nb()\n"),
    "docstring after it": ('X()\n"""a\n  b"""\n', 'X()\nnew()\n"""a\n  b"""\n'),
}
DELETE = {
    "line": ("a()\nX()  # gone\nb()\n", "a()\nb()\n"),
    "last line": ("a()\nX()", "a()"),
    "only statement": ("if a:\n    X()\nb()\n", "if a:\n    pass\nb()\n"),
    "only statement of a one-line block": ("if a: X()\nb()\n", "if a: pass\nb()\n"),
    "only statement of the program": ("X()\n", ""),
    "several lines": ("a()\nX(\n  1,  # c\n)\nb()\n", "a()\nb()\n"),
    "first of a line": ("X(); b()  # c\n", "b()  # c\n"),
    "last of a line": ("a(); X()  # c\n", "a()  # c\n"),
    "middle of a one-line block": ("if a: b(); X(); c()\n", "if a: b(); c()\n"),
    "first of a one-line block": ("if a: X(); c()\n", "if a: c()\n"),
    "trailing semicolon": ("a()\nX();\nb()\n", "a()\nb()\n"),
    "decorated": ("a()\n@d\ndef X():\n    pass\nb()\n", "a()\nb()\n"),
}
DEDENT = {
    "tail of a with": (
        "with a:\n    b()\n    # c\n    X()\n    d()\ne()\n",
        "with a:\n    b()\n# c\nX()\nd()\ne()\n",
    ),
    "inner block": (
        "for i in a:\n  with b:\n    c()\n    X(\n        1,\n    )\n    if d:\n      e()\n",
        "for i in a:\n  with b:\n    c()\n  X(\n      1,\n  )\n  if d:\n    e()\n",
    ),
    "strings stay": (
        'with a:\n    b()\n    X("""\n    text\n    """)\n    d()\n',
        'with a:\n    b()\nX("""\n    text\n    """)\nd()\n',
    ),
    "one-line block": ("with a: b(); X()\nc()\n", "with a: b()\nX()\nc()\n"),
    "last block of an if": ("if a:\n    b()\nelif c:\n    d()\n    X()\n", "if a:\n    b()\nelif c:\n    d()\nX()\n"),
    "blank lines": ("with a:\n    b()\n\n    X()\n\n    c()\n", "with a:\n    b()\n\nX()\n\nc()\n"),
}


def statement_span(program: str):
    for whole in ("@d\n# c\n@e(1)\ndef X(): pass", "@d\ndef X():\n    pass"):
        if whole in program:
            return span_of(program, whole[whole.index("def") :])
    for whole in (
        "X(\n    1,\n  )",
        "X(\n  1,  # c\n)",
        "X(\n        1,\n    )",
        'X("""\n    text\n    """)',
        "(X(\n))",
    ):
        if whole in program:
            return span_of(program, whole)
    return span_of(program, "(X())" if "(X())" in program else "X()")


@pytest.mark.parametrize("name", BEFORE)
def test_insert_before(name):
    program, expected = BEFORE[name]
    assert rendered(program, InsertBefore(statement_span(program), "new()")) == expected


@pytest.mark.parametrize("name", AFTER)
def test_insert_after(name):
    program, expected = AFTER[name]
    assert rendered(program, InsertAfter(statement_span(program), "new()")) == expected


@pytest.mark.parametrize("name", DELETE)
def test_delete(name):
    program, expected = DELETE[name]
    assert rendered(program, DeleteStatement(statement_span(program))) == expected


@pytest.mark.parametrize("name", DEDENT)
def test_dedent_tail(name):
    program, expected = DEDENT[name]
    assert rendered(program, DedentTail(statement_span(program))) == expected


MOVE = {
    "behind": ("X()  # c\na()\nb()\n", "a()", False, "a()\nX()  # c\nb()\n"),
    "before": ("a()\nb()\nX()  # c\n", "a()", True, "X()  # c\na()\nb()\n"),
    "with the comments above": ("z()\n# d\n# e\nX()\na()\n", "a()", False, "z()\na()\n# d\n# e\nX()\n"),
    "out of a block": (
        "for i in a:\n    b()\n    # d\n    X(\n        1,\n    )  # c\nc()\n",
        "c()",
        True,
        "for i in a:\n    b()\n# d\nX(\n    1,\n)  # c\nc()\n",
    ),
    "into a block": ("X()\nif a:\n\tb()\n", "b()", False, "if a:\n\tb()\n\tX()\n"),
    "the last of its block": ("if a:\n    X()\nb()\n", "b()", False, "if a:\n    pass\nb()\nX()\n"),
    "the last of its block, with comments": (
        "if a:\n    # d\n    X()  # c\nb()\n",
        "b()",
        False,
        "if a:\n    pass\nb()\n# d\nX()  # c\n",
    ),
    "from a shared line": ("a(); X()  # c\nb()\n", "b()", False, "a()  # c\nb()\nX()\n"),
    "to a shared line": ("X()\na(); b()\n", "a()", False, "a()\nX()\nb()\n"),
    "the neighbour": ("a()\nX()", "a()", True, "X()\na()"),
}


@pytest.mark.parametrize("name", MOVE)
def test_move(name):
    program, anchor, is_before, expected = MOVE[name]
    moved = span_of(program, "X(\n        1,\n    )") if "X(\n" in program else span_of(program, "X()")
    assert rendered(program, MoveStatement(moved, span_of(program, anchor), is_before)) == expected


def test_a_statement_does_not_move_into_itself():
    program = "if a:\n    b()\n"
    inner, outer = span_of(program, "b()"), span_of(program, "if a:\n    b()")
    assert "holds it" in refusal(program, MoveStatement(inner, outer))
    assert "holds it" in refusal(program, MoveStatement(outer, outer))


def test_inserted_blocks_take_the_unit_of_the_file():
    program = "def f():\n\tX()\n"
    repair = InsertBefore(span_of(program, "X()"), "if a:\n    if b:\n        c()")
    assert rendered(program, repair) == "def f():\n\tif a:\n\t\tif b:\n\t\t\tc()\n\tX()\n"


def test_after_a_compound_its_own_comments_stay_in_it():
    program = "if a:\n    b()\n    # of the block\n\n# of what follows\nc()\n"
    repair = InsertAfter(span_of(program, "if a:\n    b()"), "new()")
    assert rendered(program, repair) == "if a:\n    b()\n    # of the block\nnew()\n\n# of what follows\nc()\n"


def test_two_deletions_that_empty_a_block():
    program = "if a:\n    b()\n    c()\nd()\n"
    repairs = [DeleteStatement(span_of(program, text)) for text in ("b()", "c()")]
    assert rendered(program, *repairs) == "if a:\n    pass\nd()\n"


@pytest.mark.parametrize("gone", ["a() b()", "b() c()", "a() c()", "b() d()", "a() b() c() d()"])
def test_deletions_on_one_line(gone):
    program = "if x: a(); b(); c(); d()\n"
    kept = [text for text in ("a()", "b()", "c()", "d()") if text not in gone.split()] or ["pass"]
    repairs = [DeleteStatement(span_of(program, text)) for text in gone.split()]
    assert rendered(program, *repairs) == f"if x: {'; '.join(kept)}\n"


@pytest.mark.parametrize(
    ("program", "repair"),
    [
        ("if a:\n    b()\nelif c:\n    d()\n", InsertBefore),
        ("if a:\n    b()\nelif c:\n    d()\n", DeleteStatement),
    ],
)
def test_elif_is_refused(program, repair):
    span = span_of(program, "elif c:\n    d()")
    made = repair(span, "new()") if repair is InsertBefore else repair(span)
    assert "elif" in refusal(program, made)


@pytest.mark.parametrize(
    "program",
    [
        "with a:\n    X()\n    b()\n",
        "for i in a:\n    b()\n    X()\nelse:\n    c()\n",
        "def f():\n    b()\n    X()\n",
        "try:\n    b()\n    X()\nfinally:\n    c()\n",
    ],
)
def test_tails_that_cannot_leave_their_block(program):
    refusal(program, DedentTail(span_of(program, "X()")))


def test_repairs_of_what_is_not_there_are_refused():
    assert "no statement" in refusal("a + b\n", InsertBefore(span_of("a + b\n", "b"), "new()"))
