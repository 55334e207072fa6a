"""Outcomes of earlier runs that still hold, and the outcomes of this run for the next one.

Knows what an outcome depends on; how it is kept is for the cache.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from amplint.engine.cache import Cache, cache_for, digest
from amplint.engine.imports import imports_in
from amplint.engine.outcome import Outcome, Reading
from amplint.engine.setup import Setup
from amplint.source.discover import FoundFile
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
            *(f"{file.path}\n{file.display}" for file in files),
            *(str(reading.file.path) for reading in readings),
            *(f"{folder}\n{setup.fingerprint(folder)}" for folder in folders),
        )
    )
    changed = [reading for reading in readings if not cache.is_same(str(reading.file.path))]
    held = cache.valid({str(reading.file.path): _imports_of(reading) for reading in changed})
    shown = {file.display: file.path for file in files}
    found: dict[Path, Outcome] = {}
    if not held:
        return found
    from amplint.engine.codec import CodecError, decode

    for reading in readings:
        stored = held.get(str(reading.file.path))
        if stored is None:
            continue
        try:
            found[reading.file.path] = _outcome(reading.file, decode(stored), shown, setup.cwd)
        except (CodecError, SourceError, TypeError, ValueError):
            cache.entries.pop(str(reading.file.path))
    return found


def remember(cache: Cache, outcomes: Iterable[Outcome]) -> None:
    """Keep the outcomes of this run, and what they depend on."""
    folders: set[Path] = set()
    for outcome in outcomes:
        folders |= outcome.folders
        if outcome.problems:
            continue
        from amplint.engine.codec import encode

        edits = tuple((finding, edits) for finding, edits in outcome.edits.items())
        fields = (outcome.findings, outcome.silenced, tuple(outcome.texts), edits, outcome.assumes_target)
        cache.add(str(outcome.path), encode(fields), [str(path) for path in outcome.uses], outcome.imports)
    cache.save(folders)


def _outcome(file: FoundFile, fields: tuple[object, ...], shown: dict[str, Path], cwd: Path) -> Outcome:
    findings, silenced, texts, edits, assumes_target = fields
    outcome = Outcome(file.path, file.display, findings=findings, silenced=silenced, assumes_target=assumes_target)  # type: ignore[arg-type]
    # Findings about the comments themselves are made when outcomes are put together.
    has_comments = outcome.silenced is not None and bool(outcome.silenced.present)
    if findings or has_comments:
        for name in texts:  # type: ignore[attr-defined]
            outcome.texts[name] = source_from_bytes(read_bytes(shown.get(name, cwd / name)), name)
    outcome.edits = dict(edits)  # type: ignore[call-overload]
    return outcome


def _imports_of(reading: Reading) -> str:
    try:
        return imports_digest(source_from_bytes(reading.raw, reading.file.display).program)
    except SourceError:
        return ""


def imports_digest(program: str) -> str:
    """A name for what a program's text says it imports."""
    return digest(repr(imports_in(program)))
