"""The table of what each way to look sees, rule by rule: static, in a run, by experiment. Decides nothing itself."""

from pathlib import Path

from amplint.rules.registry import all_rules
from amplint.rules.rule import Contract, FixAvailability
from amplint.runtime.codes import RUN_CODES, why_unseen

PAGE = Path(__file__).parent / "runtime-rules.md"
_HEAD = """\
# What a run can see

Generated from the rules and from `amplint/runtime/codes.py`. *Static*: `amplint check` reports it. *Run*: the sanitizer
of `amplint run` reports it, or why it cannot. *Verify*: the contract that `amplint verify` holds a fix to
([what the contracts mean](runtime.md#contracts)).

| rule | static | run | verify |
|---|---|---|---|
"""
_RUN_HEAD = """
## Codes of a run alone

Only `amplint run` and `amplint verify` report these; no static rule has a code of this hundred.

| code | name | severity | meaning |
|---|---|---|---|
"""


def pages() -> dict[Path, str]:
    """The one page."""
    rows = []
    for registered in all_rules():
        rule = registered.rule
        reason = why_unseen(rule.code)
        run = "reported" if reason is None else reason
        has_fix = rule.fix is not FixAvailability.NONE and rule.contract is not Contract.NONE
        verify = str(rule.contract) if has_fix else "no fix to judge"
        static = "default" if rule.is_default else "opt-in"
        link = f"[{rule.code}](rules/{rule.code}-{rule.name}.md) `{rule.name}`"
        rows.append(f"| {link} | {static} | {run} | {verify} |\n")
    run_rows = [f"| {each.code} | `{each.name}` | {each.severity} | {each.meaning} |\n" for each in RUN_CODES]
    return {PAGE: _HEAD + "".join(rows) + _RUN_HEAD + "".join(run_rows)}
