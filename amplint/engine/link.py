"""The facts of files, with what they import and who imports them, read when somebody asks; judges nothing.

A file sees its context whether that was named in the run or not, so a run over one changed file says what a run over
the whole project says.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from amplint.engine.imports import absolute, imports_in
from amplint.engine.places import Folders
from amplint.facts.gather import CheckSettings, Context, Facts
from amplint.facts.program.callers import Importers
from amplint.model.edit import place_of
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.model.tree import Module
from amplint.source.prefilter import may_concern, may_matter
from amplint.source.text import Source, SourceError, read_bytes, source_from_bytes
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.parse import Lowered, lowered_by_libcst, parse, second_reading


@dataclass(frozen=True)
class Surroundings:
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


@dataclass(frozen=True)
class _Place:
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

    def __init__(self, modules: dict[str, Module] | None = None, again: Lowered = lowered_by_libcst) -> None:
        self.folders = Folders()
        self.importers: dict[Path, dict[Path, list[Path]]] = {}
        self._modules = {} if modules is None else modules
        self._again = again
        self.size = 0

    def emptied(self) -> "Shelf":
        """What is known of folders and importers, without the programs."""
        other = Shelf(again=self._again)
        other.folders, other.importers = self.folders, self.importers
        return other

    def lowered(self, program: str) -> Module:
        """The lowered program. Raises what `parse` raises."""
        if program not in self._modules:
            self._modules[program] = parse(program)
            self.size += len(program)
        return self._modules[program]

    def read_again(self, program: str, places: Iterable[Span]) -> bool:
        """Have LibCST read what stands at some places of a lowered program; whether that changes its tree."""
        again = second_reading(program, self._modules[program], places, self._again)
        if again is not None:
            self._modules[program] = again
        return again is not None


class Linker:
    """The facts of files, each read and lowered once, and only when they are asked for.

    overlay holds sources that count instead of what is on disk.
    """

    def __init__(self, around: Surroundings, shelf: Shelf, overlay: Mapping[Path, Source] | None = None) -> None:
        self._around = around
        self._shelf = shelf
        self._overlay = dict(overlay or {})
        self._facts: dict[Path, Facts | None] = {}
        self._uses: defaultdict[Path, set[Path]] = defaultdict(set)
        self._texts: dict[Path, bytes] = {}
        self.sources: dict[str, Source] = {}

    def facts_for(self, path: Path, source: Source) -> Facts:
        """The facts of a file that is being checked; others that import it see these. Raises what `parse` raises."""
        known = self._facts.get(path)
        if known is None or self.sources[known.path].raw != source.raw:
            self._overlay[path] = source
            known = self._facts[path] = self._build(path, source)
        return known

    def find(self, name: str, roots: Iterable[Path], user: Path) -> Facts | None:
        """The facts of a module by its absolute name, for a file that imports it."""
        path = self._shelf.folders.locate(name, roots)
        if path is None:
            return None
        self._uses[user].add(path)
        return self.facts_of(path)

    def read_again(self, findings: Iterable[Finding]) -> bool:
        """Have LibCST read the statements with findings; whether facts were forgotten because it differs."""
        places: defaultdict[str, list[Span]] = defaultdict(list)
        for finding in findings:
            repairs = finding.fix.repairs if finding.fix is not None else ()
            places[finding.path] += [finding.span, finding.statement, *map(place_of, repairs)]
            for note in finding.notes:
                places[note.path or finding.path].append(note.span)
        programs = ((self.sources[shown].program, spans) for shown, spans in places.items() if shown in self.sources)
        is_other = [self._shelf.read_again(program, spans) for program, spans in programs]
        if any(is_other):
            self.forget()
        return any(is_other)

    @property
    def folders(self) -> frozenset[Path]:
        """The folders whose names decided what imports mean."""
        return self._shelf.folders.read

    def uses(self, path: Path) -> set[Path]:
        """Every other file that was looked at for the facts of a file, on whatever way."""
        found: set[Path] = set()
        waiting = [path]
        while waiting:
            new = self._uses[waiting.pop()] - found
            found |= new
            waiting += new
        return found - {path}

    def facts_of(self, path: Path) -> Facts | None:
        """The facts of a file in the context; None where it cannot be read or has no say in mixed precision."""
        if path not in self._facts:
            self._facts[path] = None
            self._facts[path] = self._read(path)
        return self._facts[path]

    def importers(self, path: Path, names: Collection[str] | None = None) -> list[Facts]:
        """The facts of the project's files that import a file and may concern AMP, in order of their paths.

        Where names are given, only packages and those whose text holds one of the names.
        """
        paths = self.importer_paths(path)
        self._uses[path].update(paths)
        found = (self.facts_of(each) for each in paths if names is None or self._may_name(each, names))
        return [facts for facts in found if facts is not None]

    def _may_name(self, path: Path, names: Collection[str]) -> bool:
        """Whether a file may hold one of some names, or hands on what it does not name. Parses nothing."""
        if path in self._facts or path.name == "__init__.py":
            return True
        if path not in self._texts:
            try:
                self._texts[path] = self._overlay[path].raw if path in self._overlay else read_bytes(path)
            except SourceError:
                self._texts[path] = b""
        # Names in other letters may be written in more than one way.
        return any(not name.isascii() or name.encode() in self._texts[path] for name in names)

    def forget(self) -> None:
        """Take all facts apart, for whom nobody asks any more: they hold each other, and collecting them is slow."""
        for facts in self._facts.values():
            if facts is not None:
                vars(facts).clear()
        self._facts.clear()

    def root(self, path: Path) -> Path:
        """The root of the project that a file belongs to."""
        return self._around.root(self._shelf.folders, path.parent) or path.parent

    def importer_paths(self, path: Path) -> list[Path]:
        """The project's files that import a file and may concern AMP, or call what does. No file is parsed for this."""
        root = self.root(path)
        if root not in self._shelf.importers:
            self._shelf.importers[root] = self._importers_in(root)
        return self._shelf.importers[root].get(path, [])

    def _importers_in(self, root: Path) -> dict[Path, list[Path]]:
        importers: defaultdict[Path, dict[Path, None]] = defaultdict(dict)
        unsaved = (path for path in self._overlay if path.is_relative_to(root))
        for path in sorted({*self._around.project_files(root), *unsaved}):
            try:
                program = self._source(path).program
            except SourceError:
                continue
            place = self._place(path, program)
            for name in place.imported:
                target = self._shelf.folders.locate(name, place.roots)
                if target is not None and target != path:
                    importers[target][path] = None
        return {target: list(found) for target, found in importers.items()}

    def _read(self, path: Path) -> Facts | None:
        try:
            raw = self._overlay[path].raw if path in self._overlay else read_bytes(path)
            if path.name != "__init__.py" and not may_concern(raw) and not may_matter(raw):
                return None
            return self._build(path, self._source(path, raw))
        except (SourceError, SyntaxFaultError, RecursionError):
            return None

    def _source(self, path: Path, raw: bytes | None = None) -> Source:
        """What counts as the text of a file. Raises SourceError."""
        if path in self._overlay:
            return self._overlay[path]
        return source_from_bytes(read_bytes(path) if raw is None else raw, self._around.shown(path))

    def _place(self, path: Path, program: str) -> _Place:
        imported = imports_in(program)
        name, base = self._shelf.folders.dotted_name(path, max((item.level for item in imported), default=0))
        root = self._around.root(self._shelf.folders, path.parent)
        roots = self._shelf.folders.import_roots(path, base, root, self._around.source_roots(path.parent))
        is_package = path.name == "__init__.py"
        names = dict.fromkeys(absolute(item, name, is_package) for item in imported)
        return _Place(name, is_package, roots, tuple(names))

    def _build(self, path: Path, source: Source) -> Facts:
        module = self._shelf.lowered(source.program)
        self.sources[source.path] = source
        place = self._place(path, source.program)
        context = Context(_Modules(self, place, path), _Importers(self, path), is_complete=True)
        settings = self._around.settings(path.parent)
        return Facts(source.path, module, settings, context, place.dotted_name or "__main__", place.is_package)


class _Modules(Mapping[str, Facts]):
    """The modules that a file can import, by absolute name, looked up on disk when asked for.

    Iteration gives those that its import statements name.
    """

    def __init__(self, linker: Linker, place: _Place, path: Path) -> None:
        self._linker = linker
        self._place = place
        self._path = path
        self._found: dict[str, Facts | None] = {}

    def __getitem__(self, name: str) -> Facts:
        if name not in self._found:
            self._found[name] = self._linker.find(name, self._place.roots, self._path)
        facts = self._found[name]
        if facts is None:
            raise KeyError(name)
        return facts

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._place.imported if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Importers(Importers):
    """The modules that import a file, found when asked for."""

    def __init__(self, linker: Linker, path: Path) -> None:
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
        return self._linker.importers(self._path, names)
