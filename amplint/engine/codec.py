"""Values of a run as JSON and back: values of the model, tuples, sets, enumerations, paths. Reads no file.

JSON and not pickle, because a cache lies in the checked tree: loading it must never run anything.
"""

from collections.abc import Callable
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from amplint.model import edit, finding, span
from amplint.model.data import Value
from amplint.source import suppress

_PLAIN = (str, int, float, bool, type(None))


class CodecError(ValueError):
    """A text that this version did not write."""


@cache
def _classes() -> dict[str, type]:
    modules = (edit, finding, span, suppress)
    return {name: kind for module in modules for name, kind in vars(module).items() if isinstance(kind, type)}


def encode(value: Any) -> Any:
    """A value in terms of JSON. Raises CodecError for a class that is none of the model's."""
    if isinstance(value, Enum):
        return ["enum", type(value).__name__, value.value]
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, Path):
        return ["path", str(value)]
    if isinstance(value, span.Span):
        return ["span", *value]
    if isinstance(value, Value) and type(value).__name__ in _classes():
        return ["object", type(value).__name__, *(encode(getattr(value, name)) for name in value.__struct_fields__)]
    if isinstance(value, list | tuple):
        return ["tuple", *map(encode, value)]
    if isinstance(value, frozenset):
        return ["set", *map(encode, value)]
    raise CodecError(f"{type(value).__name__} has no form in JSON")


def decode(value: Any) -> Any:
    """The value that `encode` was given, lists as tuples. Raises CodecError for anything else."""
    if isinstance(value, _PLAIN):
        return value
    try:
        return _DECODERS[value[0]](value)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise CodecError(str(error)) from error


def _decode_object(value: list[Any]) -> Any:
    kind = _classes()[value[1]]
    return kind(*(decode(item) for item in value[2:]))


_DECODERS: dict[str, Callable[[list[Any]], Any]] = {
    "enum": lambda value: _classes()[value[1]](value[2]),
    "path": lambda value: Path(value[1]),
    "span": lambda value: span.Span(*value[1:]),
    "object": _decode_object,
    "tuple": lambda value: tuple(decode(item) for item in value[1:]),
    "set": lambda value: frozenset(decode(item) for item in value[1:]),
}
