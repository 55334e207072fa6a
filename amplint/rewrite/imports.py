"""Import statements: moving names of a `from` import to another module, and adding an import to the program's head.

Knows nothing of which names a program needs.
"""

import re
from collections.abc import Collection, Sequence

from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.tree import Alias, Constant, ExprStmt, If, Import, ImportFrom, Stmt, Try
from amplint.model.walks import children
from amplint.rewrite import statements
from amplint.rewrite.listing import Listing, listing
from amplint.rewrite.page import Page, RefusedError

_FROM = re.compile(r"from[\s\\]+([\w.]+)[\s\\]+import\b")


class Move(Value):
    """An alias of a `from` import, and the module and name that it shall be imported from."""

    alias: Alias
    module: str
    name: str

    @property
    def text(self) -> str:
        """The alias as the new import writes it; the name that the program knows stays."""
        known_as = self.alias.asname or self.alias.name
        return self.name if self.name == known_as else f"{self.name} as {known_as}"


def import_of(page: Page, alias: Alias) -> ImportFrom:
    """The `from` import that holds the alias."""
    statement = page.parent(alias)
    if not isinstance(statement, ImportFrom) or statement.level or alias.name == "*":
        raise RefusedError("only a name of an absolute `from … import` can be moved")
    return statement


def move(page: Page, statement: ImportFrom, moves: Sequence[Move]) -> list[Edit]:
    """Import some names of the statement from elsewhere; names that stay, stay where they are."""
    groups: dict[str, list[Move]] = {}
    for each in moves:
        groups.setdefault(each.module, []).append(each)
    stays = len(moves) < len(statement.names)
    edits: list[Edit] = []
    has_comment = "#" in page.program[slice(*_extent(page, statement))]
    for module in list(groups):
        other = None if has_comment and not stays else _existing(page, statement, module)
        if other is not None:
            edits += _merge(page, other, groups.pop(module))
    if not stays and not groups:
        return edits + statements.delete(page, [statement])
    if not stays:
        module = next(iter(groups))
        edits += _in_place(page, statement, groups.pop(module))
    else:
        edits += _names(page, statement).revised({statement.names.index(m.alias) for m in moves}, [], [])
    lines = [f"from {module} import {', '.join(m.text for m in group)}" for module, group in groups.items()]
    return edits + (
        statements.insert_before(page, statement, statements.code_lines(page, "\n".join(lines))) if lines else []
    )


def add(page: Page, line: str, before: int, avoided: Collection[Stmt]) -> list[Edit]:
    """Add an import statement to the head of the program, above the offset where it is needed first.

    avoided are statements that the same fix takes out or rewrites as a whole.
    """
    anchor: Stmt | None = None
    body = page.module.body
    for index, statement in enumerate(body):
        if page.offset(statement.span.end) > before:
            break
        if isinstance(statement, Import | ImportFrom) or (index == 0 and _is_docstring(statement)):
            anchor = anchor if statement in avoided else statement
        elif not _is_guarded_import(statement):
            break
    if anchor is not None:
        return statements.insert_after(page, anchor, statements.code_lines(page, line))
    if not body or body[0] in avoided:
        raise RefusedError("no place for an import was found")
    return statements.insert_before(page, body[0], statements.code_lines(page, line))


def _in_place(page: Page, statement: ImportFrom, group: Sequence[Move]) -> list[Edit]:
    """Turn the statement into an import of these moves alone."""
    gone = {i for i, alias in enumerate(statement.names) if alias not in [m.alias for m in group]}
    edits = _names(page, statement).revised(gone, [], [])
    start, end = _module_extent(page, statement)
    edits.append(page.edit(start, end, group[0].module))
    for each in group:
        if each.name != each.alias.name:
            edits.append(Edit(each.alias.span, each.text))
    return edits


def _existing(page: Page, statement: ImportFrom, module: str) -> ImportFrom | None:
    """An import from the module in the same block, with nothing but imports between where it comes later."""
    block = page.suite(statement).statements
    at = block.index(statement)
    later: list[Stmt] = []
    for other in block[at + 1 :]:
        if not isinstance(other, Import | ImportFrom):
            break
        later.append(other)
    for other in (*block[:at], *later):
        if not isinstance(other, ImportFrom) or other.module != module or other.level:
            continue
        if all(alias.name != "*" for alias in other.names):
            return other
    return None


def _merge(page: Page, other: ImportFrom, group: Sequence[Move]) -> list[Edit]:
    """Put the moves into an import statement that there is already."""
    known = {alias.asname or alias.name: alias.name for alias in other.names}
    texts: list[str] = []
    for each in group:
        bound = known.get(each.alias.asname or each.alias.name)
        if bound is None:
            texts.append(each.text)
        elif bound != each.name:
            raise RefusedError(f"`{each.alias.name}` is imported twice with two meanings")
    return _names(page, other).revised((), [], texts)


def _names(page: Page, statement: ImportFrom) -> Listing:
    start, _ = _extent(page, statement)
    match = _FROM.match(page.program, start)
    if match is None:
        raise RefusedError("the import statement could not be read")
    opening = match.end()
    first = page.offset(statement.names[0].span.start)
    bracket = next((at for at, mark in page.marks(opening, first) if mark == "("), None)
    closing = page.offset(statement.span.end)
    if bracket is not None:
        opening, closing = bracket + 1, page.program.rindex(")", opening, closing)
    return listing(page, statement.names, opening, closing)


def _module_extent(page: Page, statement: ImportFrom) -> tuple[int, int]:
    match = _FROM.match(page.program, page.offset(statement.span.start))
    if match is None:
        raise RefusedError("the import statement could not be read")
    return match.span(1)


def _extent(page: Page, statement: ImportFrom) -> tuple[int, int]:
    """The offsets of the statement, with the comment behind it."""
    return page.offset(statement.span.start), page.line_end(page.offset(statement.span.end))


def _is_docstring(statement: Stmt) -> bool:
    return (
        isinstance(statement, ExprStmt)
        and isinstance(statement.value, Constant)
        and isinstance(statement.value.value, str)
    )


def _is_guarded_import(statement: Stmt) -> bool:
    """Whether this is an `if` or `try` around imports, as the head of a program has them."""
    if not isinstance(statement, If | Try):
        return False
    inner = [node for node in children(statement) if isinstance(node, Import | ImportFrom)]
    return bool(inner)
