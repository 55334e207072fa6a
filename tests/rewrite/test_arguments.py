import pytest

from amplint.model.edit import DeleteArgument, InsertArgument, NameArgument
from tests.rewrite.rendering import TableSpeller, refusal, rendered, span_of

FIRST = {
    "empty": ("f()\n", 'f("cuda")\n'),
    "empty with space": ("f( )\n", 'f("cuda" )\n'),
    "empty over lines": ("f(\n  # c\n)\n", 'f("cuda"\n  # c\n)\n'),
    "one": ("f(a)\n", 'f("cuda", a)\n'),
    "bracketed": ("f((a))\n", 'f("cuda", (a))\n'),
    "trailing comma": ("f(a,)\n", 'f("cuda", a,)\n'),
    "star": ("f(*a)\n", 'f("cuda", *a)\n'),
    "double star": ("f(** a)\n", 'f("cuda", ** a)\n'),
    "keyword": ("f(k = a)\n", 'f("cuda", k = a)\n'),
    "generator": ("f(x for x in y)\n", 'f("cuda", (x for x in y))\n'),
    "generator that starts with a bracket": ("f((x) for x in y)\n", 'f("cuda", ((x) for x in y))\n'),
    "bracketed generator": ("f((x for x in y))\n", 'f("cuda", (x for x in y))\n'),
    "lines": ("f(\n    a,\n    b,\n)\n", 'f(\n    "cuda",\n    a,\n    b,\n)\n'),
    "lines below a comment": ("f(  # c\n\ta\n)\n", 'f(  # c\n\t"cuda",\n\ta\n)\n'),
    "hanging": ("f(a,\n  b)\n", 'f("cuda", a,\n  b)\n'),
    "bracketed callee": ("(f)(a)\n", '(f)("cuda", a)\n'),
    "callee over lines": ("(g\n .f)(a)\n", '(g\n .f)("cuda", a)\n'),
}
LAST = {
    "empty": ("f()\n", "f(k=1)\n"),
    "one": ("f(a)\n", "f(a, k=1)\n"),
    "bracketed": ("f((a))\n", "f((a), k=1)\n"),
    "trailing comma": ("f(a,)\n", "f(a, k=1,)\n"),
    "before a double star": ("f(a, **b)\n", "f(a, k=1, **b)\n"),
    "behind a star": ("f(*a)\n", "f(*a, k=1)\n"),
    "generator": ("f(x for x in y)\n", "f((x for x in y), k=1)\n"),
    "lines": ("f(\n    a,\n)\n", "f(\n    a,\n    k=1,\n)\n"),
    "lines without last comma": ("f(\n    a,\n    b\n)\n", "f(\n    a,\n    b,\n    k=1\n)\n"),
    "lines with comments": ("f(\n    a,  # c\n    b  # d\n)\n", "f(\n    a,  # c\n    b,  # d\n    k=1\n)\n"),
    "lines, before a double star": ("f(\n    a,\n    **b,\n)\n", "f(\n    a,\n    k=1,\n    **b,\n)\n"),
    "hanging": ("f(a,\n  b)\n", "f(a,\n  b, k=1)\n"),
    "string with a bracket": ('f(")")\n', 'f(")", k=1)\n'),
    "nested call": ("f(g(a))\n", "f(g(a), k=1)\n"),
    "comment before the end": ("f(a  # c\n)\n", "f(a, k=1  # c\n)\n"),
}
DELETE = {
    "only": ("f(X)\n", "f()\n"),
    "only, trailing comma": ("f(X,)\n", "f()\n"),
    "first": ("f(X, a)\n", "f(a)\n"),
    "middle": ("f(a, X, b)\n", "f(a, b)\n"),
    "last": ("f(a, X)\n", "f(a)\n"),
    "last, trailing comma": ("f(a, X,)\n", "f(a,)\n"),
    "keyword": ("f(a, k = X)\n", "f(a)\n"),
    "bracketed": ("f(a, (X))\n", "f(a)\n"),
    "lines": ("f(\n    a,\n    X,\n    b,\n)\n", "f(\n    a,\n    b,\n)\n"),
    "last of lines": ("f(\n    a,\n    X,\n)\n", "f(\n    a,\n)\n"),
    "its comment stays": ("f(\n    X,  # c\n    b,\n)\n", "f(\n    # c\n    b,\n)\n"),
    "the comment before it stays": ("f(\n    a,  # c\n    X\n)\n", "f(\n    a,  # c\n)\n"),
}


@pytest.mark.parametrize("name", FIRST)
def test_positional_goes_first(name):
    program, expected = FIRST[name]
    assert rendered(program, InsertArgument(span_of(program, program.strip()), '"cuda"')) == expected


@pytest.mark.parametrize("name", LAST)
def test_keyword_goes_last(name):
    program, expected = LAST[name]
    assert rendered(program, InsertArgument(span_of(program, program.strip()), "1", "k")) == expected


