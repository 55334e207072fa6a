"""Fixtures changed at random: statements gone, twice, moved, nested, with comments wherever they may stand."""

import ast
import random
import textwrap
from functools import cache

from tests.fixture_cases import cases
from tests.fixture_oracle import compiles

_COMMENTS = ("# note", "# noqa", "# amplint: ignore[AMP206]", "# é✓", "# type: ignore[x]", "#", "# fmt: skip")
_WRAPS = ("if use_amp:", "for _ in range(2):", "with torch.no_grad():", "if True:", "while more():", "try:")
_LONGEST = 60


class Mutator:
    """Draws changed fixtures from a source of chance; lines end with a line feed."""

    def __init__(self, pick: random.Random) -> None:
        self._pick = pick

    def draw(self) -> str:
        """A fixture after one to three changes; it compiles."""
        pick = self._pick
        while True:
            text = pick.choice(_programs())
            for _ in range(pick.randint(1, 3)):
                text = self._changed(text)
            if compiles(text):
                return text

    def _changed(self, text: str) -> str:
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return text
        spans = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        if not spans:
            return text
        pick, lines = self._pick, text.splitlines(keepends=True)
        (start, end), (other, _) = pick.choice(spans), pick.choice(spans)
        change = pick.choice((self._gone, self._twice, self._moved, self._nested, self._noted, self._noted, self._torn))
        return "".join(change(lines, start, end, other))

    def _gone(self, lines: list[str], start: int, end: int, _: int) -> list[str]:
        return lines[:start] + lines[end:]

    def _twice(self, lines: list[str], start: int, end: int, _: int) -> list[str]:
        return lines[:end] + lines[start:end] + lines[end:]

    def _moved(self, lines: list[str], start: int, end: int, other: int) -> list[str]:
        """A copy of a statement above another one, with the indentation of that."""
        indent = lines[other][: len(lines[other]) - len(lines[other].lstrip())]
        copy = textwrap.indent(textwrap.dedent("".join(lines[start:end])), indent)
        return [*lines[:other], copy if copy.endswith("\n") else f"{copy}\n", *lines[other:]]

    def _nested(self, lines: list[str], start: int, end: int, _: int) -> list[str]:
        indent = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
        opener = self._pick.choice(_WRAPS)
        tail = [f"{indent}finally:\n", f"{indent}    pass\n"] if opener == "try:" else []
        inside = [f"    {line}" if line.strip() else line for line in lines[start:end]]
        return [*lines[:start], f"{indent}{opener}\n", *inside, *tail, *lines[end:]]

    def _noted(self, lines: list[str], start: int, end: int, _: int) -> list[str]:
        """A comment above a statement, at any indentation, or behind its last line."""
        pick, comment = self._pick, self._pick.choice(_COMMENTS)
        if pick.random() < 0.5:
            indent = pick.choice((lines[start][: len(lines[start]) - len(lines[start].lstrip())], "", "  "))
            above = [f"{indent}{comment}\n", *(["\n"] if pick.random() < 0.3 else [])]
            return [*lines[:start], *above, *lines[start:]]
        return [*lines[: end - 1], lines[end - 1].rstrip("\n") + f"  {comment}\n", *lines[end:]]

    def _torn(self, lines: list[str], start: int, end: int, _: int) -> list[str]:
        """Calls over several lines, or two statements on one."""
        text = "".join(lines[start:end])
        if end - start == 1 and "(" in text and self._pick.random() < 0.6:
            first, _, rest = text.partition("(")
            return [*lines[:start], f"{first}(\n", f"        {rest}", *lines[end:]]
        joined = text.rstrip("\n") + "; " + (lines[end].lstrip() if end < len(lines) else "pass\n")
        return [*lines[:start], joined, *lines[end + 1 :]]


def _span(node: ast.stmt) -> tuple[int, int]:
    decorators = getattr(node, "decorator_list", [])
    return min(each.lineno for each in (node, *decorators)) - 1, node.end_lineno or node.lineno


@cache
def _programs() -> tuple[str, ...]:
    """The programs of all fixtures of one file that are short enough to be tried by the thousand."""
    found = [text for case in cases() if case.path.suffix == ".py" for text in _text(case.files[case.path.name])]
    return tuple(found)


def _text(raw: bytes) -> list[str]:
    try:
        text = raw.decode().removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        return []
    return [text if text.endswith("\n") else f"{text}\n"] if text.count("\n") <= _LONGEST and compiles(text) else []
