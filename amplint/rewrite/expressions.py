"""Code put in the place of an expression or a statement, with the parentheses that its new neighbours call for.

Knows nothing of what the code means.
"""

import ast
import re

from amplint.model.edit import Edit
from amplint.model.span import Span
from amplint.model.tree import (
    Argument,
    Attribute,
    Await,
    Binary,
    BoolOp,
    Call,
    Compare,
    Comprehension,
    Generator,
    IfExp,
    Lambda,
    NamedExpr,
    Node,
    Starred,
    Stmt,
    Subscript,
    Unary,
)
from amplint.rewrite.page import Page, RefusedError

_ATOMS = (
    ast.Name,
    ast.Attribute,
    ast.Call,
    ast.Subscript,
    ast.Constant,
    ast.JoinedStr,
    ast.List,
    ast.Dict,
    ast.Set,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
)
_NEEDS_BRACKETS_IN_LISTS = (ast.Tuple, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.NamedExpr, ast.Lambda)
# The brackets behind an operand that are its own.
_CLOSING = re.compile(r"(?:(?:\s|\\\n|#[^\n]*\n)*\))*")
_TIGHT = (Attribute, Await, Binary, BoolOp, Call, Compare, Generator, IfExp, Lambda, NamedExpr, Starred, Unary)


def replace(page: Page, span: Span, code: str) -> Edit:
    """An edit that puts the code in the place of the span."""
    if any(line in page.comment_lines for line in range(span.line, span.end_line)):
        raise RefusedError("a comment inside it would be lost")
    start, end = page.offset(span.start), page.offset(span.end)
    statement = page.find_statement(span)
    if "\n" in code and statement is not None:
        if not page.begins_line(start) or not page.ends_line(end):
            raise RefusedError("several lines cannot stand where the statement shares its line with another")
        first, *rest = code.split("\n")
        indentation = page.indentation(span.line)
        return Edit(span, "\n".join([first, *(indentation + line if line else "" for line in rest)]))
    node = page.find_expression(span)
    if node is not None and _needs_brackets(page, node, code, start, end):
        return Edit(span, f"({code})")
    return Edit(span, code)


def keep_left(page: Page, span: Span, left: Span) -> Edit:
    """An edit that takes an operator away with its right operand."""
    start, end = page.offset(left.end), page.offset(span.end)
    closing = _CLOSING.match(page.program, start, end)
    start = closing.end() if closing is not None else start
    if "#" in page.program[start:end]:
        raise RefusedError("a comment behind it would be lost")
    return page.edit(start, end, "")


def wrap(page: Page, span: Span, before: str, after: str) -> list[Edit]:
    """Edits that put code around an expression, with the parentheses that it and its neighbours call for."""
    node = page.find_expression(span)
    if node is None:
        raise RefusedError(f"there is no expression at line {span.line}")
    start, end = page.offset(span.start), page.offset(span.end)
    parent = page.parent(node)
    if before.endswith("(") and after == ")" and parent is not None and _is_bracketed(page, start, end, parent):
        opening = page.program.rindex("(", 0, start)
        return [page.edit(opening, opening, before[:-1])]
    if _needs_brackets(page, node, f"{before}x{after}", start, end):
        before, after = f"({before}", f"{after})"
    is_enclosed = before.endswith(("(", ", ")) and after.startswith((")", ","))
    if not is_enclosed and not _is_atom(page.text(span)):
        before, after = f"{before}(", f"){after}"
    return [page.edit(start, start, before), page.edit(end, end, after)]


def _is_atom(text: str) -> bool:
    """Whether an expression holds together beside any operator."""
    new = _parsed(text)
    is_bracketed = text.startswith("(") and new.end_col_offset == len(text)
    return isinstance(new, _ATOMS) or new.col_offset > 0 or is_bracketed


def _parsed(code: str) -> ast.expr:
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        raise RefusedError("the new code is not an expression") from None


def _needs_brackets(page: Page, node: Node, code: str, start: int, end: int) -> bool:
    parent = page.parent(node)
    if parent is None or isinstance(parent, Stmt):
        return False
    new = _parsed(code)
    if _is_atom(code):
        return False
    if _is_bracketed(page, start, end, parent):
        return False
    if isinstance(parent, Subscript):
        return node is parent.value
    return isinstance(parent, _TIGHT) or isinstance(new, _NEEDS_BRACKETS_IN_LISTS)


def _is_bracketed(page: Page, start: int, end: int, parent: Node) -> bool:
    """Whether the expression stands in parentheses of its own."""
    if isinstance(parent, Argument | Call | Comprehension):
        return False
    before, after = page.program[:start].rstrip(), page.program[end:].lstrip()
    return before.endswith("(") and after.startswith(")")
