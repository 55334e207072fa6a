import pytest
from msgspec.structs import replace

from amplint.engine.checked import FixPolicy
from amplint.engine.fix import _Run
from amplint.model.edit import (
    Applicability,
    DeleteStatement,
    FixKind,
    InsertArgument,
    InsertBefore,
    Replace,
)
from amplint.model.walks import dotted
from amplint.rules.registry import RegisteredRule
from tests.engine.fixing import fixed, rule, statement_of

RENAME = rule("old", lambda facts, call: (Replace(call.func.span, "len"),))


def test_all_fixes_of_a_file_are_applied_at_once():
    text, result = fixed("a = b = ''\nold(a)\nold(b)  # c\n", RENAME)
    assert text == "a = b = ''\nlen(a)\nlen(b)  # c\n"
    assert [finding.span.line for finding in result.applied] == [2, 3]
    assert result.waiting == ()
    assert list(result.changed()) == ["a.py"]


def test_nested_fixes_take_a_second_round():
    whole = rule("twice", lambda facts, call: (Replace(call.span, "2"),))
    text, result = fixed("a = ''\nold(twice(old(a)))\n", RENAME, whole)
    assert text == "a = ''\nlen(2)\n"
    assert result.waiting == ()


def test_equal_edits_are_made_once():
    before = rule(
        "old",
        lambda facts, call: (InsertBefore(statement_of(facts, call).span, "import os"), Replace(call.func.span, "len")),
    )
    text, _ = fixed("a = ''\nold(a); b = 1\n", before)
    assert text == "a = ''\nimport os\nlen(a); b = 1\n"
    text, _ = fixed("a = ''\nx = old(a), old(a)\n", before)
    assert text == "a = ''\nimport os\nx = len(a), len(a)\n"


def test_touching_fixes_wait_for_the_next_round():
    text, result = fixed(
        "a = ''\nold(a).b(old(a))\nold(old(a))\n", rule("old", lambda f, c: (Replace(c.span, "len(a)"),))
    )
    assert text == "a = ''\nlen(a).b(len(a))\nlen(a)\n"
    assert result.waiting == ()


@pytest.mark.parametrize(
    ("repairs", "reason"),
    [
        (lambda f, c: (Replace(c.span, "len(nothing)"),), "`nothing`, which is not bound"),
        (lambda f, c: (Replace(c.func.span, "(old)"),), "still be found"),
        (lambda f, c: (Replace(c.func.span, "worse"),), "bring a new AMP198"),
        (lambda f, c: (Replace(statement_of(f, c).span, "break"),), "would not compile"),
        (lambda f, c: (Replace(statement_of(f, c).span, "len("),), "would not compile"),
        (lambda f, c: (Replace(c.func.span, "len"), Replace(c.span, "1")), "overlap"),
        (lambda f, c: (), "it has no fix"),
    ],
)
def test_what_does_not_hold_is_rejected_and_the_rest_applied(repairs, reason):
    good = rule("good", lambda facts, call: (Replace(call.func.span, "len"),), code="AMP197")
    worse = rule("worse", lambda facts, call: (), code="AMP198", applicability=Applicability.DISPLAY)
    text, result = fixed("a = ''\nworse = len\nold(a)\ngood(a)\n", rule("old", repairs), good, worse)
    assert text == "a = ''\nworse = len\nold(a)\nlen(a)\n"
    (waiting,) = [each for each in result.waiting if each.finding.code == "AMP199"]
    assert reason in waiting.reason


def test_what_does_not_hold_among_very_many_is_found_by_halves(monkeypatch):
    tries = []

    def counted(run, chosen, is_trial=False, attempt=_Run._try):
        tries.append(chosen)
        return attempt(run, chosen, is_trial)

    monkeypatch.setattr(_Run, "_try", counted)
    bad = rule("old", lambda f, c: (Replace(c.span, "len(nothing)"),))
    good = rule("good", lambda f, c: (Replace(c.func.span, "len"),), code="AMP197")
    lines = ["good(a)\n"] * 200
    lines[77] = lines[140] = "old(a)\n"
    text, result = fixed("a = ''\n" + "".join(lines), bad, good)
    assert text == "a = ''\n" + "".join(lines).replace("good", "len")
    assert [waiting.finding.span.line for waiting in result.waiting] == [79, 142]
    assert len(tries) < 60


