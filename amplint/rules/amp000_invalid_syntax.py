"""A file that names AMP does not parse as Python, so nothing else can be said about it.

## What it does

Reports the first place at which a file stops being Python, in the words of the interpreter that runs amplint where that
rejects the file too. Only files are parsed that hold a word of AMP at all, so this is no general syntax check.

## Why it matters

A file that does not parse is a file that was not checked. Passing over it in silence would look like a clean result.

## Where it reports

At the place where parsing stopped. In a notebook one cell that does not parse keeps the whole notebook from being
checked; magics, shell lines and cells in other languages are no faults.

## Example

```text
from torch.amp import autocast
with autocast("cuda":
    pass
```

What was meant parses:

```python
from torch.amp import autocast
with autocast("cuda"):
    pass
```

## References

- <https://docs.python.org/3/reference/grammar.html>
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP000",
    name="invalid-syntax",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Nothing: there are no facts about a program that does not parse. The engine reports it."""
    return iter(())
