"""Calls put before statements of a program, which say that the statement is reached; knows nothing of why one asks."""

import ast
import builtins
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import CodeType

_PROBE = "__amplint_reached__"


class Probes:
    """Puts a call before statements, and remembers which of the calls were made."""

    def __init__(self, lines: Mapping[str, Iterable[int]]) -> None:
        self._lines = {path: set(numbers) for path, numbers in lines.items()}
        self.reached: dict[str, set[int]] = {}

    def compile(self, path: str, real_path: str, text: str | None) -> CodeType | None:
        """The code of a file with its probes, or None where none is wanted in it."""
        wanted = self._lines.get(real_path)
        if not wanted:
            return None
        tree = ast.parse(Path(real_path).read_bytes() if text is None else text, path)
        _Insert(real_path, wanted).visit(tree)
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)

    def note(self, path: str, line: int) -> None:
        """A statement is about to run."""
        self.reached.setdefault(path, set()).add(line)

    def install(self) -> None:
        """Make the call known to every module."""
        setattr(builtins, _PROBE, self.note)

    def summary(self) -> dict[str, dict[str, list[int]]]:
        """What was reached, for the end of a trace."""
        return {"reached": {path: sorted(lines) for path, lines in self.reached.items()}}


class _Insert(ast.NodeTransformer):
    def __init__(self, path: str, wanted: set[int]) -> None:
        self._path, self._wanted = path, wanted

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, [part for statement in block for part in self._probed(statement)])
        return node

    def _probed(self, statement: ast.stmt) -> list[ast.stmt]:
        header = getattr(statement, "body", None)
        last = header[0].lineno - 1 if header else statement.end_lineno or statement.lineno
        found = [line for line in range(statement.lineno, last + 1) if line in self._wanted]
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            return [statement]
        calls = [ast.parse(f"{_PROBE}({self._path!r}, {line})").body[0] for line in found]
        return [*(ast.copy_location(call, statement) for call in calls), statement]
