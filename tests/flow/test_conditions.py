import pytest

from amplint.flow.conditions import Questions
from amplint.flow.statements import build
from amplint.syntax.lower import lower
from tests.flow.paths import graph_of, sequences

CORRELATED = {
    "the same name": ("if p: a()\nelse: b()\nif p: c()\nelse: d()", ["ac", "bd"]),
    "its negation": ("if p: a()\nelse: b()\nif not p: c()\nelse: d()", ["ad", "bc"]),
    "an attribute": ("if args.amp: a()\nif args.amp: b()", ["", "ab"]),
    "a constant item": ('if args["amp"]: a()\nif args["amp"]: b()', ["", "ab"]),
    "an annotation assigns nothing": ("if p: a()\np: int\nif p: b()", ["", "ab"]),
    "an item beside one that is assigned": (
        'if args["amp"]: a()\nargs["lr"] = g()\nif args["amp"]: b()',
        ["", "ab"],
    ),
    "is None": ("if p is None: a()\nif p is not None: b()", ["a", "b"]),
    "truth of an object": ("if scaler: a()\nscaler.go()\nif scaler is not None: b()", ["", "ab"]),
    "truth of a number is not its being there": ("if p: a()\nif p is not None: b()\nif p: c()", ["", "abc", "b"]),
    "equality": ("if p == 3: a()\nif 3 != p: b()", ["a", "b"]),
    "two constants exclude each other": (
        'if p == "x": a()\nif p == "y": b()\nif p == "x": c()\nif p == "y": d()',
        ["", "ac", "bd"],
    ),
    "True is truth": ("if p is True: a()\nif p: b()", ["", "ab"]),
    "False is its negation": ("if p == False: a()\nif p is False: b()\nif p: c()", ["ab", "c"]),
    "order": ("if p < q: a()\nif p >= q: b()", ["a", "b"]),
    "at most": ("if p <= q: a()\nif q < p: b()", ["a", "b"]),
    "membership": ("if p in xs: a()\nif p not in xs: b()", ["a", "b"]),
    "a negative number": ("if p == -1: a()\nif p != -1: b()", ["a", "b"]),
    "an inverted number": ("if p == ~q: a()\nif p == ~q: b()", ["", "ab"]),
    "a conditional test": (
        "if (p if q else r): a()\nif q: b()\nif p: c()\nif r: d()",
        ["", "abc", "abcd", "acd", "ad", "b", "bd", "c"],
    ),
    "the truth of bool": ("if bool(p): a()\nif p: b()", ["", "ab"]),
    "dtypes exclude each other": (
        "if p == torch.float16: a()\nif p is torch.bfloat16: b()\nif p == torch.float16: c()",
        ["", "ac", "b"],
    ),
    "None equals no constant": ('if p is None: a()\nif p == "x": b()\nif p is None: c()', ["", "ac", "b"]),
    "order from the other side": ("if p < q: a()\nif q > p: b()", ["", "ab"]),
    "the flag after an accumulating context": (
        "with args.accumulate(p):\n    if args.sync_gradients: a()\nif args.sync_gradients: b()",
        ["", "ab"],
    ),
    "and": ("if p and q: a()\nif p: b()\nif q: c()", ["", "abc", "b", "c"]),
    "or": ("if p or q: a()\nif not p and not q: b()", ["a", "b"]),
    "remainders": ("if p % 4: a()\nif p % 4 == 0: b()", ["a", "b"]),
    "both ways to write a boundary": ("if (p + 1) % q == 0: a()\nif p % q == q - 1: b()", ["", "ab"]),
    "is_enabled": ("if scaler.is_enabled(): a()\nif not scaler.is_enabled(): b()", ["a", "b"]),
    "isinstance": ("if isinstance(p, X): a()\nif isinstance(p, X): b()", ["", "ab"]),
    "a conditional expression": ("a() if p else b()\nif p: c()", ["ac", "b"]),
    "a short circuit": ("p and a()\nif p: b()", ["", "ab"]),
    "early exit": ("if not p:\n    a()\n    return\nb()\nif p: c()", ["a", "bc"]),
    "match and comparison": ('match p:\n    case "x": a()\n    case "y": b()\nif p == "x": c()', ["", "ac", "b"]),
    "assert": ("assert p\nif p: a()\nelse: b()", ["a"]),
    "walrus": ("if (n := g(p)): a()\nif n: b()", ["", "ab"]),
    "a chain of comparisons": ("if 0 < p < 3: a()\nif 0 < p < 3: b()", ["", "ab"]),
}
UNRELATED = {
    "another name": ("if p: a()\nif q: b()\n", ["", "a", "ab", "b"]),
    "assigned between": ("if p: a()\np = g()\nif p: b()", ["", "a", "ab", "b"]),
    "what an attribute hangs on is assigned": ("if args.amp: a()\nargs = g()\nif args.amp: b()", ["", "a", "ab", "b"]),
    "deleted between": ("if p: a()\ndel p\nif p: b()", ["", "a", "ab", "b"]),
    "bound by with": ("if p: a()\nwith o() as p:\n    pass\nif p: b()", ["", "a", "ab", "b"]),
    "an answer of a call": ("if g(): a()\nif g(): b()", ["", "a", "ab", "b"]),
    "attributes may be equal": (
        "if p == args.x: a()\nif p == args.y: b()\nif p == args.x: c()\nif p == args.y: d()",
        ["", "abcd", "ac", "bd"],
    ),
    "equality to what is not known": (
        "if p == [x for x in q]: a()\nif p == [x for x in r]: b()",
        ["", "a", "ab", "b"],
    ),
    "an item that may be any": ("if xs[0]: a()\nxs[p] = g()\nif xs[0]: b()", ["", "a", "ab", "b"]),
    "the length after append": ("if len(xs) > 3: a()\nxs.append(p)\nif len(xs) > 3: b()", ["", "a", "ab", "b"]),
    "the flag of an accumulating context": (
        "if args.sync_gradients: a()\nwith args.accumulate(p):\n    if args.sync_gradients: b()",
        ["", "a", "ab", "b"],
    ),
    "a type of that name": ("if p: a()\nclass p: pass\nif p: b()", ["", "a", "ab", "b"]),
    "a type alias": ("if p: a()\ntype p = q\nif p: b()", ["", "a", "ab", "b"]),
    "augmented": ("if p: a()\np += 1\nif p: b()", ["", "a", "ab", "b"]),
    "imported": ("if p: a()\nimport m as p\nif p: b()", ["", "a", "ab", "b"]),
    "imported from": ("if p: a()\nfrom m import p\nif p: b()", ["", "a", "ab", "b"]),
    "a package imported": ("if p: a()\nimport p.m\nif p: b()", ["", "a", "ab", "b"]),
    "defined": ("if p: a()\ndef p(): pass\nif p: b()", ["", "a", "ab", "b"]),
    "caught": ("if p: a()\ntry: raise E\nexcept Exception as p: pass\nif p: b()", ["", "a", "ab", "b"]),
    "bound on the way": ("if p: a()\nh(p := g())\nif p: b()", ["", "a", "ab", "b"]),
    "a pattern of more than a value": (
        "match p:\n    case [1, q]: a()\nif p == 1: b()\nif p == 1: c()",
        ["", "a", "abc", "bc"],
    ),
    "a pattern of one part": (
        "match p:\n    case [1]: a()\nif p == 1: b()\nif p == 1: c()",
        ["", "a", "abc", "bc"],
    ),
    "captured": ("if p: a()\nmatch q:\n    case [p]: pass\n    case p: pass\nif p: b()", ["", "a", "ab", "b"]),
    "swapped": ("p, q = q, p\nif p: a()\nif q: b()\nif p: c()", ["", "abc", "ac", "b"]),
}
COMPUTED = {
    "a flag": ("u = scaler is not None and p\nif u: a()\nif scaler is not None: b()\nelse: c()", ["ab", "b", "c"]),
    "a flag of a flag": ("u = p and q\nv = not u\nif u: a()\nif v: b()", ["a", "b"]),
    "a copy of a copy": ("u = p\nv = u\nif v: a()\nif p: b()", ["", "ab"]),
    "a flag set on one way": ("u = False\nif p:\n    u = True\n    a()\nif u: b()", ["", "ab"]),
    "an object or None": ("s = GradScaler() if p else None\nif s is not None: a()\nif p: b()", ["", "ab"]),
    "a made object": ("s = GradScaler()\nif s: a()\nelse: b()\nif s: c()", ["ac"]),
    "an object made on one way": ("s = None\nif p:\n    s = make(q)\n    a()\nif s is not None: b()", ["", "a", "ab"]),
    "enabled": ("s = GradScaler(enabled=p)\nif s.is_enabled(): a()\nif p: b()", ["", "ab"]),
    "enabled by default": ("s = GradScaler()\nif s.is_enabled(): a()\nelse: b()\nif s.is_enabled(): c()", ["ac"]),
    "a display": ("u = [q]\nif u: a()\nelse: b()\nif u: c()", ["ac"]),
    "an empty list": ("u = []\nif u: a()\nelse: b()\nif u: c()", ["b"]),
    "a list that may be filled": ("u = []\nif p: u.append(q)\nif u: a()\nelse: b()\nif u: c()", ["ac", "b"]),
    "a dictionary that is filled": ("u = {}\nu[q] = p\nif u: a()\nelse: b()\nif u: c()", ["ac", "b"]),
    "a comparison is not None": ("u = p == 3\nif u is None: a()\nif u is None: b()\nif u: c()", ["", "c"]),
    "one of two modes": ('m = "x" if p else "y"\nif m == "x": a()\nif p: b()\nif m == "y": c()', ["ab", "c"]),
    "a disabled object among others": (
        "s = GradScaler(q, 3)\nif s.is_enabled(): a()\nif s.is_enabled(): b()",
        ["", "ab"],
    ),
    "annotated": ("u: bool\nu: bool = p\nif u: a()\nif p: b()", ["", "ab"]),
    "a count": ("u = 0\nu += 1\nif u == 0: a()\nif u == 0: b()", ["", "ab"]),
    "a starred part": ("u, *v = p, q, r\nif u: a()\nif p: b()\nif u: c()", ["", "abc", "ac", "b"]),
    "an unknown number of parts": ("u, v = g()\nif u: a()\nif v: b()\nif u: c()", ["", "abc", "ac", "b"]),
    "an empty container": ("u = OrderedDict()\nif u: a()\nif u: b()", ["", "ab"]),
    "always true": ("u = p or True\nif u: a()\nelse: b()\nif u: c()", ["ac"]),
    "true whatever it reads": ("u = p or not p\nif u: a()\nelse: b()", ["a"]),
    "false whatever it reads": ("u = p and not (p or q)\nif u: a()\nelse: b()", ["b"]),
    "a part that decides nothing": ("u = p and True\nif u: a()\nif p: b()", ["", "ab"]),
    "a flag that every turn computes anew": (
        "for x in (1, 2):\n    u = p\n    if u: a()\n    else: b()\n    if q: break",
        ["a", "aa", "aaa", "b", "bb", "bbb"],
    ),
    "bool": ("u = bool(p)\nif u: a()\nif p: b()", ["", "ab"]),
    "a copy keeps its value": ("u = p\np = g()\nif u: a()\nif p: b()\nif u: c()", ["", "abc", "ac", "b"]),
    "unpacked": ("u, v = p, not p\nif u: a()\nif v: b()", ["a", "b"]),
}


