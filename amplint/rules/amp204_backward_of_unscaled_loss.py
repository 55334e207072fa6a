"""A loss runs backward without the scale, and the scaler divides its gradients.

## What it does

Finds `loss.backward()` of a loss that no `scaler.scale` multiplied, on a path that goes on to `scaler.step` or
`scaler.unscale_`.

## Why it matters

The gradients are divided by a scale that they were never multiplied by. SGD stands still; with Adam the epsilon takes
over (distance to the float32 run 0.079 at scale 65536, where a correct run has 0.002). Small gradients underflow in
float16, which is what the scaler is there to prevent. If `scale` never ran at all, `step` raises `Attempted step but
_scale is None.`

## Where it reports

At the backward, with the step as a note. A plain backward in the branch that does not use the scaler is right, as is
one for another optimizer that steps by itself.

## Example

```python
optimizer.zero_grad()
loss.backward()
scaler.step(optimizer)
scaler.update()
```

## Fix

Replaces the loss by `scaler.scale(loss)`.

## Fix safety

Unsafe: a tuned run may live on the mistake. Not offered where paths without the scaler share the backward, or where
the gradients may be unscaled already in the same turn.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
* https://github.com/pytorch/pytorch/blob/main/torch/amp/grad_scaler.py
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.beside import beside
from amplint.facts.protocol.defect import Defect, DefectKind
from amplint.facts.protocol.guards import common_loop, loop_around
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Applicability, Fix, Wrap
from amplint.model.finding import Finding, Severity
from amplint.model.tree import Attribute, Call, Node
from amplint.model.walks import is_none, walk
from amplint.rules.protocol_moves import more_guards
from amplint.rules.protocol_repairs import is_shared, repair
from amplint.rules.protocol_report import report, scaler_code, scaler_name
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP204",
    name="backward-of-unscaled-loss",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report backward passes without the scale whose gradients a scaler divides."""
    explained = [value.backward_of_the_plain_loss() for value in facts.scaled_values.discarded()]
    for defect in facts.defects.of(DefectKind.UNSCALED_BACKWARD):
        if any(defect.place is backward for backward in explained):
            continue
        scaler = scaler_name(defect)
        message = f"the loss runs backward without `{scaler}.scale`, but `{scaler}` divides its gradients"
        yield report(RULE, defect, message, missed="divided by the scale here", fix=_fix(defect, scaler_code(defect)))


def _fix(defect: Defect, scaler: str) -> Fix | None:
    call = defect.place
    if not isinstance(call, Call) or not isinstance(call.func, Attribute):
        return None
    if is_shared(defect) or _may_lack_scaler(defect) or _follows_unscale(defect):
        return None
    loss = call.func.value
    name = spelled(loss) or "..."
    if not scaler or name == "torch.autograd" or any(_is_scaling(node) for node in walk(loss)):
        return None
    wrap = Wrap(loss.span, f"{scaler}.scale(", ")")
    return repair(f"replace the loss by `{scaler}.scale({name})`", Applicability.UNSAFE, wrap)


def _may_lack_scaler(defect: Defect) -> bool:
    """Whether a scaler may be None at the backward, as its use is under a test that the backward is not under."""
    scene = defect.reading.scene
    for step in (*(step for _, step in defect.because), *([defect.after] if defect.after is not None else ())):
        func = step.node.func if isinstance(step.node, Call) else None
        origins = scene.origins(func.value, step.frame) if isinstance(func, Attribute) else []
        if any(is_none(origin.expr) for origin in origins) and more_guards(defect, step, defect.site):
            return True
    return False


def _follows_unscale(defect: Defect) -> bool:
    """Whether the optimizer's gradients may be unscaled already in this turn: a scaled loss would mix with them."""
    reading, site = defect.reading, defect.site
    optimizer = defect.error.optimizer if defect.error is not None else None
    return any(
        step.node.span < site.node.span
        and common_loop(reading.scene, step, site) is loop_around(reading.scene, site)
        and any(happening.optimizers in (None, (optimizer,)) for happening in reading.events.of(step))
        for step in beside(reading, site, EventKind.UNSCALE)
    )


def _is_scaling(node: Node) -> bool:
    """Whether a part of the loss is scaled already, on some of the paths."""
    return isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr == "scale"
