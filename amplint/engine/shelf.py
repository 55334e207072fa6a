"""What a run knows of all its files together: where they are, how imports are resolved, what was parsed already.

Knows no facts, and judges nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from amplint.engine.places import Folders
from amplint.facts.settings import CheckSettings
from amplint.model.data import Value
from amplint.model.span import Span
from amplint.model.tree import Module
from amplint.syntax.parse import Lowered, lowered_by_libcst, parse, second_reading


class Surroundings(Value):
    """What a linker knows of a run.

    named maps the places of the run's files to their paths as the user gave them; walked are the folders that it looked
    through; settings and source_roots say what holds in a folder; project_files finds the files of a project that may
    concern AMP.
    """

    cwd: Path
    named: Mapping[str, str]
    settings: Callable[[Path], CheckSettings]
    source_roots: Callable[[Path], tuple[Path, ...]]
    project_files: Callable[[Path], Iterable[Path]]
    walked: tuple[Path, ...] = ()

    def root(self, folders: Folders, folder: Path) -> Path | None:
        """The project in which a folder lies, where something tells it."""
        return folders.project_root(folder, self.cwd, self.walked)

    def shown(self, path: Path) -> str:
        """The path of a file as the user gave it or would."""
        named = self.named.get(str(path))
        if named is not None:
            return named
        return str(path.relative_to(self.cwd) if path.is_relative_to(self.cwd) else path)


class Place(Value):
    """Where a file stands among the modules: its name, where its imports are looked for, what they may mean."""

    dotted_name: str
    is_package: bool
    roots: tuple[Path, ...]
    imported: tuple[str, ...]


class Shelf:
    """What stays true while files are fixed: lowered programs, the names in folders, who imports whom.

    The programs stay true for ever, so a host that makes run after run may keep them. size counts the characters of
    those that were parsed. again is what has LibCST read a text.
    """

    def __init__(self, modules: dict[str, Module] | None = None, again: Lowered | None = None) -> None:
        self.folders = Folders()
        self.importers: dict[Path, dict[Path, list[Path]]] = {}
        # With the hash of the text that says so.
        self.places: dict[Path, tuple[int, Place]] = {}
        self._modules = {} if modules is None else modules
        self._again = again or lowered_by_libcst
        self.size = 0

    def emptied(self) -> "Shelf":
        """What is known of folders and importers, without the programs."""
        other = Shelf(again=self._again)
        other.know(self)
        return other

    def know(self, other: "Shelf") -> None:
        """Take over what another one knows of folders and importers."""
        self.folders, self.importers, self.places = other.folders, other.importers, other.places

    def lowered(self, program: str) -> Module:
        """The lowered program. Raises what `parse` raises."""
        if program not in self._modules:
            self._modules[program] = parse(program)
            self.size += len(program)
        return self._modules[program]

    def forget(self, programs: Iterable[str]) -> None:
        """Let go of programs that nobody is going to ask for."""
        for program in programs:
            if self._modules.pop(program, None) is not None:
                self.size -= len(program)

    def read_again(self, program: str, places: Iterable[Span]) -> bool:
        """Have LibCST read what stands at some places of a lowered program; whether that changes its tree."""
        again = second_reading(program, self._modules[program], places, self._again)
        if again is not None:
            self._modules[program] = again
        return again is not None
