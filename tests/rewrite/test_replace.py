import pytest

from amplint.model.edit import InsertBefore, Replace
from tests.rewrite.rendering import edits_of, refusal, rendered, span_of

BRACKETS = {
    "argument": ("f(X)\n", "a / b", "f(a / b)\n"),
    "attribute": ("X.g()\n", "a / b", "(a / b).g()\n"),
    "own brackets": ("(X).g()\n", "a / b", "(a / b).g()\n"),
    "callee": ("X(1)\n", "a or b", "(a or b)(1)\n"),
    "operand": ("c - X\n", "a - b", "c - (a - b)\n"),
    "assigned": ("c = X\n", "a / b", "c = a / b\n"),
    "test": ("if X: pass\n", "a and b", "if a and b: pass\n"),
    "call needs none": ("X.g()\n", "f(a)", "f(a).g()\n"),
    "brackets of the code": ("X.g()\n", "(a / b)", "(a / b).g()\n"),
    "tuple of the code": ("X.g()\n", "(a, b)", "(a, b).g()\n"),
    "index": ("c[X]\n", "a + b", "c[a + b]\n"),
    "indexed": ("X[0]\n", "a + b", "(a + b)[0]\n"),
    "item": ("[X, c]\n", "a + b", "[a + b, c]\n"),
    "tuple as item": ("[X, c]\n", "a, b", "[(a, b), c]\n"),
    "decorator": ("@X\ndef f(): pass\n", "a(b)", "@a(b)\ndef f(): pass\n"),
    "context": ("with X as c: pass\n", "a(b)", "with a(b) as c: pass\n"),
    "default": ("def f(c=X): pass\n", "a + b", "def f(c=a + b): pass\n"),
    "conditional": ("c if X else d\n", "a if b else e", "c if (a if b else e) else d\n"),
}


@pytest.mark.parametrize("name", BRACKETS)
def test_brackets(name):
    program, code, expected = BRACKETS[name]
    assert rendered(program, Replace(span_of(program, "X"), code)) == expected


def test_a_statement_by_several_at_its_indentation():
    program = "def f():\n    X()\n    b()\n"
    repair = Replace(span_of(program, "X()"), "if a:\n    X()")
    assert rendered(program, repair) == "def f():\n    if a:\n        X()\n    b()\n"


def test_several_statements_do_not_fit_on_a_shared_line():
    program = "a(); X()\n"
    refusal(program, Replace(span_of(program, "X()"), "b()\nc()"))


def test_what_is_no_expression_is_refused():
    refusal("f(X)\n", Replace(span_of("f(X)\n", "X"), "a b"))


def test_overlapping_repairs_are_refused():
    program = "f(X)\n"
    repairs = [Replace(span_of(program, "X"), "a"), Replace(span_of(program, "f(X)"), "b")]
    assert "overlap" in refusal(program, *repairs)


def test_what_changes_nothing_is_no_edit():
    program = "f(X)\n"
    assert edits_of(program, Replace(span_of(program, "X"), "X")) == ()


def test_edits_that_touch_become_one():
    program = "X()\nb()\n"
    repairs = [InsertBefore(span_of(program, "X()"), "a()"), Replace(span_of(program, "X"), "c")]
    (edit,) = edits_of(program, *repairs)
    assert edit.text == "a()\nc"
