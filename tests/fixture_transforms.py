"""Other ways to write the same program: none may change what is found, and bytes not even how it is fixed."""

import ast
import io
import re
import tokenize
from collections.abc import Callable
from itertools import pairwise

Bytes = Callable[[bytes], bytes]


class UnfitError(Exception):
    """The transform does not apply to this program."""


def crlf(raw: bytes) -> bytes:
    return raw.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")


def byte_order_mark(raw: bytes) -> bytes:
    return b"\xef\xbb\xbf" + raw


def no_final_newline(raw: bytes) -> bytes:
    return raw.rstrip(b"\n")


def latin_1(raw: bytes) -> bytes:
    try:
        return b"# -*- coding: latin-1 -*-\n# \xe9\n" + raw.decode().encode("latin-1")
    except UnicodeEncodeError as error:
        raise UnfitError from error


def form_feeds(raw: bytes) -> bytes:
    return re.sub(rb"^(?=(def|class) )", b"\f\n", raw, flags=re.MULTILINE)


def tabs(raw: bytes) -> bytes:
    return re.sub(rb"^(?:    )+", lambda match: b"\t" * (len(match[0]) // 4), raw, flags=re.MULTILINE)


BYTES: dict[str, Bytes] = {
    transform.__name__: transform for transform in (crlf, byte_order_mark, no_final_newline, latin_1, form_feeds, tabs)
}


def spaced(program: str) -> tuple[str, Callable[[int], int]]:
    """A blank line and a comment behind every statement; and where each line went."""
    ends = {token.start[0] for token in _tokens(program) if token.type == tokenize.NEWLINE}
    if program.count("\\\n"):
        raise UnfitError
    new: list[str] = []
    places: dict[int, int] = {}
    for number, line in enumerate(program.split("\n"), 1):
        new.append(line)
        places[number] = len(new)
        if number in ends:
            indentation = line[: len(line) - len(line.lstrip())]
            new += ["", f"{indentation}# filler"]
    return "\n".join(new), lambda line: places[line]


def in_if_true(program: str) -> tuple[str, Callable[[int], int]]:
    """The whole program inside `if True:`."""
    inside: set[int] = set()
    for token in _tokens(program):
        if token.type == tokenize.STRING:
            inside.update(range(token.start[0] + 1, token.end[0] + 1))
    if "__future__" in program or inside:
        raise UnfitError
    lines = ["    " + line if line.strip() else line for line in program.split("\n")]
    return "\n".join(["if True:", *lines]), lambda line: line + 1


def renamed(program: str) -> tuple[str, Callable[[int], int]]:
    """Other names for local variables and parameters that no keyword argument and no other file can mean."""
    tree = ast.parse(program)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    chosen = {
        node.id
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    taken = {alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.alias) for alias in [n]}
    taken |= {keyword.arg for n in ast.walk(tree) if isinstance(n, ast.Call) for keyword in n.keywords if keyword.arg}
    taken |= {a.arg for function in functions for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    taken |= {name for n in ast.walk(tree) if isinstance(n, ast.Global | ast.Nonlocal) for name in n.names}
    taken |= {n.id for s in tree.body for n in ast.walk(s) if isinstance(n, ast.Name) and not _in(n, functions)}
    taken |= {part for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for part in (n.module or "").split(".")}
    chosen -= taken | {f.name for f in functions}
    if not chosen:
        raise UnfitError
    tokens = list(_tokens(program))
    lines = program.split("\n")
    for before, token in reversed(list(pairwise(tokens))):
        if token.type == tokenize.NAME and token.string in chosen and before.string != ".":
            row, column = token.start
            line = lines[row - 1]
            lines[row - 1] = f"{line[:column]}{token.string}_q{line[token.end[1] :]}"
    return "\n".join(lines), lambda line: line


def _in(node: ast.AST, functions: list[ast.FunctionDef | ast.AsyncFunctionDef]) -> bool:
    return any(f.lineno <= node.lineno <= (f.end_lineno or 0) for f in functions)  # type: ignore[attr-defined]


def _tokens(program: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(program).readline))


LINES = {"spaced": spaced, "in_if_true": in_if_true, "renamed": renamed}


class _WithoutArguments(ast.NodeTransformer):
    """Calls whose arguments are not typed yet."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        return ast.Call(node.func, [], [])


class _WithoutTheLast(ast.NodeTransformer):
    """Calls and displays that lack their last part."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        return ast.Call(node.func, node.args if node.keywords else node.args[:-1], node.keywords[:-1])

    def visit_Tuple(self, node: ast.Tuple) -> ast.Tuple:
        self.generic_visit(node)
        return node if isinstance(node.ctx, ast.Store) else ast.Tuple(node.elts[:-1], node.ctx)

    def visit_List(self, node: ast.List) -> ast.List:
        self.generic_visit(node)
        return node if isinstance(node.ctx, ast.Store) else ast.List(node.elts[:-1], node.ctx)


class _WithoutValues(ast.NodeTransformer):
    """Functions that lack their last parameter and return nothing."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        node.args, node.defaults = node.args[:-1], []
        return node

    def visit_Return(self, node: ast.Return) -> ast.Return:
        return ast.Return(None)


HALF_WRITTEN = {
    "without arguments": _WithoutArguments,
    "without the last": _WithoutTheLast,
    "without values": _WithoutValues,
}
