import pytest

from amplint.flow.graph import StepKind
from amplint.flow.inline import DEEPEST
from amplint.flow.terms import sole_return
from amplint.model.tree import FunctionDef, Lambda
from amplint.model.walks import walk
from amplint.syntax.lower import lower
from tests.flow.paths import program_graph, sequences_of

PROGRAMS = {
    "a call runs its body": ("def h():\n    a()\ndef f():\n    h()\n    b()", ["ab"]),
    "arguments answer questions": (
        "def h(x):\n    if x: a()\ndef f(p):\n    if p: b()\n    h(p)",
        ["", "ba"],
    ),
    "a constant argument": ("def h(x):\n    if x: a()\ndef f():\n    h(True)\n    h(False)", ["a"]),
    "a default": ("def h(x=None):\n    if x is not None: a()\ndef f(p):\n    h()\n    h(p)", ["", "a"]),
    "self is one object in all methods": (
        """
        class T:
            def g(self):
                if self.amp: a()
                else: b()
            def h(self):
                if self.amp: c()
                else: d()
        def f(trainer):
            trainer.g()
            trainer.h()
        """,
        ["ac", "bd"],
    ),
    "two objects are two": (
        "class T:\n    def g(self):\n        if self.amp: a()\ndef f(x, y):\n    x.g()\n    y.g()",
        ["", "a", "aa"],
    ),
    "locals of two calls are not the same": (
        "def h():\n    x = o()\n    if x: a()\n    if x: b()\ndef f():\n    h()\n    h()",
        ["", "ab", "abab"],
    ),
    "locals of two turns are not the same": (
        "def h(x):\n    y = x\n    if y: a()\n    if y: b()\ndef f(xs):\n    for x in xs: h(o(x))",
        ["", "ab", "abab", "ababab", "abababab"],
    ),
    "a rebound parameter": (
        "def h(x):\n    x = o(x)\n    if x: a()\ndef f(p):\n    if p: h(p)\n    if p: b()",
        ["", "ab", "b"],
    ),
    "an early return": ("def h(x):\n    if x: return\n    a()\ndef f(p):\n    h(p)\n    if p: b()", ["a", "b"]),
    "a predicate": ("def h(x):\n    return x > 3\ndef f(p):\n    if h(p): a()\n    if p <= 3: b()", ["a", "b"]),
    "recursion is a plain call": ("def h(x):\n    a()\n    h(x)\ndef f(p):\n    h(p)", ["a"]),
    "an exception is caught by the caller": (
        "def h():\n    a()\n    raise ValueError\ndef f():\n    try:\n        h()\n    except ValueError:\n        b()",
        ["ab", "b"],
    ),
    "a global is not the caller's local": (
        "def h():\n    if p: a()\ndef f(p):\n    if p: b()\n    h()",
        ["", "a", "b", "ba"],
    ),
    "a nested function is a local": (
        "def h():\n    def u(): pass\n    a()\ndef f():\n    if u: b()\n    h()\n    if u: c()",
        ["a", "bac"],
    ),
    "a nested class is a local": (
        "def h():\n    class u: pass\n    a()\ndef f():\n    if u: b()\n    h()\n    if u: c()",
        ["a", "bac"],
    ),
    "a nested function reads its parent": (
        "def f(p):\n    def h():\n        if p: a()\n    if p: b()\n    h()",
        ["", "ba"],
    ),
}


@pytest.mark.parametrize(("source", "expected"), PROGRAMS.values(), ids=PROGRAMS)
def test_paths_go_through_called_functions(source, expected):
    assert sequences_of(program_graph(source)) == expected


def test_an_expanded_call_is_an_open_and_a_close_step_of_the_callers_frame():
    graph = program_graph("def h():\n    a()\ndef f():\n    h()")
    kinds = [(step.kind, step.frame, step.opened) for _, _, step in graph.steps()]
    assert kinds == [(StepKind.OPEN, 0, 1), (StepKind.CALL, 1, -1), (StepKind.CLOSE, 0, 1)]
    assert graph.frames[1].call is next(graph.steps())[2].node


@pytest.mark.parametrize(("depth", "expected"), [(DEEPEST, ["a"]), (DEEPEST + 1, [""])])
def test_expansion_ends_in_the_depth(depth, expected):
    chain = [f"def h{number}():\n    h{number + 1}()\n" for number in range(1, depth)]
    source = f"def h{depth}():\n    a()\n" + "".join(chain) + "def f():\n    h1()"
    assert sequences_of(program_graph(source)) == expected


def test_expansion_ends_where_calls_multiply():
    source = "def h0():\n    a()\n" + "".join(f"def h{n}():\n" + f"    h{n - 1}()\n" * 6 for n in range(1, 8))
    assert len(program_graph(source + "def f():\n    h7()").frames) < 4000


@pytest.mark.parametrize(
    ("text", "has_one"),
    [("f = lambda: a\n", True), ("def f():\n    return a\n", True), ("def f():\n    if b:\n        return a\n", False)],
)
def test_what_every_call_returns(text, has_one):
    owner = next(node for node in walk(lower(text)) if isinstance(node, FunctionDef | Lambda))
    assert (sole_return(owner) is not None) is has_one