def _uncovering(*, applicability=Applicability.SAFE):
    """`old` becomes `half`, which is reported then, and becomes `len`."""
    first = rule("old", lambda f, c: (Replace(c.func.span, "half"),))
    second = rule("half", lambda f, c: (Replace(c.func.span, "len"),), code="AMP198", applicability=applicability)
    return first, second


def test_a_fix_takes_along_the_fix_of_what_it_uncovers():
    text, result = fixed("half = len\nold('')\n", *_uncovering())
    assert text == "half = len\nlen('')\n"
    assert [finding.code for finding in result.applied] == ["AMP199", "AMP198"]


def test_a_fix_waits_where_what_it_uncovers_may_not_be_fixed():
    text, result = fixed("half = len\nold('')\n", *_uncovering(applicability=Applicability.UNSAFE))
    assert text == "half = len\nold('')\n"
    assert result.applied == ()
    assert "bring a new AMP198" in result.waiting[0].reason


def test_fixes_that_uncover_each_other_are_not_made():
    first = rule("old", lambda f, c: (Replace(c.func.span, "half"),))
    second = rule("half", lambda f, c: (Replace(c.func.span, "old"),), code="AMP198")
    text, result = fixed("half = old = len\nold('')\n", first, second)
    assert text == "half = old = len\nold('')\n"
    assert result.applied == ()


def test_fixes_that_hold_only_alone():
    def repairs(facts, call):
        is_second = call.span.line == 3
        return (Replace(call.func.span, "first" if not is_second else "second"),)

    clash = rule("clash", lambda facts, call: (), code="AMP198", applicability=Applicability.DISPLAY)
    both = RegisteredRule(clash.rule, "", _both_called)
    text, result = fixed("first = second = len\nold(1)\nold(2)\n", rule("old", repairs), both)
    assert text == "first = second = len\nfirst(1)\nold(2)\n"
    assert "AMP198" in result.waiting[0].reason


def _both_called(facts):
    called = {dotted(call.func) for call in facts.index.calls}
    if {"first", "second"} <= called:
        declared = rule("clash", lambda f, c: (), code="AMP198").rule
        yield declared.finding(facts, facts.index.calls[0], "both are called")


POLICIES = [
    (Applicability.SAFE, FixKind.MIGRATION, FixPolicy(), None),
    (Applicability.SAFE, FixKind.REPAIR, FixPolicy(), None),
    (Applicability.UNSAFE, FixKind.REPAIR, FixPolicy(), "--unsafe-fixes"),
    (Applicability.UNSAFE, FixKind.REPAIR, FixPolicy(is_unsafe_allowed=True), None),
    (Applicability.SAFE, FixKind.REPAIR, FixPolicy(is_migrations_only=True), "only migrations"),
    (Applicability.SAFE, FixKind.MIGRATION, FixPolicy(is_migrations_only=True), None),
    (Applicability.UNSAFE, FixKind.MIGRATION, FixPolicy(is_migrations_only=True), "--unsafe-fixes"),
    (Applicability.DISPLAY, FixKind.MIGRATION, FixPolicy(is_unsafe_allowed=True), "for display"),
]


@pytest.mark.parametrize(("applicability", "kind", "policy", "reason"), POLICIES)
def test_policies(applicability, kind, policy, reason):
    made = rule("old", lambda f, c: (Replace(c.func.span, "len"),), applicability=applicability, kind=kind)
    text, result = fixed("a = ''\nold(a)\n", made, policy=policy)
    assert ("len(a)" in text) is (reason is None)
    assert bool(result.applied) is (reason is None)
    if reason is not None:
        assert reason in result.waiting[0].reason


@pytest.mark.parametrize(
    ("path", "head", "is_edited"),
    [
        ("src/a.py", "", True),
        ("third_party/a.py", "", False),
        ("src/_vendor/lib/a.py", "", False),
        ("vendor.py", "", True),
        ("a.py", "# Generated by a tool. DO NOT EDIT!\n", False),
        ("a.py", "# @generated\n", False),
        ("a.py", "# This file was auto-generated\n", False),
        ("a.py", "# data generated by a model\n", True),
        ("a.py", "\n" * 12 + "# do not edit below\n", True),
    ],
)
def test_files_of_others_are_reported_and_not_edited(path, head, is_edited):
    text, result = fixed(f"{head}a = ''\nold(a)\n", RENAME, path=path)
    assert ("len(a)" in text) is is_edited
    assert bool(result.waiting) is not is_edited


