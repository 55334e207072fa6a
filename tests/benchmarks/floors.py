"""What the parts of a check cost that no check can do without, each in a process of its own: floors for its time.

`python -m tests.benchmarks.floors PART FILE…` does one of them once.
`python -m tests.benchmarks.floors followed FOLDER` writes into it every program that a check of the working directory
parses.
"""

import ast
import sys
from collections.abc import Callable
from pathlib import Path

from amplint.source.prefilter import may_concern


def concerned(tree: Path) -> list[Path]:
    """The programs below a folder that may concern AMP."""
    return [path for path in sorted(tree.rglob("*.py")) if path.is_file() and may_concern(path.read_bytes())]


def follow(folder: Path) -> None:
    """Check the working directory, and keep each program that is parsed for it, imported ones included."""
    # Loaded late, for what this module loads counts for every floor.
    from unittest.mock import patch

    from amplint.cli.main import main
    from amplint.model.tree import Module
    from amplint.syntax.parse import parse

    parsed = set[str]()

    def remembered(program: str) -> Module:
        parsed.add(program)
        return parse(program)

    with patch("amplint.engine.shelf.parse", remembered):
        main(["check", ".", "--quiet", "--exit-zero", "--no-cache", "--jobs", "1"])
    for number, program in enumerate(sorted(parsed)):
        (folder / f"{number:05}.py").write_text(program, encoding="utf-8", errors="surrogateescape")


def read(programs: list[bytes]) -> None:
    """Nothing but what every part does: start Python and read the files."""


def parse(programs: list[bytes]) -> None:
    """Python's own parser, written in C, builds its tree."""
    for program in programs:
        _parsed(program)


def visit(programs: list[bytes]) -> None:
    """The same, and every node is met once, by the cheapest loop in Python: what any check written in it does."""
    for program in programs:
        waiting: list[ast.AST] = [_parsed(program)]
        while waiting:
            node = waiting.pop()
            for name in node._fields:
                value = getattr(node, name, None)
                if isinstance(value, list):
                    waiting += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    waiting.append(value)


def libcst(programs: list[bytes]) -> None:
    """LibCST's parser, written in Rust, builds its tree."""
    import libcst

    for program in programs:
        try:
            libcst.parse_module(program)
        except (libcst.ParserSyntaxError, UnicodeDecodeError):
            continue


PARTS: dict[str, Callable[[list[bytes]], None]] = {each.__name__: each for each in (read, parse, visit, libcst)}


def _parsed(program: bytes) -> ast.AST:
    try:
        return ast.parse(program)
    except (SyntaxError, ValueError):
        return ast.Module([], [])


if __name__ == "__main__":
    part, *paths = sys.argv[1:]
    if part == "followed":
        follow(Path(paths[0]))
    else:
        PARTS[part]([Path(path).read_bytes() for path in paths])
