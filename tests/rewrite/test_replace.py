import pytest

from amplint.model.edit import InsertBefore, KeepLeft, Replace, Wrap
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


WRAPS = {
    "call": ("X.g()\n", "f(", ")", "f(X).g()\n"),
    "quotient": ("X.g()\n", "", " / n", "(X / n).g()\n"),
    "quotient in own brackets": ("(X).g()\n", "", " / n", "(X / n).g()\n"),
    "quotient of a sum": ("f(a + X)\n", "", " / n", "f((a + X) / n)\n"),
    "sum in a call": ("g(a + X)\n", "f(", ")", "g(f(a + X))\n"),
    "sum in brackets": ("(a + X).g()\n", "f(", ")", "f(a + X).g()\n"),
    "assigned": ("b = X\n", "", " / n", "b = X / n\n"),
    "assigned sum": ("b = a + X\n", "", " / n", "b = (a + X) / n\n"),
    "its text stays": ("h(X( 'a',\n  1 ))\n", "f(", ")", "h(f(X( 'a',\n  1 )))\n"),
    "before another argument": ("h(X)\n", "f(", ", 1)", "h(f(X, 1))\n"),
    "quotient of a sum in brackets": ("(a + X).g()\n", "", " / n", "((a + X) / n).g()\n"),
    "negated": ("-X\n", "", " / n", "-(X / n)\n"),
}


@pytest.mark.parametrize("name", WRAPS)
def test_wrap(name):
    program, before, after, expected = WRAPS[name]
    text = next(t for t in ("X( 'a',\n  1 )", "a + X", "X") if t in program)
    assert rendered(program, Wrap(span_of(program, text), before, after)) == expected


def test_what_is_inside_a_wrap_may_change_too():
    program = "X(a).g()\n"
    repairs = [Wrap(span_of(program, "X(a)"), "f(", ")"), Replace(span_of(program, "a"), "b")]
    assert rendered(program, *repairs) == "f(X(b)).g()\n"


def test_only_expressions_are_wrapped():
    refusal("a = b\n", Wrap(span_of("a = b\n", "a = b"), "f(", ")"))


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


KEPT = {
    "alone": ("b = X / n\n", "X / n", "b = X\n"),
    "in its brackets": ("b = (a + X ) / n * c\n", "(a + X ) / n", "b = (a + X ) * c\n"),
    "over lines": ("b = (\n  X  # x\n  ) / (\n n)\n", "(\n  X  # x\n  ) / (\n n)", "b = (\n  X  # x\n  )\n"),
    "within brackets": ("b = (\n  X\n  / n\n)\n", "X\n  / n", "b = (\n  X\n)\n"),
    "a call": ("b = X(\n  1,\n) / n\n", "X(\n  1,\n) / n", "b = X(\n  1,\n)\n"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_stays_of_a_quotient_stays_as_it_is_written(name):
    program, whole, expected = KEPT[name]
    left = "a + X" if "a + X" in program else "X(\n  1,\n)" if "1," in program else "X"
    assert rendered(program, KeepLeft(span_of(program, whole), span_of(program, left))) == expected


def test_no_comment_is_lost():
    program = "b = (\n  X  # x\n  / n\n)\n"
    whole = span_of(program, "X  # x\n  / n")
    assert refusal(program, KeepLeft(whole, span_of(program, "X"))) == "a comment behind it would be lost"
    assert refusal(program, Replace(whole, "c")) == "a comment inside it would be lost"
    assert rendered(program, Replace(span_of(program, "X"), "c")) == program.replace("X", "c")
