"""The state of a scaler is loaded before the scaler is made, or the scaler is made anew after its state was loaded.

## What it does

Finds `scaler.load_state_dict(…)` above the only places that make the scaler, a constructor that resumes before it
makes `self.scaler`, and a new `GradScaler()` that replaces one whose state has just been restored.

## Why it matters

Before the scaler exists the load raises `UnboundLocalError` or `AttributeError`, but only when resuming. A scaler
that is made anew starts at the initial scale: the load was for nothing, and the first steps after resuming are
skipped until the scale has fallen again.

## Where it reports

At the load that comes too early, or at the new scaler.

## Example

```python
def train(model, optimizer, checkpoint):
    if checkpoint is not None:
        scaler.load_state_dict(checkpoint["scaler"])
    scaler = torch.amp.GradScaler("cuda")
```

Make it first:

```python
def train(model, optimizer, checkpoint):
    scaler = torch.amp.GradScaler("cuda")
    if checkpoint is not None:
        scaler.load_state_dict(checkpoint["scaler"])
```

## References

* https://docs.pytorch.org/tutorials/recipes/recipes/amp_recipe.html#saving-resuming
* https://github.com/mosaicml/composer/issues/1376
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP604",
    name="scaler-state-loaded-before-creation",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report loads that do not reach the scaler that is used."""
    for lost in facts.scaler_lifecycle.lost_states():
        if lost.is_early:
            note = Note(lost.made.span, "the scaler is made here")
            yield RULE.finding(
                facts, lost.load, "the scaler's state is loaded before the scaler is made", notes=(note,)
            )
        else:
            note = Note(lost.load.span, "the state was loaded here")
            yield RULE.finding(facts, lost.made, "this new scaler discards the state that was loaded", notes=(note,))
