"""A misuse that a run showed: which code, where, and the places that explain it; knows nothing of how it was seen."""

from collections.abc import Callable
from dataclasses import dataclass, field

from amplint.runtime.site import NOWHERE, Site


@dataclass(frozen=True, slots=True)
class Sighting:
    """One defect. code is that of the static rule, or one of the run-time codes of `codes.py`."""

    code: str
    message: str
    site: Site
    notes: tuple[tuple[Site, str], ...] = ()


@dataclass(slots=True)
class Notebook:
    """Collects sightings: each defect once, however often the program repeats it."""

    on_sighting: Callable[[Sighting], None] = lambda sighting: None
    sightings: list[Sighting] = field(default_factory=list)
    _seen: set[tuple[str, Site]] = field(default_factory=set)

    def report(self, code: str, message: str, site: Site, *notes: tuple[Site, str]) -> None:
        """Note a defect, unless it is known or its place is not in the user's files."""
        if site == NOWHERE and notes:
            site = next((place for place, _ in notes if place != NOWHERE), NOWHERE)
        if (code, site) in self._seen:
            return
        self._seen.add((code, site))
        kept = tuple((place, text) for place, text in notes if place not in (NOWHERE, site))
        sighting = Sighting(code, message, site, kept)
        self.sightings.append(sighting)
        self.on_sighting(sighting)

    def has(self, *codes: str) -> bool:
        """Whether a defect of one of these codes was noted."""
        return any(sighting.code in codes for sighting in self.sightings)
