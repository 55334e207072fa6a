"""Which files a run is about: named paths, folders walked with git's ignore rules; opens none of them."""

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

from amplint.config.disk import read_plain
from amplint.model.data import Value
from amplint.model.finding import Problem
from amplint.source.git import git

SUFFIXES = (".py", ".ipynb")
CACHE_FOLDER = ".amplint_cache"
# What is said of a path where there is nothing.
MISSING = "does not exist"

# The opinions of the .gitignore files in the folders on the way, each with the folder, as a prefix of paths.
_Ignores = tuple[tuple[str, Callable[[str], bool | None]], ...]


class FoundFile(NamedTuple):
    """A file to check: its absolute place, and its path as the user's own path leads to it.

    A tree has thousands of them, and a `Path` for each costs more than finding it.
    """

    place: str
    display: str

    @property
    def path(self) -> Path:
        """The place as a path."""
        return Path(self.place)


class Discovery(Struct):
    """The files found, in order, and the paths that could not be used."""

    files: list[FoundFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class Limits(Value):
    """What a walk leaves out. excluded_in makes, for an absolute folder, a test of the names in it."""

    excluded_in: Callable[[str], Callable[[str], bool]]
    respects_gitignore: bool = True
    forces_exclude: bool = False


def discover(paths: Iterable[str], cwd: Path, limits: Limits) -> Discovery:
    """The files that paths name. Files are taken whatever they are called, folders are walked.

    A path that does not exist is a problem. Each file comes once, whatever links lead to it, under the path that was
    named first.
    """
    found = Discovery()
    seen: set[str] = set()
    for path in paths:
        absolute = Path(os.path.normpath(cwd / path))
        if limits.forces_exclude and _is_named_in_vain(absolute, cwd, limits):
            continue
        if path and absolute.is_dir():
            files, problems = _in_folder(absolute, os.path.normpath(path), limits)
            found.problems += problems
        elif absolute.is_file():
            files = [(FoundFile(str(absolute), os.path.normpath(path)), os.path.realpath(absolute))]
        else:
            found.problems.append(Problem(path, _complaint(path, absolute)))
            continue
        for file, real in files:
            if real not in seen:
                seen.add(real)
                found.files.append(file)
    return found


def _complaint(path: str, absolute: Path) -> str:
    """Why a path that is neither a file nor a folder cannot be checked."""
    if not path or not os.path.lexists(absolute):
        return MISSING
    is_lost = absolute.is_symlink() and not absolute.exists()
    return "is a link that leads nowhere" if is_lost else "is neither a file nor a folder"


def _is_named_in_vain(path: Path, cwd: Path, limits: Limits) -> bool:
    above = (folder for folder in (path, *path.parents) if not cwd.is_relative_to(folder))
    return any(limits.excluded_in(str(folder.parent))(folder.name) for folder in above)


def _in_folder(folder: Path, shown: str, limits: Limits) -> tuple[list[tuple[FoundFile, str]], list[Problem]]:
    """The files below a folder, each with its place without links, and the folders in it that cannot be listed."""
    root, unlisted = str(folder), dict[str, str]()
    listed = _git_files(folder) if limits.respects_gitignore else None
    found = sorted(_walk(root, limits, unlisted) if listed is None else _kept(root, listed, limits))
    real_root = Path(os.path.realpath(folder))
    start, shown_start = os.path.join(root, ""), "" if shown == "." else os.path.join(shown, "")
    real_start = os.path.join(real_root, "")
    files = [
        (FoundFile(start + path, shown_start + path), os.path.realpath(start + path) if is_link else real_start + path)
        for path, is_link in found
        if not is_link or _leads_to_a_file_of_its_own(start + path, real_root)
    ]
    return files, [Problem(shown_start + path or shown, reason) for path, reason in sorted(unlisted.items())]


def _leads_to_a_file_of_its_own(link: str, real_root: Path) -> bool:
    """Whether a link gives a file of the tree that has no other name: one to a Python file would show it twice."""
    target = Path(os.path.realpath(link))
    return target.is_file() and target.is_relative_to(real_root) and target.suffix not in SUFFIXES


def _kept(root: str, listed: Iterable[str], limits: Limits) -> Iterator[tuple[str, bool]]:
    """Those of git's files that are still there and not excluded, and whether each is a link.

    Each folder is asked about once.
    """
    tests: dict[str, Callable[[str], bool] | None] = {"": limits.excluded_in(root)}

    def test_in(folder: str) -> Callable[[str], bool] | None:
        """The test of the names in a folder; None where the folder itself, or one above it, is excluded."""
        if folder not in tests:
            above, _, name = folder.rpartition("/")
            test = test_in(above)
            tests[folder] = None if test is None or test(name) else limits.excluded_in(f"{root}/{folder}")
        return tests[folder]

    for relative in listed:
        folder, _, name = relative.rpartition("/")
        test = test_in(folder)
        if test is None or test(name):
            continue
        try:
            mode = os.lstat(f"{root}/{relative}").st_mode
        except OSError:
            continue
        if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
            yield relative, stat.S_ISLNK(mode)


def _git_files(folder: Path) -> list[str] | None:
    """The files below a folder that git does not ignore; None where git cannot say.

    A folder that is ignored itself was named on purpose, so git has no say in it.
    """
    real = Path(os.path.realpath(folder))
    if "GIT_DIR" not in os.environ and not any((outer / ".git").exists() for outer in (real, *real.parents)):
        return None  # as git would say, after a while
    listed = git(folder, "ls-files", "-co", "--exclude-standard", "-z")
    # It warns of folders that it cannot list, and goes on; who walks through them can say so.
    if listed is None or listed.returncode or listed.stderr:
        return None
    if not listed.stdout:
        ignored = git(folder, "check-ignore", "-q", ".")
        if ignored is not None and ignored.returncode == 0:
            return None
    paths: list[str] = []
    for entry in filter(None, os.fsdecode(listed.stdout).split("\0")):
        if entry.endswith(SUFFIXES):
            paths.append(entry)
        elif entry.endswith("/") or ("." not in os.path.basename(entry) and _is_folder(folder / entry)):
            # A repository inside the repository: git names it and does not look into it.
            inner = _git_files(folder / entry)
            if inner is None:
                return None
            paths += [os.path.join(entry.rstrip("/"), path) for path in inner]
    return paths


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _walk(root: str, limits: Limits, unlisted: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """The files below a folder outside of git, and whether each is a link; .gitignore files in it count all the same.

    The system says what each name is while it lists a folder, so that no file is looked at by itself. Folders that it
    does not list go to unlisted, with its reason.
    """
    waiting: list[tuple[str, _Ignores]] = [("", ())]
    while waiting:
        prefix, ignores = waiting.pop()
        place = os.path.join(root, prefix)
        try:
            with os.scandir(place) as listing:
                entries = list(listing)
        except OSError as error:
            if os.path.lexists(place):
                unlisted[prefix] = f"cannot be listed: {error.strerror or error}"
            continue
        if limits.respects_gitignore and any(entry.name == ".gitignore" and entry.is_file() for entry in entries):
            ignores = (*ignores, (prefix, _gitignore(Path(place, ".gitignore"))))
        is_excluded = limits.excluded_in(place.rstrip(os.sep) or place)
        for entry in entries:
            path = prefix + entry.name
            if entry.is_dir(follow_symlinks=False):
                if entry.name != CACHE_FOLDER and not is_excluded(entry.name) and not _is_ignored(f"{path}/", ignores):
                    waiting.append((f"{path}/", ignores))
            elif entry.name.endswith(SUFFIXES) and not is_excluded(entry.name) and not _is_ignored(path, ignores):
                is_link = entry.is_symlink()
                if is_link or entry.is_file():
                    yield path, is_link


def _is_ignored(path: str, ignores: "_Ignores") -> bool:
    """What the deepest .gitignore that has an opinion says."""
    for prefix, opinion in reversed(ignores):
        verdict = opinion(path[len(prefix) :])
        if verdict is not None:
            return verdict
    return False


def _gitignore(path: Path) -> Callable[[str], bool | None]:
    from amplint.source.ignored import opinion_of

    try:
        text = read_plain(path).decode("utf-8-sig", errors="replace")
    except OSError:
        text = ""
    return opinion_of(text)
