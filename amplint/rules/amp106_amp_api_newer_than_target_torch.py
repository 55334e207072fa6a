"""An AMP name is used that some supported torch does not have, or a version gate does not keep that torch out.

## What it does

Compares each AMP name with the lowest torch that the code has to run on (`target-torch`), and with the conditions
around it. Reports unguarded names that the target lacks, and conditions that let a torch through that lacks the name:
the number of another release, a test that the package exists instead of the name, a comparison the wrong way round, a
comparison of the first three characters of the version.

## Why it matters

The import or the first call fails for everybody on the older torch: `torch.amp.GradScaler` came in 2.3,
`torch.amp.custom_fwd` and the queries that take a device in 2.4, `torch.autocast` in 1.10, and a guard by the wrong
number has broken releases of widely used packages. `torch.__version__[:3] >= "2.4"` is false on torch 2.10 and later.

## Where it reports

At the name, or at the condition. Names in a `try` that catches the missing name, and conditions that cannot be read,
are left alone. A target that is only assumed reports nothing but conditions.

## Example

```python
if hasattr(torch, "amp"):
    custom_fwd = functools.partial(torch.amp.custom_fwd, device_type="cuda")
else:
    custom_fwd = torch.cuda.amp.custom_fwd
```

Use instead:

```python
if hasattr(torch, "amp") and hasattr(torch.amp, "custom_fwd"):
    custom_fwd = functools.partial(torch.amp.custom_fwd, device_type="cuda")
else:
    custom_fwd = torch.cuda.amp.custom_fwd
```

## Fix

Where the condition is one `hasattr` of the wrong thing, the test for the name itself is added.

## Fix safety

Safe: the branch is taken exactly where the name exists.

## References

- https://github.com/ultralytics/ultralytics/issues/14677
- https://github.com/cvg/LightGlue/issues/168
- https://github.com/WenjieDu/PyPOTS/issues/520
"""

from collections.abc import Iterator

from amplint.facts.api.gated import GateFault, WrongGate, is_simple_test, test_of, too_new, wrong_gates
from amplint.facts.gather import Facts
from amplint.model.edit import Applicability, Fix, FixKind, Replace
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="AMP106",
    name="amp-api-newer-than-target-torch",
    severity=Severity.ERROR,
    fix=FixAvailability.SOMETIMES,
    contract=Contract.RUN,
    since="0.1.0",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Findings at unguarded names and at conditions."""
    for found in too_new(facts):
        since = f"{found.api.since[0]}.{found.api.since[1]}"
        target = facts.settings.target
        yield RULE.finding(
            facts, found.place, f"`{found.api.name}` came in torch {since}, and the code has to run on torch {target}"
        )
    for gate in wrong_gates(facts):
        test = test_of(gate.choice)
        notes = (Note(gate.choice.holder.span, f"this chooses `{gate.api.name}`"),)
        yield RULE.finding(facts, test, _message(gate), notes=notes, fix=_fix(gate))


def _message(gate: WrongGate) -> str:
    since = f"{gate.api.since[0]}.{gate.api.since[1]}"
    name = gate.api.name
    match gate.fault:
        case GateFault.TOO_OLD:
            return f"this lets {gate.tested} through, but `{name}` came in torch {since}"
        case GateFault.OTHER_NAME:
            return f"`{gate.tested}` is older than `{name}`, which came in torch {since}: test for the name itself"
        case GateFault.INVERTED:
            return f"this is the wrong way round: the branch that needs `{name}` is reached where torch lacks it"
        case GateFault.LEXICAL:
            return f"the first three characters of version 2.10 and later are `2.1`, which is less than {gate.tested}"


def _fix(gate: WrongGate) -> Fix | None:
    if gate.fault is not GateFault.OTHER_NAME or not is_simple_test(gate.choice):
        return None
    package, _, name = gate.api.name.rpartition(".")
    parent, _, last = package.rpartition(".")
    code = f'hasattr(${{{package}}}, "{name}")'
    if parent:
        code = f'hasattr(${{{parent}}}, "{last}") and {code}'
    repairs = (Replace(test_of(gate.choice).span, code),)
    return Fix(f"test for `{gate.api.name}` itself", FixKind.REPAIR, Applicability.SAFE, repairs)