@pytest.mark.parametrize(("source", "expected"), CORRELATED.values(), ids=CORRELATED)
def test_the_same_question_has_one_answer(source, expected):
    assert sequences(source) == expected


@pytest.mark.parametrize(("source", "expected"), UNRELATED.values(), ids=UNRELATED)
def test_what_changed_is_asked_anew(source, expected):
    assert sequences(source) == expected


@pytest.mark.parametrize(("source", "expected"), COMPUTED.values(), ids=COMPUTED)
def test_a_flag_answers_what_it_was_computed_from(source, expected):
    assert sequences(source, longest=3) == expected


def test_a_question_that_a_loop_does_not_change_is_asked_by_every_turn():
    found = sequences("for x in xs:\n    if p: a()\n    else: b()", longest=3)
    assert found == ["", "a", "aa", "aaa", "b", "bb", "bbb"]


def test_a_question_about_the_turn_is_asked_anew_by_every_turn():
    found = sequences("for i in xs:\n    a()\n    if i % q == 0: b()\n    if i % q == 0: c()", longest=6)
    assert "aabcaabc"[:6] in found
    assert not [path for path in found if "ab" in path and "abc" not in path and not path.endswith("ab")]


def test_a_flag_that_is_turned_over_alternates():
    found = sequences("for x in xs:\n    if p: a()\n    else: b()\n    p = not p", longest=3)
    assert found == ["", "a", "ab", "aba", "b", "ba", "bab"]


