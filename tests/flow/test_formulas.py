import pytest

from amplint.flow.formulas import Atom, Join, joined

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
