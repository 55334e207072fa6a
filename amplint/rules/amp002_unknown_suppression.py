"""A suppression comment names no rule.

## What it does

Reports `# amplint: ignore[...]` and `# amplint: file-ignore[...]` with a word that is neither a code nor a name of a
rule, without any, and `# noqa:` with an `AMP` code that no rule has.

## Why it matters

The comment looks as if it silenced something and does not; most often a code is mistyped.

## Where it reports

At the word in the comment.

## Example

```python
scaler.step(optimizer)  # amplint: ignore[AMP2O2]
```

## References

- <https://flake8.pycqa.org/en/latest/user/violations.html>: how `# noqa` works
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP002",
    name="unknown-suppression",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Nothing: comments are read by the engine, which knows all rules."""
    return iter(())
