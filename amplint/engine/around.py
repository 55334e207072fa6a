"""A file's view of the modules around it, looked up on disk when somebody asks; resolves nothing itself."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.engine.shelf import Place
from amplint.facts.gather import Facts
from amplint.facts.program.context import Importers, Modules
from amplint.source.outline import Outline

if TYPE_CHECKING:
    from amplint.engine.link import Linker


class ModulesOnDisk(Modules):
    """The modules that a file can import; iteration gives those that its import statements name."""

    def __init__(self, linker: "Linker", place: Place, path: Path) -> None:
        self._linker = linker
        self._place = place
        self._path = path
        self._found: dict[str, Facts | None] = {}
        self._paths: dict[str, Path | None] = {}

    def __getitem__(self, name: str) -> Facts:
        facts = self.get(name)
        if facts is None:
            raise KeyError(name)
        return facts

    def get(self, name: str, default: Facts | None = None) -> Facts | None:  # type: ignore[override]  # of one type
        """The same; most names that are asked for are no module, and an exception for each of them costs time."""
        if name not in self._found:
            path = self._locate(name)
            self._found[name] = self._linker.facts_of(path) if path is not None else None
        facts = self._found[name]
        return default if facts is None else facts

    def making_loss(self, name: str) -> Facts | None:
        """The module of a name, also where it has no say in a training step but may make a loss."""
        path = self._locate(name)
        return self.get(name) or (self._linker.making_loss(path) if path is not None else None)

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._place.imported if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def outline(self, name: str) -> Outline | None:
        """What the text of the module says that an import of this name finds."""
        path = self._locate(name)
        return self._linker.outline(path) if path is not None else None

    def holding(self, words: Iterable[str]) -> Iterator[Facts]:
        """Those that it imports whose text may hold one of some words."""
        words = tuple(words)
        for name in self._place.imported:
            path = self._locate(name)
            if path is not None and self._linker.may_hold(path, words) and name in self:
                yield self[name]

    def _locate(self, name: str) -> Path | None:
        if name not in self._paths:
            self._paths[name] = self._linker.locate(name, self._place.roots, self._path)
        return self._paths[name]


class ImportersOnDisk(Importers):
    """The modules that import a file, found when asked for."""

    def __init__(self, linker: "Linker", path: Path) -> None:
        self._linker = linker
        self._path = path

    @cached_property
    def _found(self) -> list[Facts]:
        return self._linker.importers(self._path)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]  # the two overloads of Sequence add nothing here
        return self._found[index]

    def __len__(self) -> int:
        return len(self._found)

    def naming(self, names: Collection[str]) -> list[Facts]:
        """Those whose text holds one of some names, and packages."""
        return self._linker.importers(self._path, names)

    def are_many_naming(self, names: Collection[str], most: int) -> bool:
        """Whether those are more than some number."""
        return len(self._linker.importer_paths(self._path, names)) > most

    def holding(self, words: Iterable[str]) -> Iterator[Facts]:
        """Those whose text may hold one of some words."""
        words = tuple(words)
        paths = self._linker.importer_paths(self._path)
        yield from self._read(path for path in paths if self._linker.may_hold(path, words))

    def around(self, pattern: re.Pattern[bytes]) -> Iterator[Facts]:
        """Those, and the importers of importers, whose text has a place that fits a pattern."""
        paths = self._linker.importers_of_importers(self._path)
        yield from self._read(path for path in paths if self._linker.outline(path).matches(pattern))

    def _read(self, paths: Iterable[Path]) -> Iterator[Facts]:
        return (facts for path in paths if (facts := self._linker.facts_of(path)) is not None)
