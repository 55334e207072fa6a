"""Which settings hold in a folder and which file set them: the nearest configuration file, below the command line.

One file decides; another has a say only where that file extends it.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from amplint import __version__
from amplint.config.disk import read_plain
from amplint.config.globs import Globs, PatternError
from amplint.config.option import Kind
from amplint.config.select import Layer
from amplint.config.settings import Settings, options
from amplint.config.usage import UsageError
from amplint.config.values import check_required_version, option_values
from amplint.model.data import Value

FILE_NAMES = ("amplint.toml", "pyproject.toml")


class Resolved(Value):
    """The settings of a folder.

    root is the folder of the configuration file, else the working directory; origins say which file, or
    `command line`, set an option that is not at its default.
    """

    settings: Settings
    root: Path
    file: Path | None
    layers: tuple[Layer, Layer]
    excludes: tuple[Globs, ...]
    origins: Mapping[str, str]

    def excluded_in(self, folder: str) -> Callable[[str], bool]:
        """A test of names in an absolute folder: whether the excludes name one itself."""
        tests = [globs.test_in(folder) for globs in self.excludes]
        return tests[0] if len(tests) == 1 else lambda name: any(test(name) for test in tests)

    def origin(self, name: str) -> str:
        """Where an option was set, as the beginning of a message about it; empty for the command line."""
        place = self.origins.get(name, "")
        return "" if place in ("", "command line") else f"{place}: "

    def per_file(self) -> list[tuple[Globs, tuple[str, ...]]]:
        """The patterns of per-file-ignores with their selectors."""
        origin = self.origin("per_file_ignores")
        return [(_globs([pattern], self.root, origin), items) for pattern, items in self.settings.per_file_ignores]


class Resolver:
    """Finds the settings of folders, each file read once.

    given are the values from the command line by option name; None stands for "not given".
    """

    def __init__(self, given: Mapping[str, Any], cwd: Path) -> None:
        self._given = {name: value for name, value in given.items() if value is not None}
        self._cwd = cwd
        self._by_folder: dict[Path, Resolved] = {}
        self._by_file: dict[Path | None, Resolved] = {}
        if self._given.get("isolated") and self._given.get("config"):
            raise UsageError("--isolated and --config exclude each other")

    def for_folder(self, folder: Path) -> Resolved:
        """The settings that hold for files in an absolute folder. Raises UsageError."""
        if folder not in self._by_folder:
            self._by_folder[folder] = self._find(folder)
        return self._by_folder[folder]

    def top(self) -> Resolved:
        """The settings of the working directory; they decide what concerns a run as a whole."""
        return self.for_folder(self._cwd)

    def _find(self, folder: Path) -> Resolved:
        if self._given.get("isolated"):
            return self._resolve(None)
        if self._given.get("config"):
            return self._resolve(self._cwd / self._given["config"])
        for name in FILE_NAMES:
            path = folder / name
            if path.is_file() and read_table(path) is not None:
                return self._resolve(path)
        return self._resolve(None) if folder.parent == folder else self.for_folder(folder.parent)

    def _resolve(self, file: Path | None) -> Resolved:
        if file not in self._by_file:
            values, origins = _with_extended(file, ()) if file else ({}, {})
            self._by_file[file] = self._build(file, values, origins)
        return self._by_file[file]

    def _build(self, file: Path | None, values: dict[str, Any], origins: dict[str, str]) -> Resolved:
        root = file.parent if file else self._cwd
        settings = Settings(**{**values, **self._given})
        layers = (_layer(values, str(file or "")), _layer(self._given))
        excludes = []
        for name in ("exclude", "extend_exclude"):
            patterns = getattr(settings, name)
            if patterns:
                is_given = name in self._given
                origin = "" if is_given or name not in origins else f"{origins[name]}: "
                excludes.append(_globs(patterns, self._cwd if is_given else root, origin))
        origins = {**origins, **dict.fromkeys(self._given, "command line")}
        return Resolved(settings, root, file, layers, tuple(excludes), origins)


def _globs(patterns: Sequence[str], root: Path, origin: str) -> Globs:
    try:
        return Globs(patterns, root)
    except PatternError as error:
        raise UsageError(f"{origin}{error}") from error


def _layer(values: Mapping[str, Any], file: str = "") -> Layer:
    return Layer(values.get("select"), values.get("extend_select", ()), values.get("ignore", ()), file)


def read_table(path: Path) -> dict[str, Any] | None:
    """What a configuration file says to amplint; None where a pyproject.toml says nothing. Raises UsageError."""
    import tomllib

    try:
        raw = read_plain(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    is_shared = path.name == "pyproject.toml"
    if is_shared and b"amplint" not in raw:
        return None
    try:
        table = tomllib.loads(raw.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"{path}: is nested too deeply") from error
    if not is_shared:
        return table
    tool = table.get("tool")
    own = tool.get("amplint") if isinstance(tool, dict) else None
    if own is not None and not isinstance(own, dict):
        raise UsageError(f"{path}: `tool.amplint` must be a table")
    return own


def _with_extended(file: Path, seen: tuple[Path, ...]) -> tuple[dict[str, Any], dict[str, str]]:
    """The values of a file over those of the file that it extends, with the file that set each."""
    if file in seen:
        raise UsageError(f"{file}: extends itself, by way of {', '.join(str(path) for path in seen)}")
    table = read_table(file)
    own = option_values(table or {}, str(file))
    if own.get("required_version"):
        check_required_version(own["required_version"], __version__, str(file))
    origins = dict.fromkeys(own, str(file))
    if "extend" not in own:
        return own, origins
    base_file = (file.parent / own["extend"]).resolve()
    if not base_file.is_file():
        raise UsageError(f"{file}: extends {own['extend']}, which does not exist")
    base, base_origins = _with_extended(base_file, (*seen, file))
    return _laid_over(base, own), {**base_origins, **origins}


def _laid_over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The own values over the base's; `extend-…` lists and tables add to the base's."""
    adding = {option.name for option in options() if option.name.startswith("extend_") or option.kind is Kind.TABLE}
    merged = {**base, **own}
    for name in adding & base.keys() & own.keys():
        merged[name] = (*base[name], *own[name])
    return merged
