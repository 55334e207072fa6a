"""A suppression comment silences a rule that has nothing to say there.

## What it does

Reports a code or name in `# amplint: ignore[...]`, `# amplint: file-ignore[...]` or an `AMP` code in `# noqa: ...` for
which the run found nothing to silence. Codes of other tools are left alone.

## Why it matters

A comment that outlives its reason silences the next mistake in that place, which nobody has judged.

## Where it reports

At the code in the comment. Only where every rule that it names was run, so a run with `--select` says nothing about
the suppressions of other rules; and only on the command line, since flake8 shows one file at a time.

## Example

```python
scaler.unscale_(optimizer)
clip_grad_norm_(model.parameters(), 1.0)  # amplint: ignore[AMP201]
```

## References

- <https://flake8.pycqa.org/en/latest/user/violations.html>: how `# noqa` works
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP001",
    name="unused-suppression",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Nothing: what a comment silenced is known only after all other rules have run. The engine reports it."""
    return iter(())
