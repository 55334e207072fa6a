"""What is said of a fault of amplint's own, and whether it is shown whole; knows no exit code."""

import os
from pathlib import Path

# Set, it has such a fault end the run with its traceback.
VARIABLE = "AMPLINT_TRACEBACK"
_PACKAGE = Path(__file__).parent.parent
# What a fault says of itself may hold a whole tree.
_LONGEST = 200


def is_traced() -> bool:
    """Whether the user wants to see tracebacks."""
    return bool(os.environ.get(VARIABLE))


def told(error: Exception) -> str:
    """A line about a fault, with the place in amplint where it happened."""
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    import traceback  # which a run without faults need not load

    text = str(error)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if Path(frame.filename).is_relative_to(_PACKAGE)]
    where = f" ({Path(own[-1].filename).relative_to(_PACKAGE).as_posix()}, line {own[-1].lineno})" if own else ""
    return f"internal fault: {type(error).__name__}: {text}{where}"
