"""A number that float16 cannot hold meets a tensor in a region that may be float16.

## What it does

Finds, in float16 regions and what they call, fill values beyond 65504 (`masked_fill(mask, -1e9)`), such values in
`torch.where` or added to a tensor, and guards below 3e-8 (`x + 1e-8`, `clamp(min=1e-8)`).

## Why it matters

It depends on the form. `masked_fill`, `fill_` and `full` raise "value cannot be converted to type c10::Half without
overflow". `where`, `+` and item assignment turn the number into an infinity: a row of masked scores that are all -inf
has a softmax of NaN. A guard of 1e-8 becomes 0, so the division or logarithm that it guards is unguarded: in a small
run every step had NaN gradients, no step was applied, and the scale fell to 0. bfloat16 has the range of float32.
Opt-in, because the dtype of the tensor is often float32 after all: CUDA autocast runs softmax, sums, norms and
logarithms in float32.

## Where it reports

At the number, or at the call inside the region that leads to it. Results of operations that autocast runs in float32,
and values that are cast, are left alone. A guard counts only where what it guards comes from a matrix product or a
module, for a float32 operand would make it float32.

## Example

```python
with torch.autocast("cuda", dtype=torch.float16):
    scores = query @ key.transpose(-2, -1)
    scores = scores.masked_fill(mask, -1e9)
```

Ask the dtype for its lowest number:

```python
with torch.autocast("cuda", dtype=torch.float16):
    scores = query @ key.transpose(-2, -1)
    scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
```

## References

* https://github.com/NVIDIA/apex/issues/1052
* https://docs.pytorch.org/docs/stable/amp.html#cuda-op-specific-behavior
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP504",
    name="constant-outside-float16",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
    is_default=False,
    is_preview=True,
)
_VANISHES = "this number becomes 0 in float16"


def check(facts: Facts) -> Iterator[Finding]:
    """Report numbers at both ends of float16."""
    for bad in facts.operations.constants():
        notes = [Note(bad.where.region.shown.span, "this region may be float16")]
        is_here = bad.where.at.facts is facts and not bad.where.at.via
        if not is_here:
            path = bad.where.at.facts.path if bad.where.at.facts is not facts else None
            notes.append(Note(bad.constant.span, "the number", path))
        message = (
            "this number is beyond float16, whose largest is 65504: it becomes inf, or raises"
            if bad.is_large
            else _VANISHES
        )
        place = bad.constant if is_here else bad.where.place
        yield RULE.finding(facts, place, message, notes=tuple(notes))
