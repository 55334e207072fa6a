"""Judges the text that fixes made: whether it compiles, its names are bound and its AMP calls fit their signatures.

Knows nothing of rules; whether the findings are gone is judged where they are counted.
"""

import ast
import warnings
from collections.abc import Sequence

from amplint.engine.spell import FactsSpeller
from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import api
from amplint.model.edit import Edit
from amplint.model.span import Position, Span, Spans
from amplint.model.tree import Call, Name


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
    """Why the new text in these spans, in order, is not right, or None where nothing speaks against it."""
    written = Spans(spans)
    for call in after.index.calls:
        if written.touch(call.span) and (misfit := call_misfit(after, call)) is not None:
            return misfit
    new = [node for node in after.index.nodes if written.contain(node.span)]
    unbound = {node.id for node in before.index.each(Name) if not _is_bound(before, node)}
    for node in new:
        if isinstance(node, Name) and node.id not in unbound and not _is_bound(after, node):
            return f"it would use the name `{node.id}`, which is not bound there"
    return None


def call_misfit(facts: Facts, call: Call) -> str | None:
    """Why a call of an AMP name would not bind to its signature; None where it does, or that is not known."""
    dotted = facts.names.canonical(call.func)
    known = api(dotted) if dotted is not None else None
    if known is None or any(argument.star for argument in call.args):
        return None
    names = [argument.name for argument in call.args if argument.name is not None]
    count = len(call.args) - len(names)
    if count > len(known.positional):
        return f"`{known.name}` takes at most {len(known.positional)} positional arguments, not {count}"
    given = [parameter.name for parameter in known.positional[:count]] + names
    for name in names:
        if known.param(name) is None:
            return f"`{known.name}` has no parameter `{name}`"
        if given.count(name) > 1:
            return f"`{known.name}` would get `{name}` twice"
    missing = [parameter.name for parameter in known.params if parameter.default is None]
    return next((f"`{known.name}` would miss `{name}`" for name in missing if name not in given), None)


def _is_bound(facts: Facts, node: Name) -> bool:
    return FactsSpeller(facts).is_bound(node)
