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

## Fix

Divides the gradients by the scale behind the call, where they are assigned to a name: the way of the documentation.

## Fix safety

Unsafe: the penalty changes by orders of magnitude.

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html#gradient-penalty
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.scaled_values import ScaledValue
from amplint.model.edit import Applicability, Fix, FixKind, InsertAfter
from amplint.model.finding import Finding, Note, Severity
from amplint.model.tree import Assign, Attribute, Call, Name, Node, Subscript
from amplint.model.walks import own_nodes
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP215",
    name="gradient-penalty-of-scaled-gradients",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.PROTOCOL,
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
        yield RULE.finding(
            value.home, call, message, notes=(Note(value.call.span, "scaled here"),), fix=_fix(value, call)
        )


def _grad_call(value: ScaledValue) -> Call | None:
    for place in (value.call, *value.uses()):
        for outer in value.home.index.ancestors(place):
            if isinstance(outer, Call) and value.home.names.canonical(outer.func) == "torch.autograd.grad":
                return outer
    return None


def _asks_scale(node: Node) -> bool:
    return isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr == "get_scale"


def _fix(value: ScaledValue, call: Call) -> Fix | None:
    """A statement that divides what the call gave: a tuple, or the one element of it that was taken."""
    index = value.home.index
    taken = index.parents.get(call)
    is_one = isinstance(taken, Subscript)
    statement = index.parents.get(taken) if is_one and taken is not None else taken
    func = value.call.func
    scaler = spelled(func.value) if isinstance(func, Attribute) else ""
    if not isinstance(statement, Assign) or len(statement.targets) != 1 or not scaler:
        return None
    target = statement.targets[0]
    if not isinstance(target, Name):
        return None
    whole = f"[grad / {scaler}.get_scale() for grad in {target.id}]"
    code = f"{target.id} = {f'{target.id} / {scaler}.get_scale()' if is_one else whole}"
    change = InsertAfter(statement.span, code)
    return Fix("divide the gradients by the scale", FixKind.REPAIR, Applicability.UNSAFE, (change,))
