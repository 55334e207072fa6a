"""What Python and torch say of a fixed program: whether it compiles, its names are bound, its calls fit."""

import ast
import builtins
import importlib
import inspect
import io
import re
import symtable
import tokenize
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType

_KNOWN = {*dir(builtins), "__file__", "__name__", "__path__", "__doc__", "__spec__"}
_AMP = re.compile(r"torch\.(amp|cuda\.amp|cpu\.amp)\.\w+|torch\.(autocast|GradScaler)")


def compiles(program: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(program, "<fixture>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError:
            return False
    return True


def unbound_names(program: str) -> set[str]:
    """The names that some scope takes from the module, and that neither the module nor Python binds."""
    if re.search(r"^\s*from [\w.]+ import \*", program, re.MULTILINE):
        return set()
    top = symtable.symtable(program, "<fixture>", "exec")
    bound = {name.get_name() for name in top.get_symbols() if name.is_assigned() or name.is_imported()}
    used: set[str] = set()
    tables = [top]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for name in table.get_symbols():
            if name.is_global() and name.is_assigned():
                bound.add(name.get_name())
            if name.is_referenced() and (table is top or name.is_global()):
                used.add(name.get_name())
    return used - bound - _KNOWN


def late_imports(program: str) -> set[str]:
    """Names that module-level code uses above their only import."""
    tree = ast.parse(program)
    imported: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                imported.setdefault(alias.asname or alias.name.partition(".")[0], node.lineno)
    others = {name.id for name in ast.walk(tree) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    found = set()
    for statement in tree.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            continue
        for name in ast.walk(statement):
            is_late = isinstance(name, ast.Name) and name.lineno < imported.get(name.id, 0)
            if is_late and name.id not in others:
                found.add(name.id)
    return found


def comments(program: str) -> Counter[str]:
    """The comments, by a scanner that Python brings."""
    return Counter(comment.text for comment in _placed_comments(program))


def lost_comments(before: str, after: str) -> Counter[str]:
    """The comments that should be there after a fix, and are not.

    A comment behind a deleted statement, or between its brackets, goes with it; one on a line of its own stays.
    """
    old, new = _placed_comments(before), _placed_comments(after)
    gone = Counter(comment.code for comment in old) - Counter(comment.code for comment in new)
    lost = Counter(comment.text for comment in old) - Counter(comment.text for comment in new)
    excused = Counter(comment.text for comment in old if comment.code and gone[comment.code])
    return lost - excused


@dataclass(frozen=True)
class _PlacedComment:
    """A comment with the code of the logical line that it belongs to; none for one on a line of its own."""

    text: str
    code: str


def _placed_comments(program: str) -> list[_PlacedComment]:
    found: list[_PlacedComment] = []
    waiting: list[str] = []
    code: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(program, newline=None).readline):
        if token.type == tokenize.COMMENT and not code:
            found.append(_PlacedComment(token.string, ""))
        elif token.type == tokenize.COMMENT:
            waiting.append(token.string)
        elif token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
            found += [_PlacedComment(comment, " ".join(code)) for comment in waiting]
            waiting, code = [], []
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            code.append(token.string)
    return found


def misfits(program: str, torch: ModuleType) -> Counter[str]:
    """The calls of AMP names that do not bind to the signature that the installed torch has for them."""
    found: Counter[str] = Counter()
    tree = ast.parse(program)
    imported = dict.fromkeys(_imports(tree))
    several = Counter(name for name, _ in imported)
    # What a name means that several scopes import is not for this oracle.
    names = {name: dotted for name, dotted in imported if several[name] == 1}
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        dotted = _dotted(call.func, names)
        if dotted is None or not _AMP.fullmatch(dotted):
            continue
        if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
            k.arg is None for k in call.keywords
        ):
            continue
        callee = _resolve(dotted, torch)
        if callee is None:
            found[f"{dotted} does not exist"] += 1
            continue
        try:
            bound = inspect.signature(callee).bind(*call.args, **{str(k.arg): k.value for k in call.keywords})
        except TypeError as error:
            found[f"{dotted}: {error}"] += 1
        else:
            found.update(_odd(dotted, bound))
    return found


def _odd(dotted: str, bound: inspect.BoundArguments) -> Iterator[str]:
    """Values that bind and yet land in a parameter that cannot mean them."""
    for name, value in bound.arguments.items():
        constant = value.value if isinstance(value, ast.Constant) else ...
        is_device = name in ("device", "device_type")
        if is_device and isinstance(constant, bool | int | float):
            yield f"{dotted}: {name} is {constant!r}"
        if name in ("dtype", "init_scale") and isinstance(constant, bool | str):
            yield f"{dotted}: {name} is {constant!r}"
        if name == "enabled" and isinstance(constant, str):
            yield f"{dotted}: {name} is {constant!r}"


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                yield alias.asname or top, alias.name if alias.asname else top
        elif isinstance(node, ast.ImportFrom) and not node.level:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def _dotted(node: ast.expr, names: dict[str, str]) -> str | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in names:
        return None
    return ".".join([names[node.id], *reversed(parts)])


def _resolve(dotted: str, torch: ModuleType) -> object:
    value: object = torch
    for part in dotted.split(".")[1:]:
        value = getattr(value, part, None)
        if value is None:
            return None
    return value


def installed_torch() -> ModuleType | None:
    """The torch of this environment, where there is one."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        return None
