"""An autocast object is made but never entered, so nothing runs in half precision.

## What it does

Finds autocast objects that are lost: a bare call as a statement, a call that is assigned to a local name which
nothing reads, and `with a and b:`, which enters only `b` (with `or`, only `a`).

## Why it matters

Nothing happens: no error, no speed, no memory saved. The run is a plain float32 run, bit for bit, and a scaler beside
it scales gradients that never needed it.

## Where it reports

At the autocast call. Objects that are stored on self, returned, passed on, or entered through `ExitStack` or
`__enter__` are left alone.

## Example

```python
with torch.autocast("cuda") and torch.set_grad_enabled(is_training):
    loss = criterion(model(images), labels)
```

Enter both, with a comma:

```python
with torch.autocast("cuda"), torch.set_grad_enabled(is_training):
    loss = criterion(model(images), labels)
```

## References

* https://docs.python.org/3/reference/compound_stmts.html#the-with-statement
* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP403",
    name="autocast-never-entered",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)
_MESSAGES = {
    "dropped": "this autocast object is made and dropped; only `with` turns autocast on",
    "unread": "this autocast object is never entered; only `with` turns autocast on",
    "and": "`with a and b` enters only the last of them, so autocast stays off; separate them by a comma",
    "or": "`with a or b` enters only the first of them, so autocast stays off; separate them by a comma",
}


def check(facts: Facts) -> Iterator[Finding]:
    """Report autocast objects that are lost."""
    for lost in facts.entering.never_entered():
        yield RULE.finding(facts, lost.node, _MESSAGES[lost.way])
