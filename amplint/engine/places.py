"""Where modules lie on disk: names of files, files of names; reads folders, never files."""

import os
from collections.abc import Iterable
from pathlib import Path

ROOT_MARKS = frozenset({".git", "pyproject.toml", "setup.py", "setup.cfg"})


class Folders:
    """The names in folders, each folder read once, and what follows from them, each question answered once."""

    def __init__(self) -> None:
        self._entries: dict[str, frozenset[str]] = {}
        self._roots: dict[tuple[Path, Path, tuple[Path, ...]], Path | None] = {}
        self._located: dict[tuple[Path, ...], dict[str, Path | None]] = {}

    @property
    def read(self) -> frozenset[Path]:
        """The folders whose names were asked for."""
        return frozenset(map(Path, self._entries))

    def entries(self, folder: Path | str) -> frozenset[str]:
        """The names in a folder; none where it cannot be read."""
        folder = str(folder)
        known = self._entries.get(folder)
        if known is None:
            try:
                known = frozenset(os.listdir(folder))
            except OSError:
                known = frozenset()
            self._entries[folder] = known
        return known

    def dotted_name(self, path: Path, deepest_level: int) -> tuple[str, Path]:
        """The absolute name of a file as a module, and the folder from which it is imported by that name.

        deepest_level is the most dots of a relative import in it: so packages without `__init__.py` are known.
        """
        parts = [] if path.name == "__init__.py" else [path.stem]
        depth = 0
        base = path.parent
        while base.parent != base and ("__init__.py" in self.entries(base) or depth < deepest_level):
            parts.insert(0, base.name)
            base = base.parent
            depth += 1
        return ".".join(parts), base

    def project_root(self, folder: Path, cwd: Path, walked: tuple[Path, ...] = ()) -> Path | None:
        """The nearest folder, from this one upwards, that looks like a project's root or is the working directory.

        Where there is none, the largest folder that the run walked: it was named as a whole.
        """
        key = folder, cwd, walked
        if key not in self._roots:
            self._roots[key] = self._project_root(folder, cwd, walked)
        return self._roots[key]

    def _project_root(self, folder: Path, cwd: Path, walked: tuple[Path, ...]) -> Path | None:
        above = (folder, *folder.parents)
        marked = next((outer for outer in above if outer == cwd or ROOT_MARKS & self.entries(outer)), None)
        named = set(walked)
        return marked or next((outer for outer in reversed(above) if outer in named), None)

    def import_roots(self, path: Path, base: Path, root: Path | None, others: Iterable[Path]) -> tuple[Path, ...]:
        """The folders in which the absolute imports of a file are looked for, the likeliest first."""
        above = [base]
        if root is not None and base.is_relative_to(root):
            above += [folder for folder in base.parents if folder.is_relative_to(root)]
        return tuple(dict.fromkeys((*above, *others, path.parent)))

    def locate(self, name: str, roots: tuple[Path, ...]) -> Path | None:
        """The file of a module by its absolute name."""
        known = self._located.setdefault(roots, {})
        if name not in known:
            known[name] = self._locate(name, roots)
        return known[name]

    def _locate(self, name: str, roots: tuple[Path, ...]) -> Path | None:
        *packages, last = name.split(".")
        for root in roots:
            folder = str(root)
            for package in packages:
                if package not in self.entries(folder):
                    break
                folder = os.path.join(folder, package)
            else:
                entries = self.entries(folder)
                if last in entries and "__init__.py" in self.entries(os.path.join(folder, last)):
                    return Path(folder, last, "__init__.py")
                if f"{last}.py" in entries:
                    return Path(folder, f"{last}.py")
        return None
