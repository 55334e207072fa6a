"""Which files a run is about: named paths, folders walked with git's ignore rules; opens none of them."""

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from amplint.model.finding import Problem

SUFFIXES = (".py", ".ipynb")
CACHE_FOLDER = ".amplint_cache"


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file to check: its absolute place, and its path as the user's own path leads to it."""

    path: Path
    display: str


@dataclass(slots=True)
class Discovery:
    """The files found, in order, and the paths that could not be used."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a walk leaves out. is_excluded is asked with absolute paths, for each folder on the way and each file."""

    is_excluded: Callable[[Path], bool]
    respects_gitignore: bool = True
    forces_exclude: bool = False


def discover(paths: Iterable[str], cwd: Path, limits: Limits) -> Discovery:
    """The files that paths name. Files are taken whatever they are called, folders are walked.

    A path that does not exist is a problem. Each file comes once, under the path that was named first.
    """
    found = Discovery()
    seen: set[Path] = set()
    for path in paths:
        absolute = Path(os.path.normpath(cwd / path))
        if limits.forces_exclude and _is_named_in_vain(absolute, cwd, limits):
            continue
        if absolute.is_dir():
            files: Iterable[FoundFile] = _in_folder(absolute, os.path.normpath(path), limits)
        elif absolute.is_file():
            files = [FoundFile(absolute, os.path.normpath(path))]
        else:
            kind = "is neither a file nor a folder" if os.path.lexists(absolute) else "does not exist"
            found.problems.append(Problem(path, kind))
            continue
        for file in files:
            if file.path not in seen:
                seen.add(file.path)
                found.files.append(file)
    return found


def _is_named_in_vain(path: Path, cwd: Path, limits: Limits) -> bool:
    above = (folder for folder in (path, *path.parents) if not cwd.is_relative_to(folder))
    return any(limits.is_excluded(folder) for folder in above)


def _in_folder(folder: Path, shown: str, limits: Limits) -> list[FoundFile]:
    listed = _git_files(folder) if limits.respects_gitignore else None
    if listed is None:
        relative = sorted(_walk(folder, limits))
    else:
        relative = sorted(_kept(folder, listed, limits))
    real_root = Path(os.path.realpath(folder))
    return [
        FoundFile(folder / path, path if shown == "." else os.path.join(shown, path))
        for path in relative
        if _stays_inside(folder / path, real_root)
    ]


def _stays_inside(path: Path, real_root: Path) -> bool:
    """Whether a path is a file of its own: a link to a file in the same tree would show that file twice."""
    if not path.is_symlink():
        return True
    target = Path(os.path.realpath(path))
    return target.is_file() and target.is_relative_to(real_root) and target.suffix not in SUFFIXES


def _kept(folder: Path, listed: Iterable[str], limits: Limits) -> Iterator[str]:
    """Those of git's files that are still there and not excluded; each folder is asked about once."""
    excluded: dict[Path, bool] = {folder: False}

    def is_excluded_folder(place: Path) -> bool:
        if place not in excluded:
            excluded[place] = is_excluded_folder(place.parent) or limits.is_excluded(place)
        return excluded[place]

    for relative in listed:
        path = folder / relative
        if not is_excluded_folder(path.parent) and not limits.is_excluded(path) and path.is_file():
            yield relative


def _git_files(folder: Path) -> list[str] | None:
    """The files below a folder that git does not ignore; None where git cannot say.

    A folder that is ignored itself was named on purpose, so git has no say in it.
    """
    try:
        listed = _git(folder, "ls-files", "-co", "--exclude-standard", "-z")
        if listed is None or (not listed and _git(folder, "check-ignore", "-q", ".") is not None):
            return None
    except OSError:
        return None
    paths: list[str] = []
    for entry in filter(None, os.fsdecode(listed).split("\0")):
        if entry.endswith(SUFFIXES):
            paths.append(entry)
        elif entry.endswith("/") or ("." not in os.path.basename(entry) and _is_folder(folder / entry)):
            # A repository inside the repository: git names it and does not look into it.
            inner = _git_files(folder / entry) or []
            paths += [os.path.join(entry.rstrip("/"), path) for path in inner]
    return paths


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _git(folder: Path, *arguments: str) -> bytes | None:
    # core.fsmonitor and hooks would run programs that the checked repository names.
    command = ["git", "-c", "core.fsmonitor=false", "-C", os.fspath(folder), *arguments]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def _walk(folder: Path, limits: Limits) -> Iterator[str]:
    """The files below a folder outside of git; .gitignore files in it count all the same."""
    ignores: list[tuple[str, Callable[[str], bool | None]]] = []
    for place, folders, files in os.walk(folder):
        relative = os.path.relpath(place, folder)
        prefix = "" if relative == "." else relative.replace(os.sep, "/") + "/"
        ignores = [item for item in ignores if prefix.startswith(item[0])]
        if limits.respects_gitignore and ".gitignore" in files:
            ignores.append((prefix, _gitignore(Path(place, ".gitignore"))))
        folders[:] = sorted(
            name
            for name in folders
            if name != CACHE_FOLDER
            and not limits.is_excluded(Path(place, name))
            and not _is_ignored(f"{prefix}{name}/", ignores)
        )
        for name in files:
            is_wanted = name.endswith(SUFFIXES) and not limits.is_excluded(Path(place, name))
            if is_wanted and not _is_ignored(prefix + name, ignores) and Path(place, name).is_file():
                yield prefix + name


def _is_ignored(path: str, ignores: list[tuple[str, Callable[[str], bool | None]]]) -> bool:
    """What the deepest .gitignore that has an opinion says."""
    for prefix, opinion in reversed(ignores):
        verdict = opinion(path[len(prefix) :])
        if verdict is not None:
            return verdict
    return False


def _gitignore(path: Path) -> Callable[[str], bool | None]:
    from pathspec import GitIgnoreSpec

    spec = GitIgnoreSpec.from_lines(path.read_text("utf-8", errors="replace").splitlines())
    return lambda relative: spec.check_file(relative).include
