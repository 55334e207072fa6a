"""A scaler or a region is for CUDA while the training runs on another device.

## What it does

Finds a `GradScaler` without a device (or for `"cuda"`) whose losses come from a region for the CPU, XPU, MPS or NPU;
and a region hard-coded for `"cuda"` in a program that chooses its device, among accelerators, elsewhere.

## Why it matters

`GradScaler()` is for CUDA. Without CUDA it disables itself, with one warning ("torch.cuda.amp.GradScaler is enabled,
but CUDA is not available. Disabling."), and float16 gradients underflow. A `"cuda"` region does nothing for tensors
of another device: the run is plain float32, slower and larger than it was meant to be.

## Where it reports

At the scaler, or at the autocast call. Regions behind a test of the device, programs that move things to CUDA by name
(`.cuda()`, `.to("cuda")`), and programs whose only other device is the CPU, are left alone.

## Example

```python
scaler = torch.amp.GradScaler()
with torch.autocast("xpu", dtype=torch.float16):
    loss = criterion(model(images), labels)
scaler.scale(loss).backward()
```

Name the device:

```python
scaler = torch.amp.GradScaler("xpu")
```

## References

* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py#L134
* https://docs.pytorch.org/docs/stable/amp.html#torch.amp.GradScaler
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP505",
    name="scaler-on-another-device",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scalers and regions whose device is not that of the training."""
    for foreign in facts.devices.foreign_scalers():
        is_here = foreign.made.facts is facts
        note = Note(foreign.autocast.call.span, "region of another device") if foreign.autocast.facts is facts else None
        message = (
            f"this scaler is for CUDA and turns itself off elsewhere; the loss comes from a region for "
            f"{foreign.autocast.device}"
        )
        place = foreign.made.call if is_here else foreign.autocast.call
        yield RULE.finding(facts, place, message, notes=(note,) if note is not None else ())
    for fixed in facts.devices.fixed_devices():
        note = Note(fixed.choice.span, "the device is chosen here")
        message = f"this region is for CUDA, but the device may be {fixed.device}, where it changes nothing"
        yield RULE.finding(facts, fixed.autocast.call, message, notes=(note,))
