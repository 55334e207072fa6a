"""What a program's text says that it defines and may name, found without parsing; resolves nothing.

A program is read for what it says about one name more often than for all that is in it. Where the text rules that out,
it need not be parsed.
"""

import re
from collections.abc import Collection, Iterable
from functools import cached_property

# Behind the end of a line, which is found several times faster than the beginning of one.
_DEFINITION = re.compile(rb"\n([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)(?=[\s(:\[])")
_STAR = re.compile(rb"\bimport[\s\\]*\*")


class Outline:
    """The text of one program."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._matches: dict[re.Pattern[bytes], bool] = {}

    def may_hold(self, words: Iterable[str]) -> bool:
        """Whether the text may hold one of some words. Names in other letters may be written in more than one way."""
        return any(not word.isascii() or word.encode() in self._raw for word in words)

    def matches(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether the text has a place that fits a pattern."""
        if pattern not in self._matches:
            self._matches[pattern] = pattern.search(self._raw) is not None
        return self._matches[pattern]

    @cached_property
    def has_star(self) -> bool:
        """Whether it may import names that it does not spell."""
        return b"*" in self._raw and _STAR.search(self._raw) is not None

    @cached_property
    def _definitions(self) -> tuple[dict[str, bool], frozenset[str]]:
        """Which names are functions, and which classes; and the functions that stand further in."""
        own: dict[str, bool] = {}
        inner: set[str] = set()
        for indent, kind, name in _DEFINITION.findall(b"\n" + self._raw):
            if not indent:
                own[name.decode()] = kind == b"def"
            elif kind == b"def":
                inner.add(name.decode())
        return own, frozenset(inner)

    def defines(self, name: str) -> bool:
        """Whether it surely defines a function or class of this name at its own level."""
        return name in self._definitions[0]

    def defines_function(self, name: str) -> bool:
        """Whether what it defines by this name is a function."""
        return self._definitions[0].get(name, False)

    def may_have_method(self, names: Collection[str]) -> bool:
        """Whether one of some names may be a method's."""
        return not self._definitions[1].isdisjoint(names) or not all(name.isascii() for name in names)
