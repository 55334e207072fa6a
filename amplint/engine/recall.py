"""Outcomes of earlier runs that still hold, and the outcomes of this run for the next one.

Knows what an outcome depends on; how it is kept is for the cache.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from amplint.engine.cache import Cache, cache_for, digest
from amplint.engine.codec import CodecError, decode, encode
from amplint.engine.imports import imports_in
from amplint.engine.outcome import Outcome, Reading
from amplint.engine.setup import Setup
from amplint.source.discover import FoundFile
from amplint.source.suppress import Silenced
from amplint.source.text import SourceError, read_bytes, source_from_bytes


def open_cache(setup: Setup, paths: Sequence[str]) -> Cache | None:
    """The memory of runs over these paths, or None where the run is about files outside its folder."""
    root = setup.resolver.top().root
    if not all((setup.cwd / path).resolve().is_relative_to(root.resolve()) for path in paths):
        return None
    return cache_for(root, (str(setup.cwd), *paths))


def recalled(
    cache: Cache, setup: Setup, files: Sequence[FoundFile], readings: Sequence[Reading]
) -> dict[Path, Outcome]:
    """The outcomes that still hold, of the files of a run that may concern AMP."""
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
    if not held:
        return {}
    shown = {file.display: file.place for file in files}
    found: dict[Path, Outcome] = {}
    for reading in readings:
        if reading.file.place not in held:
            continue
        try:
            outcome = _outcome(reading.file, held[reading.file.place], shown, setup.cwd)
            found[outcome.path] = outcome
        except (CodecError, SourceError, TypeError, ValueError):
            cache.entries.pop(reading.file.place)
    return found


def remember(cache: Cache, outcomes: Iterable[Outcome]) -> None:
    """Keep the outcomes of this run, and what they depend on."""
    folders: set[Path] = set()
    for outcome in outcomes:
        folders |= outcome.folders
        if not outcome.problems:
            cache.add(str(outcome.path), _stored(outcome), [str(path) for path in outcome.uses], outcome.imports)
    cache.save(folders)


def _stored(outcome: Outcome) -> Any:
    """An outcome in terms of JSON. Most files say nothing but whether they rest on an assumed torch."""
    silenced = outcome.silenced
    if silenced is not None and not silenced.present:
        silenced = Silenced(silenced.used) if silenced.used else None
    if not outcome.findings and silenced is None:
        return outcome.assumes_target
    edits = tuple((finding, edits) for finding, edits in outcome.edits.items())
    return encode((outcome.findings, silenced, tuple(outcome.texts), edits, outcome.assumes_target))


def _outcome(file: FoundFile, stored: Any, shown: dict[str, str], cwd: Path) -> Outcome:
    """The outcome of a file from what was stored. Raises what `recalled` takes for "nothing of this version"."""
    if isinstance(stored, bool):
        return Outcome(file.path, file.display, silenced=Silenced(), assumes_target=stored)
    findings, silenced, texts, edits, assumes_target = decode(stored)
    outcome = Outcome(file.path, file.display, findings=findings, silenced=silenced, assumes_target=assumes_target)
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


def imports_digest(program: str) -> str:
    """A name for what a program's text says it imports."""
    return digest(repr(imports_in(program)))
