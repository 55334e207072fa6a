import pickle
from pathlib import Path

import pytest

from amplint.flow.graph import EdgeKind, StepKind
from amplint.flow.statements import build
from amplint.syntax.lower import lower
from amplint.syntax.parse import parse
from tests.flow.paths import function, graph_of, sequences

# Program → the sequences of calls on the paths that return; p, q, r are unknown, xs may be empty.
RETURNING = {
    "if": ("if p: a()\nelif q: b()\nelse: c()\nd()", ["ad", "bd", "cd"]),
    "conditional expression": ("x = a() if p else b()\nc()", ["ac", "bc"]),
    "short circuit": ("x = p or a() or b()\nc()", ["abc", "ac", "c"]),
    "constant tests": ("if 0: a()\nelse: b()\nwhile True:\n    c()\n    break", ["bc"]),
    "arguments before the call": ("a(b(), *c(), k=d())", ["bcda"]),
    "calls along a chain": ("a(b()).x(c()).y(d())", ["bacd"]),
    "subscripts and attributes of targets": ("a().x = b()\nc()[d()] += e()", ["bacde"]),
    "for": ("for x in a(): b()\nc()", ["ac", "abc", "abbc"]),
    "for over a filled display": ("for x in (1, 2): a()\nb()", ["ab", "aab"]),
    "for over a range": ("for x in range(3): a()\nb()", ["ab", "aab"]),
    "for over a range of one": ("for x in range(1): a()\nb()", ["ab", "aab"]),
    "for over an empty range": ("for x in range(0): a()\nb()", ["b", "ab", "aab"]),
    "for else": ("for x in xs:\n    if p: break\n    a()\nelse: b()\nc()", ["abc", "aabc", "bc", "c"]),
    "while else": ("while g():\n    a()\n    if q: break\nelse: b()", ["a", "b", "ab", "aab"]),
    "continue": ("for x in xs:\n    if x: continue\n    a()\nb()", ["ab", "aab", "b"]),
    "return in a loop": ("for x in xs:\n    if x: return a()\nb()", ["a", "b"]),
    "loops that are never left": ("if p:\n    while True:\n        while True: pass\na()", ["a"]),
    "statements after a jump": ("return a()\nb()", ["a"]),
    "list comprehension": ("[a() for x in xs if b()]\nc()", ["c", "bac", "bc", "bbc"]),
    "comprehension over what a call gives": ("[b() for x in a()]\nc()", ["ac", "abc", "abbc"]),
    "nested comprehension": ("{a(): 1 for x in (1,) for y in c()}", ["c", "ca", "cc"]),
    "comprehension without calls": ("[x for x in a()]\nb()", ["ab"]),
    "lambda is not entered": ("f = lambda x=a(): b()\nc()", ["ac"]),
    "nested function is not entered": ("@a()\ndef g(x=b()):\n    c()\n@c()\nclass K(d()):\n    e()", ["abcd"]),
    "a lambda's defaults are evaluated": ("x = p and (lambda y=a(): y)\nb()", ["ab", "b"]),
    "assert": ("assert p, a()\nb()", ["b"]),
    "try finally": ("try:\n    a()\nfinally:\n    b()\nc()", ["abc"]),
    "return through finally": ("try:\n    if p: return a()\n    b()\nfinally:\n    c()\nd()", ["ac", "bcd"]),
    "break through finally": (
        "for x in xs:\n    try:\n        if x: break\n        a()\n    finally:\n        b()\nelse: c()\nd()",
        ["cd", "bd", "abbd", "abcd"],
    ),
    "continue through two finallys": (
        "for x in (1,):\n    try:\n        try:\n            if p: continue\n            a()\n        finally: b()\n"
        "    finally: c()\nd()",
        ["bcd", "abcd"],
    ),
    "finally returns instead": ("try:\n    return a()\nfinally:\n    return b()", ["ab"]),
    "finally ends an exception": ("for x in (1,):\n    try:\n        raise p\n    finally:\n        break\na()", ["a"]),
    "raise to its handler": (
        "try:\n    a()\n    raise ValueError\nexcept KeyError: b()\nexcept ValueError: c()\nexcept Exception: d()",
        ["ac", "c", "d", "b"],
    ),
    "raise of an unknown class": (
        "try:\n    raise Odd\nexcept KeyError: a()\nexcept Exception: b()\nexcept E: c()",
        ["a", "b"],
    ),
    "raise of a subclass": ("try:\n    raise KeyError(1)\nexcept LookupError: a()", ["a"]),
    "else of try": ("try:\n    a()\nexcept ValueError: b()\nelse: c()\nd()", ["acd", "bd"]),
    "any call may raise": ("try:\n    a()\n    c()\nexcept Exception: b()", ["ac", "ab", "b"]),
    "a handler's exceptions go outwards": (
        "try:\n    try:\n        raise ValueError\n    except ValueError:\n        raise KeyError\n    finally: a()\n"
        "except KeyError: b()",
        ["ab", "b"],
    ),
    "sys.exit ends": ("if p: sys.exit(a())\nb()", ["b"]),
    "sys.exit is seen by finally": ("try:\n    try: exit()\n    finally: a()\nexcept SystemExit: b()", ["ab", "b"]),
    "os._exit is not": ("try: os._exit(1)\nfinally: a()", []),
    "with": ("with a() as x, b():\n    c()\nd()", ["abcd"]),
    "suppress": ("with suppress(E):\n    a()\n    b()\nc()", ["abc", "ac", "c"]),
    "a raise that may be suppressed": ("with contextlib.suppress(E):\n    raise E\na()", ["a"]),
    "match": (
        "match a():\n    case 1: b()\n    case [x] if c(): d()\n    case _: e()",
        ["ab", "acd", "ace", "ae"],
    ),
    "match without a fitting case": ("match p:\n    case 1: a()\nb()", ["ab", "b"]),
    "match that always fits": ("match p:\n    case x: a()\n    case _: b()", ["a"]),
    "yield and await": ("x = yield a()\nyield from b()", ["ab"]),
    "walrus": ("if (x := a()): b()", ["a", "ab"]),
    "chained comparison": ("a() < b() < c()", ["abc"]),
    "f-string": ('x = f"{a()} {b():{c()}}"', ["abc"]),
}


