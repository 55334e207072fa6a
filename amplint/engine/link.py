"""The facts of files, with what they import and who imports them, read when somebody asks; judges nothing.

A file sees its context whether that was named in the run or not, so a run over one changed file says what a run over
the whole project says.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from amplint.engine.around import ImportersOnDisk, ModulesOnDisk
from amplint.engine.imports import absolute, imports_in
from amplint.engine.shelf import Place, Shelf, Surroundings
from amplint.facts.gather import Context, Facts
from amplint.model.edit import place_of
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.source.outline import Outline
from amplint.source.prefilter import may_concern, may_make_loss, may_matter
from amplint.source.text import Source, SourceError, read_bytes, source_from_bytes
from amplint.syntax.fault import SyntaxFaultError

# The parts of facts that the rules ask of the module that they check, and no other module; graphs are most of it.
_OWN = (
    "protocol", "defects", "accumulation", "scaled_values", "scaler_creations", "scaler_lifecycle",
    "pairing", "unscaled", "enclosed", "handoffs", "efficiency", "switches", "operations", "devices",
)  # fmt: skip
# All that is worked out when somebody asks, less what writing edits asks for.
_WORKED_OUT = frozenset(name for name, part in vars(Facts).items() if isinstance(part, cached_property)).difference(
    ("index", "names")
)


def _has_a_say(raw: bytes) -> bool:
    return may_concern(raw) or may_matter(raw)


class Linker:
    """The facts of files, each read and lowered once, and only when they are asked for.

    overlay holds sources that count instead of what is on disk.
    """

    def __init__(self, around: Surroundings, shelf: Shelf, overlay: Mapping[Path, Source] | None = None) -> None:
        self._around = around
        self._shelf = shelf
        self._overlay = dict(overlay or {})
        self._unsaved = tuple(self._overlay)
        self._facts: dict[Path, Facts | None] = {}
        # What `show` had to let go: somebody may still hold it.
        self._dropped: list[Facts] = []
        self._shown: set[str] = set()
        self._losses: dict[Path, Facts | None] = {}
        self._uses: defaultdict[Path, set[Path]] = defaultdict(set)
        self._outlines: dict[Path, Outline] = {}
        self.sources: dict[str, Source] = {}

    def facts_for(self, path: Path, source: Source) -> Facts:
        """The facts of a file that is being checked; others that import it see these. Raises what `parse` raises."""
        known = self._facts.get(path)
        if known is None or self.sources[known.path].raw != source.raw:
            self._overlay[path] = source
            known = self._facts[path] = self._build(path, source)
        return known

    def locate(self, name: str, roots: tuple[Path, ...], user: Path) -> Path | None:
        """Where a module is, by its absolute name, for a file that is going to be told of it."""
        path = self._shelf.folders.locate(name, roots)
        if path is not None:
            self._uses[user].add(path)
        return path

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
            self._facts.clear()
        return any(is_other)

    @property
    def folders(self) -> frozenset[Path]:
        """The folders whose names decided what imports mean."""
        return self._shelf.folders.read

    def add_uses(self, path: Path, uses: Iterable[Path]) -> None:
        """Take note of files that had a say in what was found in a file, when that was asked elsewhere."""
        self._uses[path].update(uses)

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

    def making_loss(self, path: Path) -> Facts | None:
        """The facts of a file that has no say in mixed precision but may make a loss; for those who ask for one."""
        if path not in self._losses:
            self._losses[path] = self._read(path, may_make_loss)
        return self._losses[path]

    def importers(self, path: Path, names: Collection[str] | None = None) -> list[Facts]:
        """The facts of the files that `importer_paths` gives, in order of their paths."""
        found = [(each, self.facts_of(each)) for each in self.importer_paths(path, names)]
        if names is not None:
            # A script that has no say itself may make the criterion that it hands to what it names.
            found = [(each, facts or self.making_loss(each)) for each, facts in found]
        return [facts for _, facts in found if facts is not None]

    def _may_name(self, path: Path, names: Collection[str]) -> bool:
        """Whether a file may hold one of some names, or hands on what it does not name. Parses nothing."""
        return path.name == "__init__.py" or self.outline(path).may_hold(names)

    def may_hold(self, path: Path, words: Collection[str]) -> bool:
        """Whether a file may hold one of some words, or get by a star import what it does not spell. Parses nothing."""
        return self.outline(path).may_hold(words) or self.outline(path).has_star

    def outline(self, path: Path) -> Outline:
        """What the text of a file says; nothing where it cannot be read. Parses nothing."""
        if path not in self._outlines:
            try:
                self._outlines[path] = Outline(self._overlay[path].raw if path in self._overlay else read_bytes(path))
            except SourceError:
                self._outlines[path] = Outline(b"")
        return self._outlines[path]

    def show(self, sources: Mapping[Path, Source]) -> set[Path]:
        """Let sources count instead of what is on disk or was shown before.

        Gives back the files of which nothing is known any more, because what was known followed from another text.
        """
        changed = {path for path, source in sources.items() if self._is_other(path, source)}
        self._overlay.update(sources)
        self._shown.update(source.program for source in sources.values())
        users: defaultdict[Path, list[Path]] = defaultdict(list)
        for path, used in self._uses.items():
            for each in used:
                users[each].append(path)
        stale, waiting = set(changed), list(changed)
        while waiting:
            new = [path for path in users[waiting.pop()] if path not in stale]
            stale.update(new)
            waiting += new
        for path in stale:
            for facts in (self._facts.pop(path, None), self._losses.pop(path, None)):
                if facts is None:
                    continue
                self._dropped.append(facts)
                for part in _WORKED_OUT & vars(facts).keys():
                    del vars(facts)[part]
            self._uses.pop(path, None)
        for path in changed:
            self._outlines.pop(path, None)
        return stale

    def _is_other(self, path: Path, source: Source) -> bool:
        shown = self._overlay.get(path)
        return shown is None or shown.raw != source.raw

    def forget(self) -> None:
        """Take all facts apart, for whom nobody asks any more: they hold each other, and collecting them is slow."""
        for known in (self._facts, self._losses):
            self._dropped += (facts for facts in known.values() if facts is not None)
            known.clear()
        self.forget_dropped()

    def forget_dropped(self) -> None:
        """Take the facts of texts apart that are shown no more, and forget those texts."""
        texts = {source.program for source in self._overlay.values()}
        for facts in self._dropped:
            vars(facts).clear()
        self._dropped.clear()
        self._shelf.forget(self._shown - texts)
        self._shown &= texts

    def set_aside(self, facts: Facts) -> None:
        """Let go of what nobody asks of a module whose check is done; if somebody does, it is worked out again."""
        for part in _OWN:
            vars(facts).pop(part, None)

    def root(self, path: Path) -> Path:
        """The root of the project that a file belongs to."""
        return self._around.root(self._shelf.folders, path.parent) or path.parent

    def importer_paths(self, path: Path, names: Collection[str] | None = None) -> list[Path]:
        """The project's files that import a file and may concern AMP, or call what does. No file is parsed for this.

        Where names are given, only packages and those whose text holds one of the names.
        """
        root = self.root(path)
        if root not in self._shelf.importers:
            self._shelf.importers[root] = self._importers_in(root)
        found = self._shelf.importers[root].get(path, [])
        self._uses[path].update(found)
        return found if names is None else [each for each in found if self._may_name(each, names)]

    def importers_of_importers(self, path: Path) -> list[Path]:
        """Those files, and the files that import them, directly or not."""
        found: dict[Path, None] = {}
        waiting = [path]
        while waiting:
            new = [each for each in self.importer_paths(waiting.pop()) if each not in found]
            found.update(dict.fromkeys(new))
            waiting += new
        return list(found)

    def _importers_in(self, root: Path) -> dict[Path, list[Path]]:
        importers: defaultdict[Path, dict[Path, None]] = defaultdict(dict)
        unsaved = (path for path in self._unsaved if path.is_relative_to(root))
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

    def _read(self, path: Path, is_wanted: Callable[[bytes], bool] = _has_a_say) -> Facts | None:
        try:
            raw = self._overlay[path].raw if path in self._overlay else read_bytes(path)
            if path.name != "__init__.py" and not is_wanted(raw):
                return None
            return self._build(path, self._source(path, raw))
        except (SourceError, SyntaxFaultError, RecursionError):
            return None

    def _source(self, path: Path, raw: bytes | None = None) -> Source:
        """What counts as the text of a file. Raises SourceError."""
        if path in self._overlay:
            return self._overlay[path]
        return source_from_bytes(read_bytes(path) if raw is None else raw, self._around.shown(path))

    def _place(self, path: Path, program: str) -> Place:
        """Worked out once for each text of a file: for all who ask who imports whom, and for its own check."""
        known = self._shelf.places.get(path)
        if known is None or known[0] != hash(program):
            known = self._shelf.places[path] = hash(program), self._new_place(path, program)
        return known[1]

    def _new_place(self, path: Path, program: str) -> Place:
        imported = imports_in(program)
        name, base = self._shelf.folders.dotted_name(path, max((item.level for item in imported), default=0))
        root = self._around.root(self._shelf.folders, path.parent)
        roots = self._shelf.folders.import_roots(path, base, root, self._around.source_roots(path.parent))
        is_package = path.name == "__init__.py"
        names = dict.fromkeys(absolute(item, name, is_package) for item in imported)
        return Place(name, is_package, roots, tuple(names))

    def _build(self, path: Path, source: Source) -> Facts:
        module = self._shelf.lowered(source.program)
        self.sources[source.path] = source
        place = self._place(path, source.program)
        context = Context(ModulesOnDisk(self, place, path), ImportersOnDisk(self, path), is_complete=True)
        settings = self._around.settings(path.parent)
        return Facts(source.path, module, settings, context, place.dotted_name or "__main__", place.is_package)
