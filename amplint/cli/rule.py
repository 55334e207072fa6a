"""`amplint rule`: prints the pages of rules; checks nothing."""

import argparse
import sys
from typing import Any

from amplint.cli.main import CLEAN
from amplint.config.usage import UsageError, did_you_mean
from amplint.rules.catalogue import Entry, catalogue, entry, rule_names


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `rule` and its flags."""
    text = "Prints the page of a rule: what it reports, why it matters, what its fix does and how safe that is."
    parser = commands.add_parser("rule", help="explain a rule", description=text)
    parser.add_argument("rule", nargs="?", metavar="RULE", help="a code or a name")
    parser.add_argument("--all", action="store_true", dest="is_all", help="all rules")
    parser.add_argument("--output-format", choices=("text", "json"), default="text", help="text (default) or json")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the pages that were asked for. Raises UsageError for an unknown rule."""
    rules = _wanted(options.rule, options.is_all)
    if options.output_format == "json":
        import json

        records = [record(rule) for rule in rules]
        json.dump(records if options.is_all else records[0], sys.stdout, indent=2, ensure_ascii=False)
        print()
    else:
        print("\n\n".join(text(rule) for rule in rules))
    return CLEAN


def _wanted(name: str | None, is_all: bool) -> list[Entry]:
    if bool(name) == is_all:
        raise UsageError("name one rule, by its code or its name, or say --all")
    if is_all:
        return list(catalogue())
    assert name is not None
    begun = [code for code in rule_names() if code.startswith(name.upper())]
    if len(begun) > 1:
        raise UsageError(f"{name!r} begins the codes of several rules: {', '.join(begun)}")
    found = [code for code, own in rule_names().items() if name.upper() == code or name.lower() == own]
    if not found:
        known = [word for pair in rule_names().items() for word in pair]
        raise UsageError(f"unknown rule {name!r}{did_you_mean(name, known)}")
    return [entry(code) for code in found]


def text(rule: Entry) -> str:
    """A rule's page for a terminal."""
    default = "on by default" if rule.is_default else "in preview" if rule.is_preview else "opt-in"
    facts = f"{rule.severity} · {default} · fix: {rule.fix} · since {rule.since}"
    return f"{rule.code} {rule.name}\n{facts}\n\n{rule.page.strip()}"


def record(rule: Entry) -> dict[str, Any]:
    """A rule and its page as JSON values."""
    return {
        "code": rule.code,
        "name": rule.name,
        "summary": " ".join(rule.page.strip().split("\n\n")[0].split()),
        "severity": rule.severity,
        "default": rule.is_default,
        "preview": rule.is_preview,
        "fix": rule.fix,
        "contract": rule.contract,
        "since": rule.since,
        "explanation": rule.page.strip(),
    }
