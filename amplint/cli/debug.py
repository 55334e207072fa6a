"""`amplint debug`: shows contributors what amplint makes of a file, and begins new rules; decides nothing."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.cli import facts, new_rule
from amplint.config.usage import UsageError

if TYPE_CHECKING:
    from amplint.flow.graph import Owner
    from amplint.model.tree import Module


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `debug` and what it can show to the commands of the parser."""
    debug = commands.add_parser("debug", help="show what amplint makes of a file (for contributors)")
    shown = debug.add_subparsers(dest="shown", required=True, metavar="WHAT")
    graph = shown.add_parser("graph", help="the flow graphs of a file's functions, as Mermaid")
    graph.add_argument("file", type=Path, help="a Python file or a notebook")
    graph.add_argument("--function", metavar="NAME", help="only this function; methods as Class.method")
    graph.set_defaults(run=run)
    facts.add_parser(shown)
    new_rule.add_parser(shown)


def run(options: argparse.Namespace) -> int:
    """Print the graphs; the exit code is 0.

    Raises UsageError where the file cannot be read or parsed, or holds no such function.
    """
    print("\n".join(graphs(options.file, options.function)), end="")
    return 0


def graphs(path: Path, wanted: str | None) -> Iterator[str]:
    """One Mermaid chart for the file's own statements and for each function, under its dotted name."""
    from amplint.flow.draw import mermaid
    from amplint.flow.statements import build
    from amplint.source.text import SourceError, read_source
    from amplint.syntax.fault import SyntaxFaultError
    from amplint.syntax.parse import parse

    try:
        program = read_source(path, str(path)).program
        module = parse(program)
    except (SourceError, SyntaxFaultError) as error:
        raise UsageError(f"{path}: {error}") from error
    chosen = [(name, owner) for name, owner in owners(module) if wanted in (None, name)]
    if not chosen:
        raise UsageError(f"{path} has no function {wanted}; it has {', '.join(n for n, _ in owners(module) if n)}")
    for name, owner in chosen:
        yield f"%% {name or 'module'}\n{mermaid(build(owner), program)}"


def owners(module: "Module") -> "Iterator[tuple[str, Owner]]":
    """The module itself, under '', and every function with its dotted name, in the order of the file."""
    from amplint.model.tree import ClassDef, FunctionDef, Node
    from amplint.model.walks import children

    yield "", module
    stack: list[tuple[str, Node]] = [("", node) for node in reversed(module.body)]
    while stack:
        prefix, node = stack.pop()
        if isinstance(node, (FunctionDef, ClassDef)):
            if isinstance(node, FunctionDef):
                yield prefix + node.name, node
            prefix = f"{prefix}{node.name}."
        stack.extend((prefix, child) for child in reversed(list(children(node))))
