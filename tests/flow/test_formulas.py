import pytest

from amplint.flow.formulas import MOST_CASES, Atom, Join, joined, negated, value

P, Q = Atom("true", ("name", "p", "")), Atom("true", ("name", "q", ""))


@pytest.mark.parametrize(
    ("op", "parts", "expected"),
    [
        ("and", (True, True), True),
        ("or", (False, False), False),
        ("and", (P, False), False),
        ("or", (P, True), True),
        ("and", (P, True), P),
        ("or", (P, False, P), P),
        ("and", (P, Q), Join("and", (P, Q))),
    ],
)
def test_decided_parts_are_taken_away(op, parts, expected):
    assert joined(op, parts) == expected


NEITHER = joined("or", (joined("and", (P, Q)), joined("and", (negated(P), Q)), negated(Q)))


@pytest.mark.parametrize(
    ("formula", "answers", "expected"),
    [
        (joined("or", (P, negated(P))), {}, True),
        (joined("and", (P, negated(P))), {}, False),
        (NEITHER, {}, True),
        (joined("or", (P, joined("and", (negated(P), Q)))), {Q: True}, True),
        (joined("or", (P, joined("and", (negated(P), Q)))), {Q: False}, None),
        (joined("or", (P, joined("and", (negated(P), None)))), {}, None),
    ],
)
def test_what_holds_either_way_needs_no_answer(formula, answers, expected):
    assert value(formula, answers) is expected


def test_only_a_few_open_questions_are_tried_both_ways():
    many = [Atom("true", ("name", str(number), "")) for number in range(MOST_CASES + 1)]
    for count, expected in ((MOST_CASES, True), (MOST_CASES + 1, None)):
        every = joined("and", tuple(many[:count]))
        assert value(joined("or", (every, *map(negated, many[:count]))), {}) is expected
