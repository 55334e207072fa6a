"""Turns what a run showed into findings: names and severities of rules, paths as the user writes them, suppressions."""

from collections.abc import Callable, Iterable
from pathlib import Path

from amplint.model.finding import Finding, Note, Severity
from amplint.model.span import Span
from amplint.rules.registry import all_rules
from amplint.runtime.codes import RUN_CODES
from amplint.runtime.sighting import Sighting
from amplint.runtime.site import NOWHERE, Site
from amplint.source.suppress import Suppressions, suppressions
from amplint.source.text import Source, SourceError, read_source
from amplint.syntax.fault import SyntaxFaultError
from amplint.syntax.parse import parse


class Findings:
    """Findings of a run, with the texts that they stand in. is_selected says which codes a file's settings choose."""

    def __init__(self, cwd: Path, is_selected: Callable[[Path, str], bool] = lambda path, code: True) -> None:
        self._cwd = cwd
        self._is_selected = is_selected
        self._metadata = {each.rule.code: (each.rule.name, each.rule.severity) for each in all_rules()}
        self._static_codes = frozenset(self._metadata)
        self._metadata |= {each.code: (each.name, each.severity) for each in RUN_CODES}
        self._silencing: dict[str, Suppressions | None] = {}
        self.texts: dict[str, Source] = {}

    def of(self, sightings: Iterable[Sighting]) -> list[Finding]:
        """The findings that neither settings nor comments silence, by place."""
        found = [finding for sighting in sightings if (finding := self._finding(sighting)) is not None]
        return sorted(dict.fromkeys(found), key=lambda each: (each.path, each.span, each.code))

    def _finding(self, sighting: Sighting) -> Finding | None:
        name, severity = self._metadata.get(sighting.code, (sighting.code.lower(), Severity.ERROR))
        is_static = sighting.code in self._static_codes
        if is_static and not self._is_selected(Path(sighting.site.path), sighting.code):
            return None
        path, span = self._shown(sighting.site), _span(sighting.site)
        silencing = self._suppressions(path)
        if silencing is not None and silencing.find(sighting.code, name, span) is not None:
            return None
        notes = tuple(
            Note(_span(site), text, None if self._shown(site) == path else self._shown(site))
            for site, text in sighting.notes
        )
        return Finding(sighting.code, name, severity, sighting.message, path, span, span, notes)

    def _shown(self, site: Site) -> str:
        if site == NOWHERE:
            return "<program>"
        place = Path(site.path)
        shown = str(place.relative_to(self._cwd)) if place.is_relative_to(self._cwd) else site.path
        if shown not in self.texts:
            try:
                self.texts[shown] = read_source(place, shown)
            except SourceError:
                return shown
        return shown

    def _suppressions(self, path: str) -> Suppressions | None:
        if path not in self._silencing:
            text = self.texts.get(path)
            try:
                self._silencing[path] = suppressions(parse(text.program).comments) if text else None
            except SyntaxFaultError:
                self._silencing[path] = None
        return self._silencing[path]


def _span(site: Site) -> Span:
    if site == NOWHERE:
        return Span(1, 0, 1, 0)
    return Span(site.line, site.column, site.end_line, site.end_column)
