"""The modules around a module: those that it can import, and those that import it. None where it is seen alone.

Knows how they are asked for, not where they come from.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from amplint.source.outline import Outline

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class Modules(Mapping[str, "Facts"]):
    """The modules that a module can see, by absolute dotted name; iteration gives those that it imports."""

    def __init__(self, seen: "Mapping[str, Facts] | None" = None) -> None:
        self._seen = seen or {}

    def __getitem__(self, name: str) -> "Facts":
        return self._seen[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)

    def making_loss(self, name: str) -> "Facts | None":
        """The module of a name, also where it has no say in a training step but may make a loss."""
        return self.get(name)

    def outline(self, name: str) -> Outline | None:
        """What the text of a module says, where it is seen. Nothing is parsed."""
        return None

    def holding(self, words: Iterable[str]) -> "Iterable[Facts]":
        """Those that the module imports whose text may hold one of some words. The others are not parsed."""
        return self.values()


class Importers(Sequence["Facts"]):
    """The modules that import another, in the order of their paths."""

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # the two overloads of Sequence add nothing here
        return ()[index]

    def __len__(self) -> int:
        return 0

    def naming(self, names: Collection[str]) -> "Sequence[Facts]":
        """Those whose text holds one of some names, and packages, which hand on what their text need not name.

        The others are not parsed.
        """
        return ()

    def are_many_naming(self, names: Collection[str], most: int) -> bool:
        """Whether those are more than some number. Nothing is parsed."""
        return False

    def holding(self, words: Iterable[str]) -> "Iterable[Facts]":
        """Those whose text may hold one of some words. The others are not parsed."""
        return ()

    def around(self, pattern: re.Pattern[bytes]) -> "Iterable[Facts]":
        """Those, and the importers of importers, whose text has a place that fits a pattern. Others are not parsed."""
        return ()
