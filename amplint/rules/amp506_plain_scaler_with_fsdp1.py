"""A plain `GradScaler` scales the loss of a model that FSDP1 shards.

## What it does

Finds `torch.amp.GradScaler` (any spelling) in a module that wraps a model in `FullyShardedDataParallel`.

## Why it matters

Each rank holds a part of the gradients, so an inf may be seen by one rank only. The plain scaler does not talk to the
others: one rank skips the step and halves its scale, the others step. The ranks drift apart, or wait for each other.
`ShardedGradScaler` reduces the inf flag over the process group. FSDP2 (`fully_shard`) works with the plain scaler.

## Where it reports

Where the scaler is made; the wrapped model is a note. Scalers that are disabled, and modules that use
`ShardedGradScaler` as well, are left alone.

## Example

```python
model = FullyShardedDataParallel(Net().cuda())
scaler = torch.amp.GradScaler("cuda")
```

Use the sharded scaler:

```python
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

model = FullyShardedDataParallel(Net().cuda())
scaler = ShardedGradScaler()
```

## References

* https://github.com/pytorch/pytorch/blob/v2.13.0/torch/distributed/fsdp/sharded_grad_scaler.py
* https://github.com/pytorch/pytorch/issues/98860
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP506",
    name="plain-scaler-with-fsdp1",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report plain scalers beside FSDP1."""
    for sharded in facts.devices.sharded_models():
        note = Note(sharded.wrapped.span, "the model is sharded here")
        message = "FSDP1 needs ShardedGradScaler: with a plain scaler each rank decides alone whether to skip a step"
        yield RULE.finding(facts, sharded.made, message, notes=(note,))
