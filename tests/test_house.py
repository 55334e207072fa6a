"""The habits of the house, where a machine can see them."""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "amplint"
NAMED = {path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))}
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "handler", "misc"}
# The node classes are one list, and splitting it would only scatter it.
LONG = {"model/tree.py"}
ONE_BROAD_EXCEPT = {"cli/main.py", "engine/check.py", "engine/work.py"}


def _room(name: str) -> str:
    return name.partition("/")[0]


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _places(wrong: Callable[[str, ast.AST], bool]) -> list[str]:
    """Where in the package there is what the function calls wrong."""
    return [
        f"{name}:{getattr(node, 'lineno', 1)}"
        for name, path in NAMED.items()
        for node in ast.walk(_tree(path))
        if wrong(name, node)
    ]


def test_there_are_modules_to_look_at() -> None:
    assert len(NAMED) > 300


def test_files_are_short() -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in NAMED.items()}
    assert {name: length for name, length in lengths.items() if length > 300 and name not in LONG} == {}


def test_functions_are_short() -> None:
    def is_long(name: str, node: ast.AST) -> bool:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
        return node.end_lineno is None or node.end_lineno - node.lineno >= 50

    assert _places(is_long) == []


def test_every_module_says_what_it_knows() -> None:
    assert [name for name, path in NAMED.items() if not ast.get_docstring(_tree(path))] == []


def test_names_say_something() -> None:
    assert [name for name, path in NAMED.items() if path.stem in BANNED_NAMES] == []

    def says_nothing(name: str, node: ast.AST) -> bool:
        endings = ("Manager", "Helper", "Handler", "Utils")
        return isinstance(node, ast.ClassDef) and node.name.endswith(endings) and node.name != "ExceptHandler"

    assert _places(says_nothing) == []


def test_only_the_command_line_prints_and_exits() -> None:
    def prints_or_exits(name: str, node: ast.AST) -> bool:
        if _room(name) in ("cli", "__main__.py"):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return node.func.id in ("print", "exit", "quit")
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys":
            # The runtime stands in for the interpreter: scripts get their arguments and streams from it.
            streams = () if _room(name) == "runtime" else ("stdout", "stderr", "argv")
            return node.attr in ("exit", *streams)
        return False

    assert _places(prints_or_exits) == []


def _broad_excepts(path: Path) -> Iterator[int]:
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.ExceptHandler):
            names = ast.walk(node.type) if node.type else []
            named = {name.id for name in names if isinstance(name, ast.Name)}
            reraises = any(isinstance(inner, ast.Raise) and inner.exc is None for inner in ast.walk(node))
            if node.type is None or (named & {"Exception", "BaseException"} and not reraises):
                yield node.lineno


def test_crashes_are_caught_in_few_places() -> None:
    found = {name: list(_broad_excepts(path)) for name, path in NAMED.items() if _room(name) != "runtime"}
    assert {name: lines for name, lines in found.items() if len(lines) > (name in ONE_BROAD_EXCEPT)} == {}


# Loading a data class of the standard library writes code, twenty times as long as loading a Struct takes.
STRUCT_ROOMS = {
    "model",
    "flow",
    "facts",
    "engine",
    "rewrite",
    "rules",
    "knowledge",
    "config",
    "report",
    "source",
    "syntax",
}
# It has to know them to keep LibCST from writing so much.
KNOWS_DATA_CLASSES = {"syntax/lean.py"}


def test_what_a_check_loads_has_no_data_classes_that_write_code() -> None:
    def takes_data_classes(name: str, node: ast.AST) -> bool:
        if _room(name) not in STRUCT_ROOMS or name in KNOWS_DATA_CLASSES:
            return False
        if isinstance(node, ast.Import):
            return any(alias.name == "dataclasses" for alias in node.names)
        return isinstance(node, ast.ImportFrom) and node.module == "dataclasses"

    assert _places(takes_data_classes) == [], "derive from amplint.model.data instead"


def test_no_unfinished_business() -> None:
    words = ("TODO", "FIXME", "XXX", "HACK")
    assert [name for name, path in NAMED.items() if any(word in path.read_text("utf-8") for word in words)] == []


def _loaded(*arguments: str, cwd: Path) -> set[str]:
    """The modules that a run of the command has imported at its end."""
    program = (
        "import sys\nfrom amplint.cli.main import main\ncode = main(sys.argv[1:])\n"
        "sys.stdout.flush()\nprint('\\n' + ' '.join(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    return set(done.stdout.splitlines()[-1].split())


HEAVY = {"libcst", "torch", "rich", "pygls", "flake8", "pathspec", "multiprocessing", "numpy"}


@pytest.mark.parametrize("arguments", [["--version"], ["rule", "AMP000"], ["rule", "--all"], ["config", "--schema"]])
def test_small_commands_load_little(arguments: list[str], tmp_path: Path) -> None:
    assert not _loaded(*arguments, cwd=tmp_path) & HEAVY


@pytest.mark.parametrize("arguments", [["--version"], ["rule", "AMP000"]])
def test_the_smallest_commands_need_no_data_classes_of_a_check(arguments: list[str], tmp_path: Path) -> None:
    assert "msgspec" not in _loaded(*arguments, cwd=tmp_path)


def test_a_tree_without_amp_loads_no_parser_and_no_rules(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\n\nprint(torch.ones(3))\n")
    (tmp_path / "b.py").write_text("def broken(:\n")
    (tmp_path / "c.ipynb").write_text("{}")
    loaded = _loaded(".", cwd=tmp_path)
    assert not loaded & HEAVY
    assert not any(
        name.startswith(("amplint.rules", "amplint.facts", "amplint.syntax", "amplint.model.tree")) for name in loaded
    )


def test_checking_loads_no_torch(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nwith torch.cuda.amp.autocast():\n    pass\n")
    assert "libcst" not in _loaded(".", cwd=tmp_path), "another process loads it meanwhile"
    loaded = _loaded("--no-cache", "--jobs", "1", ".", cwd=tmp_path)
    assert "libcst" in loaded
    assert not loaded & {"torch", "rich", "pygls", "libcst.matchers", "libcst.codemod"}


def test_a_tree_in_which_nothing_is_found_loads_no_libcst(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\n\nwith torch.autocast('cuda'):\n    pass\n")
    assert not _loaded(".", cwd=tmp_path) & {"libcst", "torch", "rich"}


def test_checking_runs_nothing_that_it_checks(tmp_path: Path) -> None:
    trap = "import pathlib, torch.cuda.amp\npathlib.Path('sprung').write_text('x')\n"
    for name in ("a.py", "__init__.py", "setup.py", "conftest.py", "sitecustomize.py", "torch.py", "amplint_plugin.py"):
        (tmp_path / name).write_text(trap)
    _loaded(".", cwd=tmp_path)
    assert not (tmp_path / "sprung").exists()
