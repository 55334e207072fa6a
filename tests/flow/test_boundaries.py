import pytest

from amplint.flow.boundaries import Boundary, BoundaryKind, asks_for_the_last, boundary
from amplint.model.tree import Assign, Expr, ExprStmt, If, Name
from amplint.model.walks import dotted, walk
from tests.flow.paths import function


def asked(test: str, before: str = "pass") -> Boundary | None:
    """What the test of the only `if` asks, in a function that also runs the lines before."""
    owner = function(f"for i in xs:\n    {before}\n    if {test}:\n        c = 0\n")
    assigned = {
        node.targets[0].id: node.value
        for node in walk(owner)
        if isinstance(node, Assign)
        if isinstance(node.targets[0], Name)
    }

    def meaning(expr: Expr) -> Expr | None:
        return assigned.get(expr.id) if isinstance(expr, Name) and expr.id.startswith("flag") else None

    return next(boundary(node.test, owner, meaning) for node in walk(owner) if isinstance(node, If))


MODULO = [
    "(i + 1) % n == 0",
    "(1 + i) % n == 0",
    "0 == (i + 1) % n",
    "not (i + 1) % n",
    "not ((i + 1) % n != 0)",
    "i % n == n - 1",
    "i % 4 == 3",
    "i % n == 0",
    "i % 4 == 4 - 1",
    'i % p["n"] == p["n"] - 1',
    "bool((i + 1) % n == 0)",
    "(b := (i + 1) % n == 0)",
]


@pytest.mark.parametrize("test", MODULO)
def test_remainders(test):
    found = asked(test)
    assert found is not None
    assert (found.kind, found.is_true, found.has_last) == (BoundaryKind.MODULO, True, False)
    assert dotted(found.counter) == "i"


@pytest.mark.parametrize("test", ["(i + 1) % n != 0", "(i + 1) % n", "i % n != n - 1", "not (i + 1) % n == 0"])
def test_the_answer_no_may_mean_the_boundary(test):
    found = asked(test)
    assert found is not None
    assert (found.kind, found.is_true) == (BoundaryKind.MODULO, False)


@pytest.mark.parametrize(
    "test",
    [
        "(i + 1) % n == 0 or i + 1 == len(xs)",
        "i == len(xs) - 1 or (i + 1) % n == 0",
        "(i + 1) % n == 0 or is_last",
        "not ((i + 1) % n != 0 and i + 1 != len(xs))",
        "(i + 1) % n == 0 or i == num_batches - 1",
    ],
)
def test_the_last_turn_may_be_a_boundary_too(test):
    found = asked(test)
    assert found is not None
    assert (found.kind, found.is_true, found.has_last) == (BoundaryKind.MODULO, True, True)


@pytest.mark.parametrize("test", ["c == n", "c >= n", "not c < n", "c + 1 >= n", "1 + c == n"])
@pytest.mark.parametrize("before", ["c += 1", "c = c + 1", "c = 1 + c"])
def test_a_counter_that_is_set_back(test, before):
    found = asked(test, before)
    assert found is not None
    assert (found.kind, found.is_true, dotted(found.period)) == (BoundaryKind.COUNTER, True, "n")


@pytest.mark.parametrize("before", ["c += 2", "c -= 1", "c = c + 2", "c = c - 1", "c = c * 2", "p += 1", "c = f(c)"])
def test_what_does_not_count_up_by_one_is_no_counter(before):
    assert asked("c == n", before) is None


@pytest.mark.parametrize(
    ("test", "is_asked"),
    [
        *(("p + 1 == q", True), ("q == p + 1", True), ("p or p == q - 1", True), ("p == len(xs) - 1", True)),
        *(("p == q", False), ("p + 1 < q", False), ("p * 1 == q", False), ("p + q == 3", False), ("p + 1", False)),
    ],
)
def test_the_last_of_several(test, is_asked):
    owner = function(f"if {test}:\n    c = 0\n")
    assert [asks_for_the_last(node.test) for node in walk(owner) if isinstance(node, If)] == [is_asked]


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        ("i + 1 == len(xs)", BoundaryKind.LAST),
        ("is_last", BoundaryKind.LAST),
        ("is_last or i + 1 == len(xs)", BoundaryKind.LAST),
        ("accelerator.sync_gradients", BoundaryKind.SYNC),
        ("model.is_gradient_accumulation_boundary()", BoundaryKind.SYNC),
    ],
)
def test_flags(test, kind):
    assert asked(test) == Boundary(kind)


def test_a_name_may_stand_for_the_question():
    found = asked("flag", before="flag = (i + 1) % n == 0")
    assert found is not None
    assert found.kind is BoundaryKind.MODULO


@pytest.mark.parametrize(
    "test",
    [
        *("f(p)", "i + 1 > len(xs)", "i % n == p", "(i + 1) % n == 0 or (i + 1) % p == 0", "i % n == p - 1"),
        *("p", "c == n", "i < 3", "i % n > 2", "(i + 1) % n == 0 and p", "p is None", "i == len(xs)"),
        *("i % 4 == 5 - 1", "i % p[0] == p[1] - 1", "i % p[0] == n[0] - 1", "i == n * 1", "i * 1 == len(xs)"),
    ],
)
def test_other_questions_are_no_boundaries(test):
    assert asked(test) is None


def test_a_counter_needs_a_scope():
    test = function("c == n").body[0]
    assert isinstance(test, ExprStmt)
    assert boundary(test.value) is None


@pytest.mark.parametrize("test", ["i - c >= n", "i - c == n", "not i - c < n"])
def test_a_count_may_remember_where_the_last_boundary_was(test):
    found = asked(test, before="c = i")
    assert found is not None
    assert (found.kind, found.is_true, found.is_distance) == (BoundaryKind.COUNTER, True, True)
    assert dotted(found.period) == "n"


def test_a_difference_of_other_things_is_no_count():
    assert asked("i - p >= n") is None
    assert asked("i - c > n", before="c = i") is None
    assert asked("f(i) - c >= n", before="c = f(i)") is None


@pytest.mark.parametrize("test", ["(i + 1) % n == 0 or i + 1 == total", "(i + 1) % n == 0 or total == i + 1"])
def test_a_total_beside_the_count_is_that_of_the_turns(test):
    found = asked(test)
    assert found is not None
    assert (found.kind, found.is_true, found.has_last) == (BoundaryKind.MODULO, True, True)


@pytest.mark.parametrize(
    "test",
    [
        *("(i + 1) % n == 0 or p + 1 == total", "(i + 1) % n == 0 or i == total", "i + 1 == p"),
        *("(i + 1) % n == 0 or i + 1 >= total", "(i + 1) % n == 0 or i + 1 == p * q"),
    ],
)
def test_other_totals_are_not(test):
    assert asked(test) is None
