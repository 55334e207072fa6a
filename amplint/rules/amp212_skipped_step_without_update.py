"""A guard skips step and update after `unscale_`, and the next `unscale_` raises.

## What it does

Finds an `unscale_` after which a path leaves out both `step` and `update`, and comes to the next `unscale_`.

## Why it matters

The scaler still believes the optimizer to be unscaled: the next iteration raises `RuntimeError: unscale_() has
already been called on this optimizer since the last update().` It happens only when the guard strikes, which may be
days into a run; a `try … except RuntimeError` around it stops training silently.

## Where it reports

At the `unscale_`; the step that the guard skips is a note. `scaler.update()` on the guard's path, or calling `step`
anyway (it skips infs itself), makes it right.

## Example

```python
scaler.unscale_(optimizer)
norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
if norm < 10:
    scaler.step(optimizer)
    scaler.update()
```

## Fix

Moves the `update` out of the guard, or inserts one before the guard leaves the iteration: the `unscale_` has recorded
the inf check that it needs. A `zero_grad` that is skipped with the step goes along, or the gradients that the guard
refuses would be part of the next step.

## Fix safety

Safe with one scaler and one optimizer, for torch raises in the iteration after a skipped step; unsafe otherwise.

## References

* https://github.com/espnet/espnet/pull/2362
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.protocol.defect import DefectKind
from amplint.model.finding import Finding, Severity
from amplint.rules.protocol_moves import out_of_guard
from amplint.rules.protocol_report import report, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP212",
    name="skipped-step-without-update",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report unscale_ calls whose step and update a guard may leave out."""
    for defect in facts.defects.of(DefectKind.SKIPPED_STEP):
        scaler = scaler_name(defect)
        message = f"a path from here skips `{scaler}.step` and `{scaler}.update`, so that the next `unscale_` raises"
        yield report(RULE, defect, message, missed="this step may be skipped", fix=out_of_guard(defect))
