"""How `${torch.amp.autocast}` in the code of a repair is written at one place of a program.

Knows nothing of scopes: what is bound where is asked of a Speller.
"""

import re
from typing import Protocol

from msgspec import Struct, field

from amplint.model.span import Span
from amplint.rewrite.page import RefusedError

_STRING = re.compile(r'"([^"\\\n]*)"')
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][\w.]*)\}")

# `import torch` makes these packages attributes of it; of the others it is not certain in every version.
_LOADED = frozenset(
    {"torch", "torch.amp", "torch.autograd", "torch.cpu", "torch.cpu.amp", "torch.cuda", "torch.cuda.amp", "torch.nn"}
    | {"torch.nn.functional", "torch.nn.utils", "torch.optim", "torch.backends", "torch.backends.cuda"}
)


def is_loaded(module: str) -> bool:
    """Whether a dotted module can be reached by attributes once its root is imported."""
    return "." not in module or module in _LOADED


class Speller(Protocol):
    """What the names of a program mean at a place."""

    def spell(self, dotted: str, at: Span) -> str | None:
        """The dotted name through a binding that is certainly there when the place is reached, or None."""

    def is_free(self, name: str, at: Span) -> bool:
        """Whether a new module-level binding of the name would be seen at the place and hide nothing."""


class Spelling(Struct):
    """Writes names for one fix and collects the imports that it needs, each with the first place that needs it.

    quote is the one that string literals of the program have.
    """

    speller: Speller
    quote: str = '"'
    imports: dict[str, Span] = field(default_factory=dict)

    def spelled(self, code: str, at: Span) -> str:
        """The code with every placeholder, and its quotes, written as the program writes them at the place."""
        if self.quote == "'" and "'" not in code:
            code = _STRING.sub(r"'\1'", code)
        return _PLACEHOLDER.sub(lambda match: self._name(match[1], at), code)

    def _name(self, dotted: str, at: Span) -> str:
        known = self.speller.spell(dotted, at)
        if known is not None:
            return known
        module, _, name = dotted.rpartition(".")
        root = dotted.partition(".")[0]
        if is_loaded(module or root) and self.speller.is_free(root, at):
            self._need(f"import {root}", at)
            return dotted
        if module and self.speller.is_free(name, at):
            self._need(f"from {module} import {name}", at)
            return name
        raise RefusedError(f"`{dotted}` cannot be named at line {at.line}: its names mean something else there")

    def _need(self, line: str, at: Span) -> None:
        first = self.imports.get(line)
        self.imports[line] = at if first is None else min(first, at)
