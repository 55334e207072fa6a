"""A gradient penalty is made of gradients that are still multiplied by the loss scale.

## What it does

Finds `torch.autograd.grad` of a scaled output with `create_graph=True` in a function that never divides by
`get_scale()`.

## Why it matters

`autograd.grad` gives gradients of the scaled loss: the penalty is as many times too large as the scale says, and
changes with it. In a small run the loss was 20.9 instead of 1.32, with three overflows.

## Where it reports

At the call of `autograd.grad`.

## Example

```python
gradients = torch.autograd.grad(scaler.scale(loss), model.parameters(), create_graph=True)
penalty = sum(g.pow(2).sum() for g in gradients).sqrt()
```

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-penalty
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.scaled_values import ScaledValue
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Attribute, Call, Node, own_nodes
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP215",
    name="gradient-penalty-of-scaled-gradients",
    severity=Severity.ERROR,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report penalties of scaled gradients."""
    for value in facts.scaled_values.found:
        call = _grad_call(value)
        is_graph = call is not None and any(a.name == "create_graph" for a in call.args)
        if call is None or not is_graph or any(_asks_scale(node) for node in own_nodes(value.function)):
            continue
        message = "the penalty is made of gradients that are still multiplied by the loss scale"
        yield RULE.finding(value.home, call, message, notes=(Note(value.call.span, "scaled here"),))


def _grad_call(value: ScaledValue) -> Call | None:
    for place in (value.call, *value.uses()):
        for outer in value.home.index.ancestors(place):
            if isinstance(outer, Call) and value.home.names.canonical(outer.func) == "torch.autograd.grad":
                return outer
    return None


def _asks_scale(node: Node) -> bool:
    return isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr == "get_scale"
