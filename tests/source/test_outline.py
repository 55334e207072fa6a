"""What an outline rules out is not there, and what a program says in another way is not ruled out."""

import re

import pytest

from amplint.source.outline import Outline

PROGRAM = b"""
from .engine import *
class Trainer(Base):
    async def fit(self): ...
if flag:
    def chosen(): ...
def main(args):
    def inner(): ...
"""


def test_only_what_stands_at_the_modules_own_level_is_surely_defined() -> None:
    outline = Outline(PROGRAM)
    assert [name for name in ("Trainer", "main", "chosen", "fit", "inner") if outline.defines(name)] == [
        "Trainer",
        "main",
    ]
    assert not outline.defines_function("Trainer")
    assert outline.defines_function("main")


@pytest.mark.parametrize(
    ("names", "may_have"), [({"fit"}, True), ({"inner"}, True), ({"main"}, False), ({"\u00e9"}, True)]
)
def test_a_method_may_be_any_function_further_in(names: set[str], may_have: bool) -> None:
    assert Outline(PROGRAM).may_have_method(names) is may_have


@pytest.mark.parametrize(
    ("program", "has_star"),
    [(PROGRAM, True), (b"from x import(\\\n*)", False), (b"from x import \\\n  *", True), (b"y = a * b", False)],
)
def test_star_imports_are_seen(program: bytes, has_star: bool) -> None:
    assert Outline(program).has_star is has_star


def test_names_in_other_letters_are_never_ruled_out() -> None:
    assert Outline(b"pass").may_hold(["x", "gr\u00f6\u00dfe"])
    assert not Outline(b"pass").may_hold(["x"])


def test_a_definition_in_other_letters_is_not_taken_for_a_shorter_one() -> None:
    assert not Outline("def gr\u00f6\u00dfe(): ...".encode()).defines("gr")


def test_a_pattern_is_looked_for_in_the_text() -> None:
    assert Outline(PROGRAM).matches(re.compile(rb"self\)"))
    assert not Outline(PROGRAM).matches(re.compile(rb"backward"))
