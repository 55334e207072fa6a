"""Outcomes of earlier runs that still hold, and the outcomes of this run for the next one.

Knows what an outcome depends on; how it is kept is for the cache.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplint.engine.cache import Cache, cache_for
from amplint.engine.imports import imports_digest
from amplint.engine.outcome import Outcome, Reading
from amplint.engine.setup import Setup
from amplint.source.discover import FoundFile
from amplint.source.suppress import Silenced
from amplint.source.text import SourceError, read_bytes, source_from_bytes


def open_memory(setup: Setup, paths: Sequence[str]) -> "Memory | None":
    """The memory of runs over these paths, or None where the run is about files outside its folder."""
    root = setup.resolver.top().root
    real_root = os.path.realpath(root)
    if not all(Path(os.path.realpath(setup.cwd / path)).is_relative_to(real_root) for path in paths):
        return None
    return Memory(cache_for(root, (str(setup.cwd), *paths)), setup)


class Memory:
    """What earlier runs over the same paths leave to this one; cache says which files are as they were."""

    def __init__(self, cache: Cache, setup: Setup) -> None:
        self.cache = cache
        self._setup = setup

    def recalled(self, files: Sequence[FoundFile], readings: Sequence[Reading]) -> dict[Path, Outcome]:
        """The outcomes that still hold, of the files of a run that may concern AMP."""
        cache, setup = self.cache, self._setup
        folders = sorted({reading.file.path.parent for reading in readings})
        cache.accept(
            (
                *(f"{file.place}\n{file.display}" for file in files),
                *(reading.file.place for reading in readings),
                *(f"{folder}\n{setup.fingerprint(folder)}" for folder in folders),
            )
        )
        changed = [reading for reading in readings if not cache.is_same(reading.file.place)]
        held = cache.valid({reading.file.place: _imports_of(reading) for reading in changed})
        return self._outcomes(held, files, readings) if held else {}

    def _outcomes(
        self, held: Mapping[str, Any], files: Sequence[FoundFile], readings: Sequence[Reading]
    ) -> dict[Path, Outcome]:
        # Loaded where something is remembered: it needs every class that a finding may hold.
        from amplint.engine.codec import CodecError

        shown = {file.display: file.place for file in files}
        found: dict[Path, Outcome] = {}
        for reading in readings:
            if reading.file.place not in held:
                continue
            try:
                outcome = _outcome(reading.file, held[reading.file.place], shown, self._setup.cwd)
                found[outcome.path] = outcome
            except (CodecError, SourceError, TypeError, ValueError):
                self.cache.entries.pop(reading.file.place)
        return found

    def remember(self, outcomes: Iterable[Outcome]) -> None:
        """Keep the outcomes of this run, and what they depend on."""
        folders: set[Path] = set()
        for outcome in outcomes:
            folders |= outcome.folders
            if not any(problem.is_fatal for problem in outcome.problems):
                uses = [str(path) for path in outcome.uses]
                self.cache.add(str(outcome.path), _stored(outcome), uses, outcome.imports)
        self.cache.save(folders)


def _stored(outcome: Outcome) -> Any:
    """An outcome in terms of JSON. Most files say nothing but whether they rest on an assumed torch."""
    silenced = outcome.silenced
    if silenced is not None and not silenced.present:
        silenced = Silenced(silenced.used) if silenced.used else None
    if not outcome.findings and not outcome.problems and silenced is None:
        return outcome.assumes_target
    from amplint.engine.codec import encode

    edits = tuple((finding, edits) for finding, edits in outcome.edits.items())
    problems = tuple(outcome.problems)
    return encode((outcome.findings, problems, silenced, tuple(outcome.texts), edits, outcome.assumes_target))


def _outcome(file: FoundFile, stored: Any, shown: dict[str, str], cwd: Path) -> Outcome:
    """The outcome of a file from what was stored. Raises what `recalled` takes for "nothing of this version"."""
    if isinstance(stored, bool):
        return Outcome(file.path, file.display, silenced=Silenced(), assumes_target=stored)
    from amplint.engine.codec import decode

    findings, problems, silenced, texts, edits, assumes_target = decode(stored)
    outcome = Outcome(file.path, file.display, findings=findings, silenced=silenced, assumes_target=assumes_target)
    outcome.problems = list(problems)
    # Findings about the comments themselves are made when outcomes are put together.
    has_comments = outcome.silenced is not None and bool(outcome.silenced.present)
    if findings or has_comments:
        for name in texts:
            outcome.texts[name] = source_from_bytes(read_bytes(Path(shown.get(name, cwd / name))), name)
    outcome.edits = dict(edits)
    return outcome


def _imports_of(reading: Reading) -> str:
    try:
        return imports_digest(source_from_bytes(reading.raw, reading.file.display).program)
    except SourceError:
        return ""