@pytest.mark.parametrize(("source", "expected"), RETURNING.values(), ids=RETURNING)
def test_paths_to_the_exit(source, expected):
    longest = max(map(len, expected), default=0)
    assert set(sequences(source, longest=longest)) == set(expected)


def test_an_uncaught_raise_leaves_by_the_other_end():
    assert sequences("if p: raise E(a())\nb()", raised=True) == ["a"]
    assert sequences("try:\n    raise E\nfinally: a()", raised=True) == ["a"]
    assert sequences("with a():\n    raise E", raised=True) == ["a"]
    assert sequences("try: raise E\nexcept: a()", raised=True) == []
    assert sequences("try: raise E\nexcept KeyError: a()", raised=True) == [""]
    assert sequences("assert a(), b()", raised=True) == ["ab"]


def test_async_forms_run_as_the_others():
    graph = build(
        function("async def f():\n    async with a() as x:\n        async for y in x:\n            await b()")
    )
    kinds = [step.kind for _, _, step in graph.steps()]
    assert kinds.count(StepKind.ENTER) == kinds.count(StepKind.LEAVE) == 1
    assert {edge.kind for _, edge in graph.edges()} >= {EdgeKind.TURN, EdgeKind.EXHAUSTED}


def test_a_context_is_left_on_every_way_out_of_it():
    graph = graph_of("for x in xs:\n    with a():\n        if p: break\n        if q: continue\n        if r: return")
    enters = sum(step.kind is StepKind.ENTER for _, _, step in graph.steps())
    leaves = sum(step.kind is StepKind.LEAVE for _, _, step in graph.steps())
    assert (enters, leaves) == (1, 4)


@pytest.mark.parametrize("source", ["x = p and q", "x = a() if not r else p", "x = p or (q if r else -1)"])
def test_choices_between_values_are_drawn_where_one_has_an_effect(source):
    kinds = {edge.kind for _, edge in graph_of(source).edges()}
    assert (EdgeKind.BRANCH in kinds) == ("a()" in source)


def test_exceptions_are_drawn_to_handlers_only():
    assert not [e for _, e in graph_of("a()\nwith b(): c()").edges() if e.kind is EdgeKind.EXCEPTION]
    assert not [e for _, e in graph_of("try: a()\nfinally: b()").edges() if e.kind is EdgeKind.EXCEPTION]
    assert len([e for _, e in graph_of("try: a()\nexcept E: b()").edges() if e.kind is EdgeKind.EXCEPTION]) == 1


def test_bodies_of_other_owners():
    module = lower("x = a()\nclass K:\n    y = b()\nf = lambda: c()\n")
    assert [step.kind for _, _, step in build(module).steps()] == ["call", "bind", "bind", "bind"]
    klass, assign = module.body[1], module.body[2]
    assert [step.kind for _, _, step in build(klass).steps()] == ["call", "bind"]
    assert [step.kind for _, _, step in build(assign.value).steps()] == ["call", "return"]


def test_graphs_are_the_same_each_time_and_can_be_pickled():
    owner = function("try:\n    for x in xs: a()\nexcept E: b()\nfinally: c()")
    graph = build(owner)
    assert build(owner) == graph
    copy = pickle.loads(pickle.dumps(graph))
    assert [len(block.steps) for block in copy.blocks] == [len(block.steps) for block in graph.blocks]


def test_blocks_are_numbered_in_reading_order_and_none_is_unreachable():
    for path in Path("amplint").rglob("*.py"):
        graph = build(parse(path.read_text()))
        reached = {0, graph.exit, graph.raised, *(edge.target for _, edge in graph.edges())}
        assert reached == set(range(len(graph.blocks)))


def test_nested_finallys_grow_with_their_number_not_faster():
    sizes = []
    for depth in (4, 8, 16):
        lines = ["for x in xs:"]
        for level in range(depth):
            lines += ["    " * (level + 1) + "try:"]
        lines += [
            "    " * (depth + 1) + f"if x == {n}: {word}" for n, word in enumerate(["break", "continue", "return"])
        ]
        for level in reversed(range(depth)):
            lines += ["    " * (level + 1) + "finally: a()"]
        sizes.append(sum(len(block.steps) for block in graph_of("\n".join(lines)).blocks))
    assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])