def test_a_suppressed_part_keeps_the_whole_fix_back():
    made = rule("old", lambda f, c: (Replace(c.func.span, "len"), Replace(f.index.calls[-1].func.span, "str")))
    program = "a = ''\nold(a)\nother(a)  # amplint: ignore[AMP199]\n"
    text, result = fixed(program, made)
    assert text == program
    assert "line 3" in result.waiting[0].reason


def test_suppressed_findings_are_not_edited():
    program = "a = ''\nold(a)  # amplint: ignore[call-of-old]\nold(a)\n"
    text, _ = fixed(program, RENAME)
    assert text == "a = ''\nold(a)  # amplint: ignore[call-of-old]\nlen(a)\n"


def test_a_program_that_did_not_compile_may_stay_so():
    text, _ = fixed("a = ''\nold(a)\nbreak\n", RENAME)
    assert text == "a = ''\nlen(a)\nbreak\n"


def test_a_program_that_did_not_compile_must_still_parse():
    program = "a = ''\nold(a)\nbreak\n"
    text, result = fixed(program, rule("old", lambda f, c: (Replace(statement_of(f, c).span, "len("),)))
    assert text == program
    assert "could not be checked" in result.waiting[0].reason


def test_names_that_were_unbound_before_may_stay_so():
    text, _ = fixed("old(a)\n", rule("old", lambda f, c: (Replace(c.span, "len(a)"),)))
    assert text == "len(a)\n"


def test_imports_are_added_and_bound():
    made = rule("old", lambda f, c: (Replace(c.func.span, "${torch.amp.autocast}"),))
    text, _ = fixed("import os\nold('cuda')\n", made)
    assert text == "import os\nimport torch\ntorch.amp.autocast('cuda')\n"


def test_fixes_without_an_end_are_rolled_back():
    made = rule("old", lambda f, c: (Replace(c.args[0].span, str(_value(f) + 1)),))

    def check(facts):
        (finding,) = made.check(facts)
        yield from (replace(finding, message=str(i)) for i in range(30 - _value(facts)))

    text, result = fixed("old = len\nold(0)\n", RegisteredRule(made.rule, "", check))
    assert text == "old = len\nold(0)\n"
    assert result.applied == ()
    assert "did not come to an end" in result.waiting[0].reason


def _value(facts):
    return facts.index.calls[0].args[0].value.value


def test_newlines_and_encoding_stay():
    raw = "# -*- coding: latin-1 -*-\r\na = 'é'\r\nold(a)\r\n".encode("latin-1")
    made = rule("old", lambda f, c: (InsertBefore(f.index.statement(c).span, "len(a)"), Replace(c.func.span, "len")))
    result = fixed_bytes(raw, made)
    assert result == "# -*- coding: latin-1 -*-\r\na = 'é'\r\nlen(a)\r\nlen(a)\r\n".encode("latin-1")


def fixed_bytes(raw, *rules):
    return fixed(raw, *rules)[1].files["a.py"].source.raw


def test_what_the_encoding_cannot_hold_is_refused():
    raw = "# -*- coding: latin-1 -*-\na = 'é'\nold(a)\n".encode("latin-1")
    made = rule("old", lambda f, c: (Replace(c.args[0].span, "'€'"), Replace(c.func.span, "len")))
    assert fixed_bytes(raw, made) == raw


def test_deleting_and_inserting_arguments():
    made = rule("old", lambda f, c: (DeleteStatement(f.index.statement(c).span),))
    text, _ = fixed("if a:\n    old(a)\n", made)
    assert text == "if a:\n    pass\n"
    made = rule("old", lambda f, c: (Replace(c.func.span, "dict"), InsertArgument(c.span, "1", "k")))
    text, _ = fixed("old(a)\n", made)
    assert text == "dict(a, k=1)\n"
