"""amplint inside flake8, one file at a time; selecting, `# noqa` and per-file-ignores are flake8's.

Imports nothing more until a file's text can concern AMP, so that other trees pay next to nothing.
"""

import ast
import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from amplint import __version__
from amplint.source.prefilter import may_concern

if TYPE_CHECKING:
    from flake8.options.manager import OptionManager


class Plugin:
    """The checker of one file, as flake8 makes it."""

    name = "amplint"
    version = __version__
    _selected: tuple[str, ...] = ()
    _target: str | None = None

    def __init__(self, tree: ast.AST, filename: str, lines: Sequence[str]) -> None:
        self._filename = filename
        self._lines = lines

    @classmethod
    def add_options(cls, manager: "OptionManager") -> None:
        """Declare the options that amplint has under flake8."""
        text = "The lowest torch that the code must run on, instead of what amplint's configuration says."
        manager.add_option("--amplint-target-torch", default=None, parse_from_config=True, help=text)

    @classmethod
    def parse_options(cls, options: Any) -> None:
        """Keep what flake8 selects: rules that are not on by default have to be named there."""
        cls._selected = (*(options.select or ()), *(options.extend_select or ()))
        cls._target = options.amplint_target_torch

    def run(self) -> Iterator[tuple[int, int, str, type]]:
        """Line, column, text and origin of every finding."""
        program = "".join(self._lines)
        if not may_concern(program.encode("utf-8", "surrogatepass")):
            return
        from amplint.engine.alone import check_alone

        path = "stdin.py" if self._filename in ("-", "stdin") else os.path.normpath(self._filename)
        for finding in check_alone(path, program, self._selected, self._target):
            yield finding.span.line, finding.span.column, f"{finding.code} {finding.message}", Plugin
