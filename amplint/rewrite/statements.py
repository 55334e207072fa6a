"""Whole statements put in, taken out and moved: at the right indentation, out of one-line blocks and semicolons.

Knows nothing of what the statements say.
"""

import re
from collections.abc import Callable, Collection
from itertools import pairwise

from amplint.model.edit import Edit
from amplint.model.span import Position
from amplint.model.tree import For, If, Module, Node, Stmt, While, With
from amplint.model.walks import walk
from amplint.rewrite.page import Page, RefusedError, Suite

_SUPPRESSION = re.compile(r"#\s*(amplint:\s*ignore|noqa)")
_CODE_UNIT = "    "


Lines = Callable[[str], str]  # whole lines at an indentation


def code_lines(page: Page, code: str) -> Lines:
    """The lines of code (themselves indented by four spaces a level), in the file's own unit of indentation."""
    return lambda indentation: indented(code, indentation, page.unit)


def insert_before(page: Page, statement: Stmt, lines: Lines) -> list[Edit]:
    """Put the lines before the statement."""
    if page.is_elif(statement):
        raise RefusedError("nothing can be put before an `elif`")
    suite = page.suite(statement)
    start = page.offset(page.head(statement))
    text = lines(page.suite_indentation(suite))
    if not page.begins_line(start):
        return _break_before(page, suite, statement, text)
    line = page.head(statement).line
    while line > 1 and _SUPPRESSION.match(page.lines[line - 2].strip()):
        line -= 1
    at = page.offset(page.head(statement)._replace(line=line, column=0))
    return [page.edit(at, at, text + "\n")]


def insert_after(page: Page, statement: Stmt, lines: Lines) -> list[Edit]:
    """Put the lines after the statement, behind the comment on its last line."""
    if page.is_elif(statement):
        raise RefusedError("nothing can be put after an `elif`")
    suite = page.suite(statement)
    text = lines(page.suite_indentation(suite))
    following = _next(suite, statement)
    if following is not None and not page.begins_line(page.offset(page.head(following))):
        return _break_before(page, suite, following, text)
    edits = _break_header(page, suite)
    line = _last_line(page, statement)
    at = page.line_end(page.offset(statement.span.end._replace(line=line, column=0)))
    return [*edits, page.edit(at, at, "\n" + text)]


def delete(page: Page, statements: Collection[Stmt]) -> list[Edit]:
    """Take statements out, with their lines and the comments behind them; an empty block gets `pass`."""
    edits: list[Edit] = []
    for suite in dict.fromkeys(page.suite(statement) for statement in statements):
        if any(page.is_elif(statement) for statement in suite.statements):
            raise RefusedError("an `elif` cannot be taken out alone")
        needs_pass = not isinstance(suite.owner, Module) and all(other in statements for other in suite.statements)
        for group in _by_line(page, suite):
            if needs_pass:
                start, end = page.offset(page.head(group[0])), page.offset(group[-1].span.end)
                edits.append(page.edit(start, end, "pass"))
                needs_pass = False
            else:
                edits += _delete_from_line(page, group, statements)
    return edits


def move(page: Page, statement: Stmt, anchor: Stmt, *, is_before: bool) -> list[Edit]:
    """Take the statement and put it after or before another, with the comments right above it and behind it."""
    if statement is anchor or (not is_before and any(statement is inner for inner in walk(anchor))):
        raise RefusedError("a statement cannot be moved behind one that holds it")
    start, end = page.offset(page.head(statement)), page.offset(statement.span.end)
    first = page.head(statement).line
    removed = delete(page, [statement])
    lines = [page.program[start:end]]
    if page.begins_line(start) and page.ends_line(end):
        indentation = page.indentation(first)
        while first > 1 and page.lines[first - 2].startswith(f"{indentation}#"):
            first -= 1
        lines = page.lines[first - 1 : statement.span.end_line]
        if first < page.head(statement).line:
            at = page.offset(Position(first, 0))
            removed.append(page.edit(at, page.offset(Position(page.head(statement).line, 0)), ""))
        # The comment behind it goes along, also where its line stays for a `pass`.
        removed = [page.edit(start, page.line_end(end), "pass") if edit.text == "pass" else edit for edit in removed]

    def written(indentation: str) -> str:
        old = page.indentation(first)
        kept = page.string_lines
        return "\n".join(
            line if number in kept or not line.strip() else indentation + line.removeprefix(old)
            for number, line in enumerate(lines, first)
        )

    insert = insert_before if is_before else insert_after
    return [*removed, *insert(page, anchor, written)]


