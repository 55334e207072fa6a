"""Checks single files in the light of a run: what rules say, less what comments, settings and other files take away.

Writes nothing and walks no folder.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from itertools import islice
from pathlib import Path
from time import perf_counter

from msgspec import field
from msgspec.structs import replace

from amplint.engine.check import check_module
from amplint.engine.link import Linker
from amplint.engine.places import ROOT_MARKS
from amplint.engine.setup import Setup
from amplint.engine.shelf import Shelf, Surroundings
from amplint.engine.silence import silence
from amplint.facts.gather import Facts
from amplint.facts.program.callers import MOST_CALLERS
from amplint.model.data import Value
from amplint.model.edit import Applicability, Fix
from amplint.model.finding import Finding, Problem, Severity
from amplint.model.span import Span
from amplint.rules.registry import all_rules
from amplint.source.discover import discover
from amplint.source.prefilter import may_concern, may_make_loss, may_matter
from amplint.source.suppress import Silenced
from amplint.source.text import Source, SourceError, read_bytes, source_from_bytes
from amplint.syntax.fault import SyntaxFaultError

SYNTAX_CODE = "AMP000"
# Rules that follow calls into other modules, and report there.
_FOLLOWED = ("AMP2", "AMP3")


class Project(Value, dict=True):
    """The files of a run.

    named maps their places to their paths as the user gave them; walked are the folders that the run looked through;
    concerned are the files that may concern AMP.
    """

    named: Mapping[str, str]
    walked: tuple[Path, ...] = ()
    concerned: tuple[Path, ...] = ()

    @cached_property
    def places(self) -> Mapping[str, Path]:
        """Where the files are that the user gave paths of."""
        return {shown: Path(place) for place, shown in self.named.items()}


class Checked(Value):
    """What one file gave. findings may stand in other named files; facts is None where the file does not parse."""

    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    silenced: Silenced = field(default_factory=Silenced)
    facts: Facts | None = None


class Session:
    """The state of a run in one process: its settings, its files (named), and the files linked to them.

    unsaved holds texts that count instead of what is on disk.
    """

    def __init__(
        self,
        setup: Setup,
        project: Project,
        shelf: Shelf | None = None,
        unsaved: Mapping[Path, bytes] | None = None,
    ) -> None:
        setup.learn(registered.rule for registered in all_rules())
        self._setup = setup
        self._project = project
        self._shelf = shelf or Shelf()
        self.seconds: defaultdict[str, float] = defaultdict(float)
        around = Surroundings(
            setup.cwd, project.named, setup.check_settings, setup.source_roots, self._project_files, project.walked
        )
        self.linker = Linker(around, self._shelf, dict(_sources(unsaved or {}, around)))
        self._known: dict[Path, Checked] = {}

    def show(self, sources: Mapping[Path, Source]) -> None:
        """See these sources in their places from now on, and know nothing that followed from others."""
        for path in self.linker.show(sources):
            self._known.pop(path, None)

    def believe(self, path: Path, source: Source, checked: Checked, uses: Iterable[Path]) -> None:
        """Take over what an earlier check of this text gave, and which other files had a say in that."""
        with suppress(SyntaxFaultError, RecursionError):
            self._known[path] = replace(checked, facts=self.linker.facts_for(path, source))
            self.linker.add_uses(path, uses)

    def close(self) -> None:
        """Take apart what nobody asks for any more: it holds itself in circles, and collecting those is slow."""
        self.linker.forget()
        vars(self.linker).clear()
        vars(self).clear()

    def check(self, path: Path, source: Source) -> Checked:
        """The findings of a named file whose bytes may concern AMP, every one read by LibCST."""
        if path in self._known:
            return self._known[path]
        checked = self._check(path, source)
        start = perf_counter()
        # A syntax fault leaves nothing to read.
        is_other = checked.facts is not None and self.linker.read_again(checked.findings)
        self.seconds["read again"] += perf_counter() - start
        if is_other:
            self._known.clear()
            return self.check(path, source)
        if checked.facts is not None:
            self.linker.set_aside(checked.facts)
        self._known[path] = checked
        return checked

    def _check(self, path: Path, source: Source) -> Checked:
        start = perf_counter()
        try:
            facts = self.linker.facts_for(path, source)
        except SyntaxFaultError as fault:
            return Checked(self._syntax_finding(path, source.path, fault))
        except RecursionError:
            return Checked(problems=(Problem(source.path, "nested too deeply to parse"),))
        finally:
            self.seconds["parse"] += perf_counter() - start
        codes = self._setup.codes(path)
        rules = [registered for registered in all_rules() if registered.rule.code in codes]
        found, problems = check_module(facts, rules, self.seconds)
        followed = [registered for registered in rules if registered.rule.code.startswith(_FOLLOWED)]
        for caller in self._callers_beside(path, facts):
            found += check_module(caller, followed, self.seconds)[0]
        unique = list(dict.fromkeys(finding for finding in found if self._is_wanted(finding)))
        comments = {finding.path: self.facts_at(finding.path) for finding in unique}
        kept, silenced = silence(unique, comments | {source.path: facts}, source.path)
        return Checked(tuple(self._adjusted(finding) for finding in kept), tuple(problems), silenced, facts)

    def _callers_beside(self, path: Path, facts: Facts) -> Iterator[Facts]:
        """Some unnamed modules that may run what a named file holds: a mistake here may need what they do."""
        root = self.linker.root(path)
        if any(root.is_relative_to(folder) for folder in self._project.walked):
            return
        if not any(map(facts.concerns.is_direct, facts.index.functions)):
            return
        names = frozenset(definition.name for definition in facts.index.definitions.values()) - {"__init__"}
        callers = (
            self.linker.facts_of(other)
            for other in self.linker.importers_of_importers(path)
            if str(other) not in self._project.named and self.linker.outline(other).may_hold(names)
        )
        yield from islice((caller for caller in callers if caller is not None), MOST_CALLERS)

    def facts_at(self, shown: str) -> Facts:
        """The facts of a named file that was checked, or that a finding was reported in. Raises KeyError elsewhere."""
        facts = self.linker.facts_of(self._project.places[shown])
        if facts is None:
            raise KeyError(shown)
        return facts

    def _is_wanted(self, finding: Finding) -> bool:
        """Whether a finding stands in a named file, by a rule that applies there."""
        path = self._project.places.get(finding.path)
        return path is not None and finding.code in self._setup.codes(path)

    def _adjusted(self, finding: Finding) -> Finding:
        """The finding with its fix as far as the settings trust it."""
        if finding.fix is None:
            return finding
        codes = self._setup.fix_codes(self._project.places[finding.path].parent)
        fix = finding.fix
        if finding.code not in codes.fixable:
            fix = _trusted(fix, Applicability.DISPLAY)
        elif finding.code in codes.unsafe and fix.applicability is Applicability.SAFE:
            fix = _trusted(fix, Applicability.UNSAFE)
        elif finding.code in codes.safe and fix.applicability is Applicability.UNSAFE:
            fix = _trusted(fix, Applicability.SAFE)
        return finding if fix is finding.fix else replace(finding, fix=fix)

    def _syntax_finding(self, path: Path, shown: str, fault: SyntaxFaultError) -> tuple[Finding, ...]:
        rule = next((r.rule for r in all_rules() if r.rule.code == SYNTAX_CODE), None)
        if rule is None or SYNTAX_CODE not in self._setup.codes(path):
            return ()
        span = Span(fault.line, fault.column, fault.line, fault.column + 1)
        return (Finding(rule.code, rule.name, Severity.ERROR, f"does not parse: {fault.message}", shown, span, span),)

    def _project_files(self, root: Path) -> Iterable[Path]:
        """The files below a folder that may concern AMP, and those beside and above them that may call what they hold.

        A script that trains through a helper or hands it a criterion, and a package that hands the helper on, name
        nothing of AMP themselves.
        """
        found = dict.fromkeys(self._concerned_in(root))
        folders = {folder for path in found for folder in (path.parent, path.parent.parent)}
        for folder in sorted(folder for folder in folders if folder.is_relative_to(root)):
            names = sorted(name for name in self._shelf.folders.entries(folder) if name.endswith(".py"))
            paths = (folder / name for name in names)
            found.update((path, None) for path in paths if path in found or self._may_call(path))
        return found

    def _may_call(self, path: Path) -> bool:
        """Whether a file that names nothing of AMP, or is none of the run, may run what does."""
        try:
            raw = read_bytes(path)
            is_known = str(path) in self._project.named
            is_caller = path.name == "__init__.py" or may_matter(raw) or may_make_loss(raw)
            return is_caller or (not is_known and may_concern(raw))
        except SourceError:
            return False

    def _concerned_in(self, root: Path) -> Iterable[Path]:
        """The files below a folder that may concern AMP: those of the run, and others where it did not walk there."""
        below = [path for path in self._project.concerned if path.is_relative_to(root)]
        if any(root.is_relative_to(folder) for folder in self._project.walked):
            return below
        is_project = bool(self._shelf.folders.entries(root) & ROOT_MARKS)
        found = discover([str(root)], self._setup.cwd, self._setup.limits()).files if is_project else ()
        others = [file.path for file in found] if is_project else sorted(root.glob("*.py"))
        return [*below, *filter(_may_concern, others)]


def _sources(unsaved: Mapping[Path, bytes], around: Surroundings) -> Iterator[tuple[Path, Source]]:
    """The texts as sources, those apart that are none."""
    for path, raw in unsaved.items():
        with suppress(SourceError):
            yield path, source_from_bytes(raw, around.shown(path))


def _may_concern(path: Path) -> bool:
    try:
        return may_concern(read_bytes(path))
    except SourceError:
        return False


def _trusted(fix: Fix, applicability: Applicability) -> Fix:
    return replace(fix, applicability=applicability)
