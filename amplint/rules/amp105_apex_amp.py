"""Mixed precision is done by apex.amp, which is no longer maintained.

## What it does

Reports imports of `apex.amp` and every use of it. A guarded optional import (`try`/`except ImportError`, or under a
condition) is not reported by itself, its uses are. `apex.parallel`, `apex.optimizers` and a plain `import apex` are not
reported.

## Why it matters

NVIDIA stopped maintaining apex.amp when PyTorch 1.6 brought native AMP. It patches functions and optimizers at run
time, does not compose with `torch.compile`, FSDP or newer optimizers, and has to be built from source. Opt level O1 is
what autocast does; O2 (a float16 model with float32 master weights) has no native counterpart. There is no fix: the
forward pass has to be put under autocast, and where it is only a person knows.

## Where it reports

At the import and at each use; the message names the native counterpart.

## Example

```python
model, optimizer = amp.initialize(model, optimizer, opt_level="O1")
with amp.scale_loss(loss, optimizer) as scaled_loss:
    scaled_loss.backward()
```

Use instead:

```python
scaler = torch.amp.GradScaler("cuda")
with torch.amp.autocast("cuda"):
    loss = criterion(model(x), y)
scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
```

## References

- https://github.com/NVIDIA/apex/issues/818
- https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.api.apex import apex_imports, apex_uses
from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import APEX_COUNTERPARTS
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP105",
    name="apex-amp",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at unguarded imports and at uses."""
    for place in apex_imports(facts):
        yield RULE.finding(facts, place, "apex.amp is no longer maintained: use `torch.amp`")
    for use in apex_uses(facts):
        counterpart = APEX_COUNTERPARTS.get(use.name)
        instead = f": use {counterpart}" if counterpart and not counterpart.startswith("drop it") else ""
        if counterpart and counterpart.startswith("drop it"):
            instead = f"; {counterpart}"
        notes = tuple(Note(place.span, "imported here") for place in use.imports)
        yield RULE.finding(facts, use.node, f"`apex.amp.{use.name}` is no longer maintained{instead}", notes=notes)
