"""Finds fixtures and reads what they expect; the grammar is described in tests/fixtures/README.md."""

import io
import json
import re
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent / "fixtures"
_HEADER = re.compile(r"# amplint: settings (?P<options>.*)")
_OPTION = re.compile(r'([a-z-]+)="([^"]*)"')
_EXPECT = re.compile(r"# expect: (?P<items>[^#]*)")
_ITEM = re.compile(r"(AMP\d{3}) (safe|unsafe|display|none)")
_NOTE = re.compile(r"# note: (?P<message>[^#]*)")
_LISTS = {"select", "extend_select", "ignore", "scaler_names", "clip_functions"}

Line = tuple[str, int]  # path inside the fixture, line of its program


@dataclass(frozen=True)
class Case:
    """A fixture: a file, or a folder of files that are checked together."""

    path: Path

    @property
    def code(self) -> str:
        """The rule that the fixture is about."""
        return self.path.parent.name

    @property
    def is_bad(self) -> bool:
        return self.path.name.startswith("bad_")

    @property
    def id(self) -> str:
        return f"{self.code}/{self.path.name}"

    @property
    def golden(self) -> Path:
        """Where the fixed text belongs."""
        return self.path.with_name(f"{self.path.stem}.fixed{self.path.suffix}")

    @cached_property
    def files(self) -> dict[str, bytes]:
        return read_files(self.path)

    @cached_property
    def programs(self) -> dict[str, list[str]]:
        """The lines of each file; of a notebook those of its code cells."""
        return {name: program_of(name, raw).split("\n") for name, raw in self.files.items()}

    @cached_property
    def options(self) -> dict[str, object]:
        """The settings of the header, as the command line would give them; the fixture's own rule is always on."""
        given: dict[str, object] = {"isolated": True, "extend_select": (self.code,)}
        for lines in self.programs.values():
            header = _HEADER.match(lines[0])
            for key, value in _OPTION.findall(header["options"]) if header else ():
                name = key.replace("-", "_")
                given[name] = tuple(value.split(",")) if name in _LISTS else value
        return given

    @cached_property
    def expected(self) -> list[tuple[Line, str, str]]:
        """(line, code, applicability) of every `# expect:`, sorted."""
        found = []
        for place, line in self._lines():
            for expectation in _EXPECT.finditer(line):
                items = _ITEM.findall(expectation["items"])
                assert items, f"{self.id}: cannot read {expectation.group()!r}"
                found += [(place, code, applicability) for code, applicability in items]
        return sorted(found)

    @cached_property
    def notes(self) -> list[tuple[Line, str]]:
        """(line, message) of every `# note:`."""
        return [(place, note["message"].strip()) for place, line in self._lines() for note in _NOTE.finditer(line)]

    def _lines(self) -> Iterator[tuple[Line, str]]:
        for name, lines in self.programs.items():
            for number, line in enumerate(lines, 1):
                yield (name, number), line


def read_files(path: Path) -> dict[str, bytes]:
    """The files of a fixture or golden by name, or by path inside its folder."""
    if path.is_file():
        return {path.name: path.read_bytes()}
    return {
        file.relative_to(path).as_posix(): file.read_bytes() for file in sorted(path.rglob("*")) if _is_source(file)
    }


def write_files(path: Path, files: Mapping[str, bytes]) -> None:
    """Write what read_files reads."""
    for name, raw in files.items():
        target = path if path.suffix in (".py", ".ipynb") else path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(raw)


def program_of(name: str, raw: bytes) -> str:
    """The text of a file, or of the code cells of a notebook one after the other, with `pass` for magics."""
    if not name.endswith(".ipynb"):
        return raw.decode(tokenize.detect_encoding(io.BytesIO(raw).readline)[0])
    cells = [cell for cell in json.loads(raw)["cells"] if cell["cell_type"] == "code"]
    program = "\n".join("".join(cell["source"]) for cell in cells)
    return re.sub(r"^([ \t]*)[%!].*$", r"\1pass", program, flags=re.MULTILINE)


def cases() -> list[Case]:
    """Every fixture, in order."""
    found = []
    for folder in sorted(ROOT.glob("AMP*")):
        for path in sorted(folder.iterdir()):
            if ".fixed" not in path.name and (path.is_dir() or _is_source(path)):
                assert path.name.startswith(("bad_", "good_")), f"{path} is neither bad nor good"
                found.append(Case(path))
    return found


def goldens() -> list[Path]:
    """Every golden, whether its fixture exists or not."""
    return sorted(path for folder in ROOT.glob("AMP*") for path in folder.iterdir() if ".fixed" in path.name)


def _is_source(path: Path) -> bool:
    return path.suffix in (".py", ".ipynb") and "__pycache__" not in path.parts
