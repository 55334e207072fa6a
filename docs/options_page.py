"""The configuration reference and the JSON schema, from the list of options; knows no option by name."""

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from amplint.config.option import Kind, Option
from amplint.config.schema import schema
from amplint.config.settings import options

FOLDER = Path(__file__).parent
INTRODUCTION = """\
# Configuration

amplint reads `[tool.amplint]` in `pyproject.toml`, or `amplint.toml` with the same keys at the top level. For each
checked file the nearest one above it decides, alone: nothing is merged except by `extend`. A flag on the command line
wins over a key. A key that amplint does not know is an error. `amplint config --show` prints what would be used and
which file set it.

Editors that know TOML complete and check `amplint.toml` by [its JSON schema](amplint.schema.json): write it beside the
file with `amplint config --schema > amplint.schema.json`, and begin the file with `#:schema ./amplint.schema.json`.

```toml
[tool.amplint]
extend-select = ["AMP602"]
target-torch = "2.4"

[tool.amplint.per-file-ignores]
"benchmarks/*" = ["AMP2"]
```
"""
TYPES = {
    Kind.SWITCH: "boolean",
    Kind.TEXT: "string",
    Kind.LIST: "list of strings",
    Kind.TABLE: "table of lists of strings",
}


def pages() -> dict[Path, str]:
    """The reference page and the schema."""
    return {
        FOLDER / "configuration.md": reference(),
        FOLDER / "amplint.schema.json": json.dumps(schema(), indent=2) + "\n",
    }


def reference() -> str:
    """Every option under the heading of its group."""
    parts = [INTRODUCTION]
    for group, members in groupby(options(), lambda option: option.group):
        parts.append(f"## {group}\n")
        parts.extend(_entry(option) for option in members)
    return "\n".join(parts)


def _entry(option: Option) -> str:
    title = f"`{option.key}`" if option.is_key else f"`{option.flags[0]}`"
    facts = []
    if option.is_key:
        facts.append(f"Type: {TYPES[option.kind]}.")
        facts.append(
            f"Default: `{_toml(option.kind, option.default)}`." if option.default is not None else "Not set by default."
        )
    if option.choices:
        facts.append(f"One of {', '.join(f'`{choice}`' for choice in option.choices)}.")
    if option.flags and (option.is_key or option.metavar or len(option.flags) > 1):
        shown = [f"{flag} {option.metavar}".strip() for flag in option.flags]
        facts.append(f"On the command line: {', '.join(f'`{flag}`' for flag in shown)}.")
    lines = [f"### {title}", "", option.help, "", " ".join(facts), ""]
    if option.is_key and option.example:
        lines += ["```toml", "[tool.amplint]", f"{option.key} = {option.example}", "```", ""]
    return "\n".join(lines)


def _toml(kind: Kind, value: Any) -> str:
    match kind:
        case Kind.SWITCH:
            return str(value).lower()
        case Kind.TABLE:
            return json.dumps(dict(value))
        case Kind.LIST:
            return json.dumps(list(value))
    return json.dumps(value)
