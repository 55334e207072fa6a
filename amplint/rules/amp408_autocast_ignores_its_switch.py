"""The switch that should turn autocast off does not reach it.

## What it does

Finds three things: `enabled=` with a text or a tuple; `enabled=` with a comparison of a text and a dtype, which is
always true; and a float16 region without any switch, or one that is on wherever there is a scaler
(`enabled=scaler is not None`), whose losses are scaled by a scaler that has a switch of its own.

## Why it matters

A text or a tuple is true whatever it says, and with CUDA raises only when the region is entered. Where only the
scaler is switched off, the "float32" run still computes in float16, now without loss scaling: gradients below 6e-8
become zero without a word.

## Where it reports

At the switch, or at the autocast call that lacks one; the scaler is a note. Regions behind a test of anything but the
device are left alone, and so are regions whose dtype is chosen, those under `no_grad`, and those for CUDA where the
switch of the scaler only asks whether there is CUDA.

## Example

```python
scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
with torch.autocast("cuda", dtype=torch.float16):
    loss = criterion(model(images), labels)
scaler.scale(loss).backward()
```

Give both the same switch:

```python
scaler = torch.amp.GradScaler("cuda", enabled=args.amp)
with torch.autocast("cuda", dtype=torch.float16, enabled=args.amp):
    loss = criterion(model(images), labels)
scaler.scale(loss).backward()
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#torch.autocast
* https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP408",
    name="autocast-ignores-its-switch",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)
_MESSAGES = {
    "type": "`enabled` takes True or False; this is always true",
    "compare": "this compares a text with a dtype, so it is always true",
    "scaler": "only the scaler can be switched off, which leaves this region float16 unscaled; give both one `enabled`",
}


def check(facts: Facts) -> Iterator[Finding]:
    """Report autocast that stays on whatever its switch says."""
    for deaf in facts.switches.deaf():
        notes: tuple[Note, ...] = ()
        if deaf.scaler is not None and deaf.scaler.facts is facts:
            notes = (Note(deaf.scaler.call.span, "only the scaler has a switch"),)
        if deaf.shown.span.line != deaf.autocast.call.span.line:
            notes = (*notes, Note(deaf.autocast.call.func.span, "this autocast stays on"))
        yield RULE.finding(facts, deaf.shown, _MESSAGES[deaf.why], notes=notes)
