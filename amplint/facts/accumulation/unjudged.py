"""What a module holds that was not judged, because there was too much of it; judges nothing itself."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.accumulation.groups import is_beyond
from amplint.model.tree import FunctionDef

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def unjudged(facts: "Facts") -> Iterator[str]:
    """A sentence for each function that rules asked about and got no answer. Nothing new is worked out for it."""
    if "protocol" not in vars(facts):
        return
    for reading in facts.protocol:
        function = reading.root.function
        where = "the code outside of functions"
        if isinstance(function, FunctionDef):
            where = f"`{function.name}` in line {function.span.line}"
        if reading.is_given_up:
            yield f"{where} has too many paths to follow them all: mistakes in the order of its steps may be missed"
        elif is_beyond(reading):
            yield f"{where} has too many backward passes and steps: mistakes in their accumulation may be missed"