def test_a_counter_that_counts_on_is_not_asked():
    assert Questions(graph_of("for x in xs:\n    p += 1\n    if p == 3: a()")).asked == ()


def test_what_is_tested_once_is_not_asked():
    assert Questions(graph_of("if p: a()\nif q: b()")).asked == ()


def test_what_decides_one_flag_and_nothing_else_is_not_asked():
    assert Questions(graph_of("u = p\nif u: a()")).asked == ()


def test_at_most_four_questions_are_asked_the_most_asked_first():
    names = "pqrst"
    source = "\n".join(f"if {name}: a()" for name in names for _ in range(2)) + "\nif t: b()"
    questions = Questions(graph_of(source))
    assert [atom.left[1] for atom in questions.asked] == ["t", "p", "q", "r"]


def test_questions_on_which_a_wanted_step_hangs_at_once_come_first():
    source = "if p:\n    if q: a()\nif p:\n    if q: a()\nif p:\n    if r: a()"
    questions = Questions(graph_of(source), is_relevant=lambda step: step.kind == "call")
    assert [atom.left[1] for atom in questions.asked] == ["q", "p"]


def test_branches_that_decide_no_wanted_step_are_not_asked():
    source = "if p: x = 1\nif p: y = 2\nif q: a()\nif q: b()"
    wanted = Questions(graph_of(source), is_relevant=lambda step: step.kind == "call")
    assert [atom.left[1] for atom in wanted.asked] == ["q"]


@pytest.mark.parametrize("source", ["if x: a()\nif x: b()\n", "class K:\n    if x: a()\n    if x: b()\n"])
def test_modules_and_classes_ask_too(source):
    module = lower(source)
    owner = module.body[0] if source.startswith("class") else module
    questions = Questions(build(owner))
    assert [atom.left[1] for atom in questions.asked] == ["x"]
