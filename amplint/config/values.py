"""Values from configuration files made into option values, with an error that says where and what to write."""

from collections.abc import Mapping
from typing import Any

from amplint.config.option import Kind, Option
from amplint.config.settings import options
from amplint.config.usage import UsageError, did_you_mean


def option_values(table: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Field name → value for a table of configuration keys. Raises UsageError naming the key and its origin."""
    by_key = {option.key: option for option in options() if option.is_key}
    values: dict[str, Any] = {}
    for key, value in table.items():
        option = by_key.get(key)
        if option is None:
            raise UsageError(f"{origin}: {_unknown(key, by_key)}")
        values[option.name] = _value(option, value, origin)
    return values


def _unknown(key: str, known: Mapping[str, Option]) -> str:
    flag = next((option.flags[0] for option in options() if option.key == key and option.flags), None)
    if flag is not None:
        return f"{key!r} is no key; {flag} is for the command line only"
    return f"unknown key {key!r}{did_you_mean(key, known)}"


def _value(option: Option, value: Any, origin: str) -> Any:
    if option.kind is Kind.SWITCH and isinstance(value, bool):
        return value
    if option.kind is Kind.TEXT and isinstance(value, str):
        return check_choice(option, value, origin)
    if option.kind is Kind.LIST and _is_list_of_text(value):
        return tuple(value)
    if option.kind is Kind.TABLE and isinstance(value, dict) and all(_is_list_of_text(item) for item in value.values()):
        return tuple((pattern, tuple(items)) for pattern, items in value.items())
    wanted = {
        Kind.SWITCH: "true or false",
        Kind.TEXT: "a string",
        Kind.LIST: "a list of strings",
        Kind.TABLE: "a table of lists of strings",
    }[option.kind]
    raise UsageError(f"{origin}: `{option.key}` must be {wanted}, as {option.example}")


def check_choice(option: Option, value: str, origin: str) -> str:
    """The value, where the option admits it. Raises UsageError."""
    if option.choices and value not in option.choices:
        allowed = ", ".join(option.choices)
        raise UsageError(f"{origin}: `{option.key}` is one of {allowed}, not {value!r}")
    return value


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def check_required_version(required: str, version: str, origin: str) -> None:
    """Raise UsageError where a version does not meet `>=0.1,<2` or `0.1.0` (exactly)."""
    compare = {
        ">=": lambda a, b: a >= b,
        "<=": lambda a, b: a <= b,
        "==": lambda a, b: a == b,
        ">": lambda a, b: a > b,
        "<": lambda a, b: a < b,
    }
    for part in required.split(","):
        text = part.strip()
        sign = next((sign for sign in compare if text.startswith(sign)), "==")
        wanted = _numbers(text.removeprefix(sign).strip(), origin)
        have = _numbers(version, origin)
        length = max(len(wanted), len(have))
        if not compare[sign](have + (0,) * (length - len(have)), wanted + (0,) * (length - len(wanted))):
            raise UsageError(f"{origin}: requires amplint {required}, this is {version}")


def _numbers(text: str, origin: str) -> tuple[int, ...]:
    parts = text.split(".")
    if not text or not all(part.isdecimal() for part in parts):
        raise UsageError(f"{origin}: `required-version` must be as '>=0.1' or '0.1.0'")
    return tuple(int(part) for part in parts)
