"""A gradient scaler is enabled although the losses that it scales are, or may be, computed in bfloat16.

## What it does

Finds an enabled `GradScaler` whose losses come from a region of bfloat16, or from a region whose dtype is chosen
between float16 and bfloat16 while the scaler is not tied to that choice.

## Why it matters

bfloat16 has the range of float32, so there is nothing to scale: the parameters come out bitwise equal. The scaler
adds kernels and a synchronisation a step. With bfloat16 *parameters* the scaler's kernel is missing on CUDA
("_amp_foreach_non_finite_check_and_unscale_cuda" not implemented for 'BFloat16').

## Where it reports

Where the scaler is made, once for all files that use it; the region and the scaled loss are notes. Silent where
`enabled=`, or a test around the scaler or its use, asks for float16.

## Example

```python
dtype = torch.bfloat16 if config.bf16 else torch.float16
scaler = torch.amp.GradScaler("cuda", enabled=config.amp)
with torch.autocast("cuda", dtype=dtype, enabled=config.amp):
    loss = criterion(model(images), labels)
scaler.scale(loss).backward()
```

Tie the scaler to the dtype:

```python
dtype = torch.bfloat16 if config.bf16 else torch.float16
scaler = torch.amp.GradScaler("cuda", enabled=config.amp and dtype == torch.float16)
```

## References

* https://docs.pytorch.org/docs/stable/amp.html#gradient-scaling
* https://github.com/pytorch/pytorch/issues/127176
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP502",
    name="scaler-with-bfloat16",
    severity=Severity.ADVICE,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report scalers that are on for bfloat16 too."""
    for pair in facts.pairing.needless():
        is_choice = pair.region.dtypes != {"bfloat16"}
        how = "also when the region is bfloat16" if is_choice else "although the region is bfloat16"
        message = f"the scaler is enabled {how}, which needs no loss scaling; enable it for float16 alone"
        is_here = pair.made.call in facts.index.parents and pair.made.facts is facts
        region, home = (None if each is facts else each.path for each in (pair.region.facts, pair.home))
        notes = (Note(pair.region.shown.span, "the region", region), Note(pair.scaled.span, "scaled here", home))
        yield RULE.finding(facts, pair.made.call if is_here else pair.scaled, message, notes=notes)
