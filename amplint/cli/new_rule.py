"""`amplint debug new-rule CODE NAME`: writes the beginnings of a rule and of its fixtures into a checkout.

Knows what a rule consists of, and no rule.
"""

import argparse
import re
from pathlib import Path

from amplint import __version__
from amplint.cli.main import CLEAN
from amplint.config.usage import UsageError

_MODULE = '''\
"""Says in one sentence what the code does wrong.

## What it does

What is looked for, and what is left alone.

## Why it matters

What happens, and how much of it was measured.

## Where it reports

At the place that has to change.

## Example

```python
pass
```

## References

* https://docs.pytorch.org/docs/stable/notes/amp_examples.html
"""

from collections.abc import Iterator

from amplint.facts.gather import Facts
from amplint.model.finding import Finding, Severity
from amplint.rules.rule import Contract, FixAvailability, Rule

RULE = Rule(
    code="{code}",
    name="{name}",
    severity=Severity.WARNING,
    fix=FixAvailability.NONE,
    contract=Contract.NONE,
    since="{version}",
)


def check(facts: Facts) -> Iterator[Finding]:
    """Report what the docstring says."""
    for call in facts.index.calls:
        if facts.names.canonical(call.func) == "torch.nothing":
            yield RULE.finding(facts, call, "says what is wrong, by the names that the program has")
'''
_BAD = """\
import torch

torch.nothing()  # expect: {code} none
"""
_GOOD = """\
import torch

torch.something()
"""


def add_parser(shown: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `new-rule` to what `debug` can do."""
    parser = shown.add_parser("new-rule", help="write the beginnings of a rule and its fixtures into a checkout")
    parser.add_argument("code", metavar="CODE", help="a code that is free, such as AMP299")
    parser.add_argument("name", metavar="NAME", help="the bad thing in kebab-case, such as forgotten-thing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the files and name them. Raises UsageError where that is not possible."""
    for path in write(Path.cwd(), options.code, options.name):
        print(path)
    return CLEAN


def write(checkout: Path, code: str, name: str) -> list[Path]:
    """Write the files of a new rule below a checkout, and return their paths in it. Raises UsageError."""
    if not re.fullmatch(r"AMP\d{3}", code):
        raise UsageError(f"{code} is no code; one is AMP and three digits")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name):
        raise UsageError(f"{name} is no name; one says the bad thing in kebab-case, such as forgotten-thing")
    rules = Path("amplint", "rules")
    if not (checkout / rules / "registry.py").is_file():
        raise UsageError("a rule is written in a checkout of amplint; this folder is none")
    taken = sorted((checkout / rules).glob(f"{code.lower()}_*.py"))
    if taken:
        raise UsageError(f"{code} is taken by {taken[0].relative_to(checkout)}")
    fixtures = Path("tests", "fixtures", code)
    texts = {
        rules / f"{code}_{name}.py".lower().replace("-", "_"): _MODULE,
        fixtures / "bad_plain.py": _BAD,
        fixtures / "good_plain.py": _GOOD,
    }
    for path, text in texts.items():
        (checkout / path).parent.mkdir(parents=True, exist_ok=True)
        filled = text.replace("{code}", code).replace("{name}", name).replace("{version}", __version__)
        (checkout / path).write_text(filled, encoding="utf-8")
    return list(texts)