@pytest.mark.parametrize("name", DELETE)
def test_delete(name):
    program, expected = DELETE[name]
    assert rendered(program, DeleteArgument(span_of(program, "X"))) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("f(X)\n", "f(k=X)\n"),
        ("f(a, (X))\n", "f(a, k=(X))\n"),
        ("f(\n    X,\n)\n", "f(\n    k=X,\n)\n"),
    ],
)
def test_name(program, expected):
    assert rendered(program, NameArgument(span_of(program, "X"), "k")) == expected


def test_name_a_generator():
    program = "f(x for x in y)\n"
    assert rendered(program, NameArgument(span_of(program, "x for x in y"), "k")) == "f(k=(x for x in y))\n"


@pytest.mark.parametrize("program", ["f(*X)\n", "f(k=X)\n"])
def test_only_plain_arguments_get_names(program):
    refusal(program, NameArgument(span_of(program, "X"), "k"))


def test_old_positions_become_keywords_behind_the_device():
    program = "with amp(flag, half, False): pass\n"
    repairs = [
        InsertArgument(span_of(program, "amp(flag, half, False)"), '"cuda"'),
        NameArgument(span_of(program, "flag"), "enabled"),
        NameArgument(span_of(program, "half"), "dtype"),
        NameArgument(span_of(program, "False"), "cache_enabled"),
    ]
    expected = 'with amp("cuda", enabled=flag, dtype=half, cache_enabled=False): pass\n'
    assert rendered(program, *repairs) == expected


def test_several_insertions_into_an_empty_call():
    program = "f()\n"
    call = span_of(program, "f()")
    repairs = [InsertArgument(call, "1", "a"), InsertArgument(call, '"cuda"'), InsertArgument(call, "2", "b")]
    assert rendered(program, *repairs) == 'f("cuda", a=1, b=2)\n'


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("f(X)\n", 'f("cuda", k=1)\n'),
        ("f(X, a)\n", 'f("cuda", a, k=1)\n'),
        ("f(a, X)\n", 'f("cuda", a, k=1)\n'),
        ("f(a, X,)\n", 'f("cuda", a, k=1,)\n'),
        ("f(\n    a,\n    X,\n)\n", 'f(\n    "cuda",\n    a, k=1,\n)\n'),
        ("f(\n    X,\n    a,\n)\n", 'f(\n    "cuda",\n    a,\n    k=1,\n)\n'),
        ("f(\n    a,  # c\n    X,  # d\n)\n", 'f(\n    "cuda",\n    a, k=1,  # c\n    # d\n)\n'),
    ],
)
def test_delete_and_insert(program, expected):
    call = span_of(program, program.strip())
    repairs = [DeleteArgument(span_of(program, "X")), InsertArgument(call, '"cuda"'), InsertArgument(call, "1", "k")]
    assert rendered(program, *repairs) == expected


def test_calls_inside_calls():
    program = "f(g(a), b)\n"
    repairs = [
        InsertArgument(span_of(program, "g(a)"), "1", "k"),
        InsertArgument(span_of(program, "f(g(a), b)"), "2", "k"),
        NameArgument(span_of(program, "g(a)"), "m"),
        NameArgument(span_of(program, "b"), "n"),
    ]
    assert rendered(program, *repairs) == "f(m=g(a, k=1), n=b, k=2)\n"


def test_values_are_spelled():
    program = "import torch as T\nf()\n"
    repair = InsertArgument(span_of(program, "f()"), "${torch.float16}", "dtype")
    speller = TableSpeller({"torch.float16": "T.float16"})
    assert rendered(program, repair, speller=speller) == "import torch as T\nf(dtype=T.float16)\n"


def test_strings_take_the_quotes_of_the_file():
    program = "a = ['b', 'c', \"d\"]\nf()\n"
    assert rendered(program, InsertArgument(span_of(program, "f()"), '"cuda"')).endswith("f('cuda')\n")
    program = "a = 'b', \"c\"\nf()\n"
    assert rendered(program, InsertArgument(span_of(program, "f()"), '"cuda"')).endswith('f("cuda")\n')


def test_strings_inside_strings_take_the_other_quotes():
    program = 'a = f"{f()}"\n'
    assert rendered(program, InsertArgument(span_of(program, "f()"), '"cuda"')) == "a = f\"{f('cuda')}\"\n"
    program = "a = f'{f()}'\n"
    assert rendered(program, InsertArgument(span_of(program, "f()"), '"cuda"')) == "a = f'{f(\"cuda\")}'\n"
    assert "f-string" in refusal(program, InsertArgument(span_of(program, "f()"), r'"\n"'))


def test_what_is_no_call_is_refused():
    refusal("f(a)\n", InsertArgument(span_of("f(a)\n", "a"), "1"))
    refusal("f(a)\n", DeleteArgument(span_of("f(a)\n", "f")))
