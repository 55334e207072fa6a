"""An AMP class is called with arguments that it does not take, or that land in another parameter than they are for.

## What it does

Reports calls that mix up the two generations of the API: `device_type=` for `torch.cuda.amp.autocast`,
`torch.autocast()` without a device type, a flag that lands in `dtype`, `"cuda"` given to the old `GradScaler` (where
it becomes `init_scale`), a number or a flag given first to the new one (where it becomes the device), a flag as first
argument of the old one (where it becomes an `init_scale` of 0 or 1), and any argument that the signature does not have.

## Why it matters

The loud ones raise a `TypeError`, some only when the region is entered or the first loss is scaled. The silent ones
train: `torch.amp.GradScaler(1024.0)` keeps the scale 65536 and stays enabled whatever it is given, and
`torch.cuda.amp.GradScaler(use_amp)` scales by 1, so that the small gradients of float16 are flushed to zero (83 % of
the entries for a loss of 1e-4).

## Where it reports

At the argument, or at the call that lacks one, also where the name comes through a module of the project that imports
it and hands it on. Calls in a `try` that catches the error are left alone.

## Example

```python
scaler = torch.amp.GradScaler(1024.0)
with torch.amp.autocast("cuda", use_amp):
    ...
```

Use instead:

```python
scaler = torch.amp.GradScaler(init_scale=1024.0)
with torch.amp.autocast("cuda", enabled=use_amp):
    ...
```

## Fix

Gives the argument its name, or moves the call (with its import and all other uses) to the class that takes it.

## Fix safety

Safe where the call has one reading. Unsafe where the device has to be guessed, or where only the name of a variable
tells that it is a flag. No fix where the argument fits nowhere.

## References

- https://docs.pytorch.org/docs/stable/amp.html
- https://github.com/explosion/thinc/pull/952
- https://github.com/MIC-DKFZ/nnUNet/issues/2735
"""

from collections.abc import Iterator

from amplint.facts.api.misfits import BadCall, Misfit, bad_calls, device_hint
from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.call_repair import fix_of
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP103",
    name="amp-call-with-wrong-signature",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.RUN,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """A finding at each argument that does not fit."""
    for bad in bad_calls(facts):
        place = bad.argument if bad.argument is not None else bad.call
        # the imports of a name that another module hands on are that module's to change
        is_own = bad.use.bindings or bad.use in facts.uses.all or bad.misfit is Misfit.WRONG_SLOT
        yield RULE.finding(facts, place, _message(bad, facts), fix=fix_of(bad, facts) if is_own else None)


def _message(bad: BadCall, facts: Facts) -> str:
    callee = f"`{bad.use.api.name}`"
    argument, param = bad.argument, bad.param
    if bad.misfit is Misfit.NEW_WAY:
        assert argument is not None
        if argument.name is not None:
            return f"{callee} takes no `{argument.name}` and raises TypeError; `{bad.use.api.replacement}` does"
        first = bad.use.api.positional[0].name
        return f"{callee} takes no device: the string becomes `{first}`; `{bad.use.api.replacement}` takes it"
    if bad.misfit is Misfit.MISSING:
        return f'{callee} needs a device type, such as "{device_hint(facts)}", and raises TypeError without'
    if bad.misfit is Misfit.UNKNOWN:
        assert argument is not None
        return f"{callee} takes no `{argument.name}` and raises TypeError"
    if bad.misfit is Misfit.SURPLUS:
        return f"{callee} takes fewer positional arguments and raises TypeError"
    if bad.misfit is Misfit.TWICE:
        assert argument is not None
        return f"{callee} gets `{argument.name}` twice and raises TypeError"
    assert param is not None
    instead = f"; `{bad.meant}=` is what takes it" if bad.meant else ""
    seen = "flag" if bad.form.value.startswith("flag") else bad.form.value
    return f"this {seen} lands in `{param.name}` of {callee}, which takes a {param.slot}{instead}"
