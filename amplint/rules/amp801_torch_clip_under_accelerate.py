"""Torch's own clipping works on gradients that Accelerate still holds scaled.

## What it does

Finds `torch.nn.utils.clip_grad_norm_` and `clip_grad_value_` in a module that runs its backward passes through an
Accelerator whose precision may be float16.

## Why it matters

`accelerator.backward(loss)` multiplies the loss by the scale, and the Accelerator unscales the gradients only in its
own `clip_grad_norm_`, or inside the optimizer's step. A clip by torch sees gradients 65536 times too large, shrinks
them to the threshold, and the step then divides by the scale: the true norm becomes the threshold over 65536. SGD
stops learning; Adam hides it.

## Where it reports

At the clip; the Accelerator is a note. The message says so where the clip runs on every micro-batch of an
`accelerator.accumulate` block: partial sums are clipped, and a bare `accelerator.clip_grad_norm_` would raise there.
Silent where its precision is a literal other than `"fp16"`, where it is not given, and where the module calls
`accelerator.unscale_gradients()`.

## Example

```python
accelerator = Accelerator(mixed_precision="fp16")
for batch in loader:
    accelerator.backward(model(batch))
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
```

Let the Accelerator clip, once the gradients are complete:

```python
accelerator = Accelerator(mixed_precision="fp16")
for batch in loader:
    accelerator.backward(model(batch))
    if accelerator.sync_gradients:
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
```

## References

* https://huggingface.co/docs/accelerate/quicktour
* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-clipping
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP801",
    name="torch-clip-under-accelerate",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report torch's clipping beside an Accelerator that may scale."""
    unfinished = {call for call, _ in facts.accumulation.by_accelerate.on_every_turn}
    for clip, accelerator in facts.frameworks.torch_clips():
        note = Note(accelerator.span, "this Accelerator may scale the gradients")
        message = "this clips gradients that Accelerate still holds scaled; use accelerator.clip_grad_norm_"
        if clip in unfinished:
            message = (
                "this clips, on every micro-batch, gradients that Accelerate still holds scaled; use "
                "accelerator.clip_grad_norm_ where accelerator.sync_gradients says that they are complete"
            )
        yield RULE.finding(facts, clip, message, notes=(note,))
