"""What a file imports and who imports it are found on disk, named in the run or not."""

from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine.imports import Imported, absolute, imports_in
from amplint.engine.places import Folders
from amplint.engine.session import Project, Session
from amplint.engine.setup import Setup
from amplint.facts.gather import Facts
from amplint.facts.program.targets import MOST_MODULES
from amplint.model.tree import FunctionDef
from amplint.source.text import read_source

MODEL = "import torch\n\n\ndef backward(loss):\n    loss.backward()\n"


def _write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _facts(root: Path, name: str, cwd: Path | None = None, walked: tuple[Path, ...] = ()) -> Facts:
    cwd = cwd or root
    path = root / name
    session = Session(Setup(Resolver({}, cwd), cwd), Project({str(path): name}, walked))
    checked = session.check(path, read_source(path, name))
    assert checked.facts is not None
    return checked.facts


@pytest.mark.parametrize(
    ("main", "name"),
    [
        ("from engine import backward\n", "engine.backward"),
        ("import engine\n", "engine.backward"),
        ("from pkg.engine import backward\n", "pkg.engine.backward"),
        ("from pkg import backward\n", "pkg.backward"),
        ("import lib.deep.engine as e\n", "lib.deep.engine.backward"),
        ("from installed import backward\n", "installed.backward"),
    ],
)
def test_imports_are_found(tmp_path: Path, main: str, name: str) -> None:
    files = ("engine.py", "pkg/engine.py", "lib/deep/engine.py", "src/installed/__init__.py")
    _write(tmp_path, dict.fromkeys(files, MODEL) | {"pkg/__init__.py": "from .engine import backward\n"})
    _write(tmp_path, {"main.py": "import torch.amp\n" + main})
    found = _facts(tmp_path, "main.py").definition(name)
    assert found is not None
    assert found[1].name == "backward"
    assert list(_facts(tmp_path, "main.py").context.modules)


def test_relative_imports_work_without_init_files(tmp_path: Path) -> None:
    _write(tmp_path, {"a/b/c.py": "import torch.amp\nfrom ..x import backward\n", "a/x.py": MODEL})
    facts = _facts(tmp_path, "a/b/c.py")
    assert facts.dotted_name == "a.b.c"
    assert facts.definition("a.x.backward") is not None


def test_files_without_a_say_are_not_parsed(tmp_path: Path) -> None:
    _write(tmp_path, {"data.py": "def load():\n    pass\n", "main.py": "import torch.amp\nimport data, json\n"})
    assert list(_facts(tmp_path, "main.py").context.modules) == []


def test_files_that_import_each_other(tmp_path: Path) -> None:
    _write(tmp_path, {"a.py": MODEL + "import b\n", "b.py": MODEL + "import a\n"})
    facts = _facts(tmp_path, "a.py")
    other = facts.context.modules["b"]
    assert other.context.modules["a"] is facts
    assert other.definition("a.backward") is not None


def test_importers(tmp_path: Path) -> None:
    caller = "import torch.amp\nfrom pkg.engine import backward\n"
    _write(tmp_path, {"pkg/__init__.py": "", "pkg/engine.py": MODEL + "x = torch.amp\n", "main.py": caller})
    _write(
        tmp_path,
        {
            "pkg/sibling.py": "import torch.amp\nfrom .engine import (\n    backward,\n)\n",
            "plain.py": "import pkg.engine\n",
        },
    )
    (tmp_path / "setup.py").write_text("")
    facts = _facts(tmp_path, "pkg/engine.py")
    assert [item.path for item in facts.context.importers] == ["main.py", "pkg/sibling.py"]


def test_a_working_directory_at_the_root_of_the_disk_is_not_searched(tmp_path: Path) -> None:
    _write(tmp_path, {"pkg/engine.py": MODEL + "x = torch.amp\n", "pkg/main.py": "import torch.amp, engine\n"})
    facts = _facts(tmp_path, "pkg/engine.py", cwd=Path("/"))
    assert len(facts.context.importers) <= 1


def test_a_folder_that_was_named_is_a_root_where_nothing_marks_one(tmp_path: Path) -> None:
    _write(tmp_path, {"tree/sub/main.py": "import torch.amp\nfrom lib.engine import backward\n"})
    _write(tmp_path, {"tree/lib/engine.py": MODEL, "elsewhere/x.py": ""})
    away = tmp_path / "elsewhere"
    assert _facts(tmp_path, "tree/sub/main.py", away).definition("lib.engine.backward") is None
    facts = _facts(tmp_path, "tree/sub/main.py", away, (tmp_path / "tree",))
    assert facts.definition("lib.engine.backward") is not None


def test_imports_in_text() -> None:
    program = (
        "import a.b as c, d\nfrom e.f import (g as h,\n  i)  # j\nif x:\n    from .. import k\nfrom .l.m import *\n"
        "# import no\nfrom n import o # p\nimportant = 1\n"
    )
    found = imports_in(program)
    assert [(item.level, item.name) for item in found] == [
        (0, "a.b"),
        (0, "d"),
        (0, "e.f"),
        (0, "e.f.g"),
        (0, "e.f.i"),
        (2, "k"),
        (1, "l.m"),
        (0, "n"),
        (0, "n.o"),
    ]


@pytest.mark.parametrize(
    ("level", "is_package", "name"),
    [(0, False, "x"), (1, False, "a.b.x"), (2, False, "a.x"), (1, True, "a.b.c.x"), (9, False, "x")],
)
def test_absolute(level: int, is_package: bool, name: str) -> None:
    assert absolute(Imported(level, "x"), "a.b.c", is_package) == name


def test_packages_hide_modules_of_the_same_name(tmp_path: Path) -> None:
    _write(tmp_path, {"x.py": "", "x/__init__.py": "", "y/z.py": ""})
    folders = Folders()
    assert folders.locate("x", (tmp_path,)) == tmp_path / "x" / "__init__.py"
    assert folders.locate("y.z", (tmp_path,)) == tmp_path / "y" / "z.py"
    assert folders.locate("y", (tmp_path,)) is None
    assert folders.locate("nope.z", (tmp_path,)) is None


@pytest.mark.parametrize(("callers", "is_followed"), [(MOST_MODULES, True), (MOST_MODULES + 1, False)])
def test_very_many_callers_are_not_read_for_one_parameter(tmp_path: Path, callers: int, is_followed: bool) -> None:
    _write(tmp_path, {"helper.py": f"{MODEL}\n\ndef run(make):\n    return make()\n"})
    call = "import torch\nfrom helper import run\n\nrun(torch.amp.GradScaler)\n"
    _write(tmp_path, {f"use{number}.py": call for number in range(callers)})
    facts = _facts(tmp_path, "helper.py")
    function = facts.index.definitions["run"]
    assert isinstance(function, FunctionDef)
    assert len(facts.targets.sites(function)) == (callers if is_followed else 0)
    made = facts.constructors.names(facts.index.calls[-1])
    assert set(made) == ({"torch.amp.GradScaler"} if is_followed else set())
