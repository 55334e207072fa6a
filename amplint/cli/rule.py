"""`amplint rule`: prints the pages of rules; checks nothing."""

import argparse
import sys
from typing import TYPE_CHECKING, Any

from amplint.cli.main import CLEAN
from amplint.config.usage import UsageError, did_you_mean

if TYPE_CHECKING:
    from amplint.rules.registry import RegisteredRule


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `rule` and its flags."""
    parser = commands.add_parser("rule", help="explain a rule")
    parser.add_argument("rule", nargs="?", help="a code or a name")
    parser.add_argument("--all", action="store_true", dest="is_all", help="all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the pages that were asked for. Raises UsageError for an unknown rule."""
    pages = _wanted(options.rule, options.is_all)
    if options.output_format == "json":
        import json

        records = [record(page) for page in pages]
        json.dump(records if options.is_all else records[0], sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n\n".join(text(page) for page in pages))
    return CLEAN


def _wanted(name: str | None, is_all: bool) -> "list[RegisteredRule]":
    from amplint.rules.registry import all_rules

    if bool(name) == is_all:
        raise UsageError("name one rule, by its code or its name, or say --all")
    if is_all:
        return list(all_rules())
    assert name is not None
    found = [page for page in all_rules() if name.upper() == page.rule.code or name.lower() == page.rule.name]
    if not found:
        known = [word for page in all_rules() for word in (page.rule.code, page.rule.name)]
        raise UsageError(f"unknown rule {name!r}{did_you_mean(name, known)}")
    return found


def text(page: "RegisteredRule") -> str:
    """A rule's page for a terminal."""
    rule = page.rule
    default = "on by default" if rule.is_default else "opt-in"
    facts = f"{rule.severity} · {default} · fix: {rule.fix} · since {rule.since}"
    return f"{rule.code} {rule.name}\n{facts}\n\n{page.page.strip()}"


def record(page: "RegisteredRule") -> dict[str, Any]:
    """A rule and its page as JSON values."""
    rule = page.rule
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": " ".join(page.page.strip().split("\n\n")[0].split()),
        "severity": rule.severity,
        "default": rule.is_default,
        "fix": rule.fix,
        "contract": rule.contract,
        "since": rule.since,
        "explanation": page.page.strip(),
    }