def dedent_tail(page: Page, first: Stmt) -> list[Edit]:
    """Move the statements from this one to its block's last behind the compound that they stand in."""
    suite = page.suite(first)
    compound = _compound_that_ends_with(page, suite)
    if first is suite.statements[0]:
        raise RefusedError("the block would be left empty")
    outer = page.indentation(compound.span.line)
    inner = page.suite_indentation(suite)
    edits: list[Edit] = []
    start = page.offset(page.head(first))
    line = page.head(first).line
    if page.begins_line(start):
        while page.lines[line - 2].startswith(inner + "#"):
            line -= 1
    else:
        before = suite.statements[suite.statements.index(first) - 1]
        edits.append(page.edit(page.offset(before.span.end), start, "\n" + outer))
        line += 1
    for number in range(line, suite.statements[-1].span.end_line + 1):
        if page.lines[number - 1].startswith(inner) and number not in page.string_lines:
            at = page.offset(first.span.start._replace(line=number, column=0))
            edits.append(page.edit(at, at + len(inner), outer))
    return edits


def indented(code: str, indentation: str, unit: str) -> str:
    """The lines of code (themselves indented by four spaces a level) at an indentation, in the file's own unit."""
    lines = []
    for line in code.strip("\n").split("\n"):
        body = line.lstrip(" ")
        depth = (len(line) - len(body)) // len(_CODE_UNIT)
        lines.append(indentation + unit * depth + body if body else "")
    return "\n".join(lines)


def _by_line(page: Page, suite: Suite) -> list[list[Stmt]]:
    """The statements of a block, those that share a line in one list."""
    groups: list[list[Stmt]] = []
    for statement in suite.statements:
        if groups and not page.begins_line(page.offset(page.head(statement))):
            groups[-1].append(statement)
        else:
            groups.append([statement])
    return groups


def _delete_from_line(page: Page, group: list[Stmt], deleted: Collection[Stmt]) -> list[Edit]:
    """Take the deleted statements out of a line; the whole line goes when none is left."""
    kept = [statement for statement in group if statement not in deleted]
    start, end = page.offset(page.head(group[0])), page.offset(group[-1].span.end)
    if not kept:
        semicolon = next((at for at, mark in page.marks(end, page.line_end(end)) if mark == ";"), end)
        return [_whole_lines(page, start, semicolon)]
    edits: list[Edit] = []
    if kept[0] is not group[0]:
        edits.append(page.edit(start, page.offset(kept[0].span.start), ""))
    for left, right in pairwise(kept):
        if group.index(right) - group.index(left) > 1:
            first_gone = group[group.index(left) + 1]
            edits.append(page.edit(page.offset(first_gone.span.start), page.offset(right.span.start), ""))
    if kept[-1] is not group[-1]:
        edits.append(page.edit(page.offset(kept[-1].span.end), end, ""))
    return edits


def _next(suite: Suite, statement: Stmt) -> Stmt | None:
    at = suite.statements.index(statement) + 1
    return suite.statements[at] if at < len(suite.statements) else None


def _break_header(page: Page, suite: Suite) -> list[Edit]:
    """Put the first statement of a one-line block on a line of its own."""
    if not page.is_one_line(suite):
        return []
    return _break_before(page, suite, suite.statements[0], "")


def _break_before(page: Page, suite: Suite, statement: Stmt, text: str) -> list[Edit]:
    """Break the line before a statement that does not begin one, with lines of text between."""
    indentation = page.suite_indentation(suite)
    start = page.offset(page.head(statement))
    at = suite.statements.index(statement)
    edits: list[Edit] = []
    if at:
        edits += _break_header(page, suite)
        gap = page.offset(suite.statements[at - 1].span.end)
    else:
        gap = len(page.program[:start].rstrip(" \t\f\\\n"))
    return [*edits, page.edit(gap, start, ("\n" + text if text else "") + "\n" + indentation)]


def _last_line(page: Page, statement: Stmt) -> int:
    """The line after which the statement is over: deeper comments below a compound belong to it."""
    line = statement.span.end_line
    if not hasattr(statement, "body"):
        return line
    indentation = page.indentation(statement.span.line)
    last = line
    for number in range(line + 1, len(page.lines) + 1):
        text = page.lines[number - 1].strip()
        if text.startswith("#") and len(page.indentation(number)) > len(indentation):
            last = number
        elif text:
            break
    return last


def _whole_lines(page: Page, start: int, end: int) -> Edit:
    """An edit that removes the lines from the one of start to the one of end, with the comment on the last."""
    line = page.position(start).line
    begin = page.offset(page.position(start)._replace(line=line, column=0))
    stop = page.line_end(end)
    if stop < len(page.program):
        return page.edit(begin, stop + 1, "")
    return page.edit(max(begin - 1, 0), stop, "")


def _compound_that_ends_with(page: Page, suite: Suite) -> Node:
    """The compound statement whose last block this is, so that what leaves the block runs right after it."""
    compound = suite.owner
    if not isinstance(compound, If | For | While | With):
        raise RefusedError("the statements cannot be moved out of this block")
    is_last = suite.field == "orelse" or not getattr(compound, "orelse", ())
    if not is_last:
        raise RefusedError("another block stands between these statements and the place behind the compound")
    while isinstance(compound, If) and page.is_elif(compound):
        parent = page.parent(compound)
        assert parent is not None
        compound = parent
    return compound
