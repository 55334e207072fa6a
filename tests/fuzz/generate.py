"""Programs reproducible from a seed, as files: drawn ones and changed fixtures, in the odd ways that text is stored."""

import json
import random
import re
from dataclasses import dataclass

from tests.fuzz.draw import Drawer
from tests.fuzz.mutate import Mutator

_HEADER = re.compile(r"^# (amplint: settings|runnable).*\n", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A file that nobody wrote: its name tells what it is."""

    name: str
    raw: bytes


class Programs:
    """Draws programs; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._random = random.Random(seed)
        self._count = 0

    def draw(self) -> Program:
        """One program as a file; the number in its name can be told to `--seed` to draw it again."""
        pick = self._random = random.Random(f"{self._seed}/{self._count}")
        name = f"p{self._seed}_{self._count}"
        self._count += 1
        kind = pick.random()
        if kind < 0.48:
            text = _HEADER.sub("", Mutator(pick).draw())
        else:
            text = Drawer(pick).small() if kind < 0.98 else Drawer(pick).large()
        if pick.random() < 0.04:
            return Program(f"{name}.ipynb", self._notebook(text))
        return Program(f"{name}.py", self._stored(text))

    def skip(self, number: int) -> None:
        """Leave out so many programs."""
        self._count += number

    def _notebook(self, text: str) -> bytes:
        """The text in cells that end where a top-level statement begins."""
        pick = self._random
        cells: list[list[str]] = [[]]
        for line in text.splitlines(keepends=True):
            if cells[-1] and line[:1].isalpha() and not line.startswith(("else", "elif", "except", "finally")):
                cells += [[]] if pick.random() < 0.3 else []
            cells[-1].append(line)
        sources = [["%matplotlib inline\n", "!ls\n"], *cells] if pick.random() < 0.3 else cells
        made = [
            {
                "cell_type": "code",
                "execution_count": None,
                "metadata": {},
                "outputs": [],
                "source": _source(pick, lines),
            }
            for lines in sources
        ]
        made.insert(0, {"cell_type": "markdown", "metadata": {}, "source": ["# scaler\n", "torch.amp"]})
        whole = {"cells": made, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
        indent = pick.choice((None, 1, 2))
        return (json.dumps(whole, indent=indent, ensure_ascii=pick.random() < 0.5) + pick.choice(("", "\n"))).encode()

    def _stored(self, text: str) -> bytes:
        pick = self._random
        if pick.random() < 0.15:
            text = text.replace("\n", "\r\n")
        elif pick.random() < 0.05:
            text = "".join(line + pick.choice(("\n", "\r\n")) for line in text.split("\n"))
        elif pick.random() < 0.02:
            text = text.replace("\n", "\r")
        if pick.random() < 0.05:
            text = text.replace("    ", "\t")
        if pick.random() < 0.05:
            text = text.replace("\n\n", "\n\f\n")
        if pick.random() < 0.1:
            text = text.rstrip()
        if pick.random() < 0.05 and not text.startswith("#!"):
            return ("# coding: latin-1\n" + text).encode("latin-1", "replace")
        return (b"\xef\xbb\xbf" if pick.random() < 0.05 else b"") + text.encode()


def _source(pick: random.Random, lines: list[str]) -> list[str] | str:
    """A cell's source as notebooks hold it: lines or one text, mostly without a newline at its end."""
    text = "".join(lines)
    text = text.rstrip("\n") if pick.random() < 0.8 else text
    return text if pick.random() < 0.2 else text.splitlines(keepends=True)
