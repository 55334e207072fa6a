"""All rules, found by walking the package; a rule with missing or clashing metadata stops the import.

Knows nothing of which rules a run selects.
"""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import cache

import amplint.rules
from amplint.facts.gather import Facts
from amplint.model.data import Value
from amplint.model.finding import Finding
from amplint.rules.rule import Rule

Check = Callable[[Facts], Iterator[Finding]]


class RegisteredRule(Value):
    """A rule with its page (the module's docstring) and its check."""

    rule: Rule
    page: str
    check: Check


@cache
def all_rules() -> tuple[RegisteredRule, ...]:
    """Every rule, ordered by code. Raises ImportError where a module under rules/ is not a whole rule."""
    found: dict[str, RegisteredRule] = {}
    names: set[str] = set()
    for info in pkgutil.iter_modules(amplint.rules.__path__):
        if not info.name.startswith("amp"):
            continue
        module = importlib.import_module(f"amplint.rules.{info.name}")
        rule = getattr(module, "RULE", None)
        check = getattr(module, "check", None)
        has_page = module.__doc__ or sys.flags.optimize > 1  # which keeps no docstrings
        if not isinstance(rule, Rule) or not callable(check) or not has_page:
            raise ImportError(f"amplint.rules.{info.name} needs a docstring, RULE and check()")
        expected = f"{rule.code}_{rule.name}".lower().replace("-", "_")
        if info.name != expected:
            raise ImportError(f"amplint.rules.{info.name} should be called {expected}")
        if rule.is_preview and rule.is_default:
            raise ImportError(f"{rule.code} is in preview, so it cannot be on by default")
        if rule.code in found or rule.name in names:
            raise ImportError(f"{rule.code} {rule.name} is declared twice")
        found[rule.code] = RegisteredRule(rule, module.__doc__ or "", check)
        names.add(rule.name)
    return tuple(found[code] for code in sorted(found))
