"""Judges the text that fixes made: does it compile, are its names bound.

Knows nothing of rules; whether the findings are gone is judged where they are counted.
"""

import ast
import warnings
from collections.abc import Sequence

from amplint.engine.spell import FactsSpeller
from amplint.facts.gather import Facts
from amplint.model.edit import Edit
from amplint.model.span import Position, Span
from amplint.model.tree import Name


def compiles(program: str) -> bool:
    """Whether this interpreter compiles the program; `await` outside functions is let through for notebooks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(program, "<program>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def new_spans(edits: Sequence[Edit]) -> list[Span]:
    """Where the new texts stand once all the edits are made."""
    found: list[Span] = []
    shift = 0
    last_old, last_new = Position(1, 0), Position(1, 0)
    for edit in sorted(edits, key=lambda edit: edit.span):
        start, end = edit.span.start, edit.span.end
        same_line = start.line == last_old.line
        column = start.column + (last_new.column - last_old.column if same_line else 0)
        first = Position(start.line + shift, column)
        lines = edit.text.split("\n")
        new_column = len(lines[-1]) + (first.column if len(lines) == 1 else 0)
        stop = Position(first.line + len(lines) - 1, new_column)
        found.append(Span(*first, *stop))
        shift = stop.line - end.line
        last_old, last_new = end, stop
    return found


def objection(before: Facts, after: Facts, spans: Sequence[Span]) -> str | None:
    """Why the new text in these spans is not right, or None where nothing speaks against it."""
    new = [node for node in after.index.nodes if any(span.contains(node.span) for span in spans)]
    unbound = {node.id for node in before.index.nodes if isinstance(node, Name) and not _is_bound(before, node)}
    for node in new:
        if isinstance(node, Name) and node.id not in unbound and not _is_bound(after, node):
            return f"it would use the name `{node.id}`, which is not bound there"
    return None


def _is_bound(facts: Facts, node: Name) -> bool:
    return FactsSpeller(facts).is_bound(node)
