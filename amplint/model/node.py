"""How a class of tree nodes is made: its slots and its constructor, from its annotations. Knows no node by name."""

from typing import Any, Literal, TypeVar, dataclass_transform

_Class = TypeVar("_Class", bound=type)


def kept(*, init: Literal[False] = False) -> Any:
    """A field that is not given to the constructor: None until somebody keeps something there."""


@dataclass_transform(eq_default=False, field_specifiers=(kept,))
def node(cls: _Class) -> _Class:
    """The class with slots and a constructor that takes its fields in order, those of its base first.

    What `dataclass(slots=True, eq=False)` does, less the signatures and representations that it writes: loading them
    took a tenth of a check of one file.
    """
    base = cls.__base__
    given: tuple[str, ...] = getattr(base, "__match_args__", ())
    empty: tuple[str, ...] = getattr(base, "_kept", ())
    own = vars(cls).get("__annotations__", {})
    body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__", *own)}
    empty += tuple(name for name in own if name in vars(cls))
    given += tuple(name for name in own if name not in empty)
    lines = [f"self.{name} = {name}" for name in given] + [f"self.{name} = None" for name in empty]
    exec(f"def __init__(self, {', '.join(given)}):\n    " + "\n    ".join(lines), {}, body)
    body |= {"__slots__": tuple(own), "__match_args__": given, "_kept": empty, "__qualname__": cls.__qualname__}
    return type(cls)(cls.__name__, cls.__bases__, body)


def fields(cls: type) -> tuple[str, ...]:
    """The names of what the constructor of a class of nodes takes."""
    return cls.__match_args__  # type: ignore[attr-defined,no-any-return]  # `node` gave it to the class
