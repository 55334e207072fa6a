"""Rule pages, their index and the README's table, from the rules themselves; knows nothing that a rule does not say."""

import re
from itertools import groupby
from pathlib import Path

from amplint.rules.registry import RegisteredRule, all_rules
from amplint.rules.rule import Contract, Family, FixAvailability, Rule

FOLDER = Path(__file__).parent / "rules"
FAMILIES = {
    Family.TOOL: ("The tool's own", "Files that cannot be read as Python, and suppressions that do nothing."),
    Family.API: ("API", "Names, signatures and versions of torch's AMP interface."),
    Family.PROTOCOL: ("Scaler protocol", "The order of scale, backward, unscale_, clip, step and update."),
    Family.ACCUMULATION: ("Accumulation", "Gradients that are summed over several micro-batches."),
    Family.REGION: ("Autocast regions", "What stands inside an autocast region, and what should not."),
    Family.DTYPE: ("Dtype and device", "Which numbers a scaler, a region and the parameters use."),
    Family.LIFECYCLE: ("Lifecycle", "Checkpoints, schedulers and skipped steps."),
    Family.EFFICIENCY: ("Efficiency", "Advice on what makes mixed precision slower than it could be."),
    Family.FRAMEWORK: ("Frameworks", "Hand-written AMP beside a framework's own."),
}
FIXES = {
    FixAvailability.ALWAYS: "always",
    FixAvailability.SOMETIMES: "sometimes",
    FixAvailability.NONE: "none",
}
CONTRACTS = {
    Contract.BITWISE: "the run before and after the fix has the same trace, bit for bit",
    Contract.PROTOCOL: "nothing changes with AMP off, and after the fix the run no longer notices the scale",
    Contract.INTENDED: "a named quantity becomes right",
    Contract.REGION: "operations run in the stated dtypes and results stay close to float32",
    Contract.RUN: "the fixed script runs",
    Contract.NONE: "not judged by a run",
}
TABLE_START = "<!-- rules: start (written by python -m docs.generate) -->"
TABLE_END = "<!-- rules: end -->"


def page_name(rule: Rule) -> str:
    """The file of a rule's page, without folder."""
    return f"{rule.code}-{rule.name}.md"


def summary(registered: RegisteredRule) -> str:
    """The first paragraph of a rule's docstring, on one line."""
    return " ".join(registered.page.strip().split("\n\n")[0].split())


def rule_page(registered: RegisteredRule) -> str:
    """The page of one rule: title, facts, and the docstring."""
    rule = registered.rule
    facts = [
        f"severity: {rule.severity}",
        "on by default" if rule.is_default else _standing(rule),
        f"fix: {FIXES[rule.fix]}",
        f"since {rule.since}",
    ]
    lines = [f"# {rule.name} ({rule.code})", "", " · ".join(facts), "", registered.page.strip(), ""]
    if rule.contract is not Contract.NONE:
        lines += ["## What `amplint verify` checks", "", f"{_sentence(CONTRACTS[rule.contract])}", ""]
    return "\n".join(lines)


def index_page() -> str:
    """The index: every family with its rules, and the contents for the site."""
    lines = [
        "# Rules",
        "",
        "Rules marked *opt-in* run only where they are selected, for example with `--extend-select AMP601`.",
        "",
        "Those marked *in preview* are opt-in too, until enough of what they report in real code was judged. What they",
        "report may change in any release; `--preview` uses them all beside the default ones.",
        "",
    ]
    for family, rules in _by_family():
        title, text = FAMILIES[family]
        lines += [f"## {title} ({family})", "", text, "", *_table(rules, ""), ""]
    lines += ["```{toctree}", ":hidden:", ""]
    lines += [page_name(registered.rule).removesuffix(".md") for registered in all_rules()]
    lines += ["```", ""]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """Every page of a rule, and their index."""
    found = {FOLDER / page_name(registered.rule): rule_page(registered) for registered in all_rules()}
    found[FOLDER / "index.md"] = index_page()
    return found


def with_table(readme: str) -> str:
    """The README with its rule table brought up to date. Raises ValueError where the markers are missing."""
    lines: list[str] = []
    for family, rules in _by_family():
        lines += [f"**{FAMILIES[family][0]}**: {FAMILIES[family][1]}", "", *_table(rules, "docs/rules/"), ""]
    pattern = re.compile(re.escape(TABLE_START) + ".*?" + re.escape(TABLE_END), re.DOTALL)
    if len(pattern.findall(readme)) != 1:
        raise ValueError("README.md needs the two markers of the rule table once")
    text = "\n".join([TABLE_START, "", *lines, TABLE_END])
    return pattern.sub(lambda _: text, readme)


def _by_family() -> list[tuple[Family, list[RegisteredRule]]]:
    return [(family, list(rules)) for family, rules in groupby(all_rules(), lambda r: r.rule.family)]


def _table(rules: list[RegisteredRule], folder: str) -> list[str]:
    lines = ["| rule | what it reports | severity | fix |", "|---|---|---|---|"]
    for registered in rules:
        rule = registered.rule
        link = f"[{rule.code}]({folder}{page_name(rule)}) {rule.name}"
        severity = rule.severity.value if rule.is_default else f"{rule.severity}, {_standing(rule)}"
        lines.append(f"| {link} | {summary(registered).replace('|', chr(92) + '|')} | {severity} | {FIXES[rule.fix]} |")
    return lines


def _standing(rule: Rule) -> str:
    return "in preview" if rule.is_preview else "opt-in"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
