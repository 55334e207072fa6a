"""The JSON schema of a configuration file, from the list of options."""

from typing import Any

from amplint.config.option import Kind, Option
from amplint.config.settings import options

_TEXTS = {"type": "array", "items": {"type": "string"}}


def schema() -> dict[str, Any]:
    """A JSON schema (draft 2020-12) of amplint.toml, or of `[tool.amplint]`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "amplint",
        "description": "Configuration of amplint: amplint.toml, or [tool.amplint] in pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": {option.key: _property(option) for option in options() if option.is_key},
    }


def _property(option: Option) -> dict[str, Any]:
    described: dict[str, Any] = {"description": option.help}
    match option.kind:
        case Kind.SWITCH:
            described |= {"type": "boolean", "default": option.default}
        case Kind.TEXT:
            described |= {"type": "string"}
            if option.default is not None:
                described["default"] = option.default
            if option.choices:
                described["enum"] = list(option.choices)
        case Kind.LIST:
            described |= _TEXTS
            if option.default is not None:
                described["default"] = list(option.default)
        case Kind.TABLE:
            described |= {"type": "object", "additionalProperties": _TEXTS, "default": {}}
    return described
