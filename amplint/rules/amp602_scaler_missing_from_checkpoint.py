"""A checkpoint that holds the optimizer's state leaves out the state of the gradient scaler.

## What it does

Finds places that save the optimizer's state, in a program that drives a `GradScaler`, where the scaler's
`state_dict()` is not saved. Saving and loading are followed through functions and files. Also finds where the
optimizer's state is loaded, in a file that saves the scaler's state and reads it nowhere.

## Why it matters

A resumed run starts again at the initial scale and a fresh growth count. The scale first has to fall back to what the
run can bear: each overflow on the way skips a step. With an initial scale of 2²⁸ a short resumed run applied 4 of its
24 steps, the uninterrupted one 14. With the default of 65536 it costs a few steps, and a resumed run is not bitwise
equal to one that was never stopped. So this rule is opt-in.

## Where it reports

At the dictionary or the call that saves, in the module that drives the scaler; at the base of a class that inherits
what saves from another file; at the load of the optimizer's state. Checkpoints of weights alone are left alone, and so
is everything where the scaler is handed to what saves (`save(model, optimizer, scaler)`), its state is added later, or
it is made anew for every epoch, so that nothing of it is left to save.

## Example

```python
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
```

Save it with the rest, at the end of an iteration, after `update()`:

```python
torch.save(
    {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()},
    path,
)
```

and load it where the optimizer is loaded. A scaler that was disabled has an empty state, which an enabled one refuses
to load, so test for that when resuming.

## References

* https://docs.pytorch.org/tutorials/recipes/recipes/amp_recipe.html#saving-resuming
* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py#L627
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP602",
    name="scaler-missing-from-checkpoint",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report checkpoints with an optimizer but no scaler."""
    for checkpoint in facts.checkpoints.without_scaler():
        path = checkpoint.writer.path if checkpoint.writer is not facts else None
        notes = (
            Note(checkpoint.state.span, "the optimizer's state", path),
            Note(checkpoint.save.span, "saved here", path),
        )
        message = "the checkpoint holds the optimizer's state but not the scaler's; save its `state_dict()` too"
        yield RULE.finding(facts, checkpoint.place, message, notes=notes)
    for load, saved in facts.checkpoints.never_loaded():
        message = "the optimizer's state is loaded here; the scaler's, which is saved too, is loaded nowhere"
        yield RULE.finding(facts, load, message, notes=(Note(saved.span, "the scaler's state is saved here"),))
