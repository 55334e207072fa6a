"""The pictures of the documentation: the states of gradients from the protocol's rows, a flow graph of the example.

Decides where states stand; everything else comes from the code.
"""

import os
import re
import subprocess
import sys
from collections import defaultdict
from io import StringIO
from pathlib import Path

from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text

from amplint.flow.draw import mermaid
from amplint.flow.statements import build
from amplint.knowledge.protocol import GRADIENTS, EventKind, Gradients
from amplint.model.tree import FunctionDef
from amplint.syntax.lower import lower
from docs import flow_picture
from docs.drawing import Arrow, Box, bowed, svg

FOLDER = Path(__file__).parent / "pictures"
WIDTH = 100
# Rich's own window without the font that it would fetch from the network.
WINDOW = re.sub(r"@font-face \{\{.*?\}\}", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
PLACES: dict[Gradients, tuple[float, float]] = {
    Gradients.CLEAN: (0, 0),
    Gradients.SCALED: (260, 0),
    Gradients.UNSCALED: (560, 0),
    Gradients.SPENT: (860, 0),
    Gradients.PLAIN: (-30, 230),
    Gradients.STALE: (300, 230),
    Gradients.FORGOTTEN: (640, 230),
    Gradients.MIXED: (300, 430),
}
WRONG = {Gradients.PLAIN, Gradients.STALE, Gradients.FORGOTTEN, Gradients.MIXED}
BOWS = {
    (Gradients.SCALED, Gradients.SPENT): 75,
    (Gradients.SPENT, Gradients.CLEAN): 130,
    (Gradients.PLAIN, Gradients.SPENT): 40,
    (Gradients.UNSCALED, Gradients.MIXED): 30,
    (Gradients.MIXED, Gradients.SPENT): -150,
    (Gradients.SCALED, Gradients.MIXED): -85,
}


def pages() -> dict[Path, str]:
    """Every picture."""
    return {FOLDER / "gradients.svg": states(), FOLDER / "flow.svg": flow(), FOLDER / "terminal.svg": terminal()}


def terminal() -> str:
    """What a terminal shows for the clip in the example's training loop."""
    command = ["amplint", "--select", "AMP201", "--quiet", "docs/examples/"]
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=FOLDER.parent.parent,
        env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(WIDTH)},
        capture_output=True,
        text=True,
    )
    console = Console(record=True, width=WIDTH, file=StringIO(), force_terminal=True)
    console.print(f"$ {' '.join(command)}", highlight=False)
    console.print(Text.from_ansi(done.stdout))
    return console.export_svg(title="amplint", code_format=WINDOW, unique_id="terminal")


def flow() -> str:
    """The flow graph of the example's training loop."""
    program = (FOLDER.parent / "examples" / "engine.py").read_text(encoding="utf-8")
    function = next(node for node in lower(program).body if isinstance(node, FunctionDef))
    return flow_picture.picture(mermaid(build(function), program), f"The flow graph of {function.name}")


def states() -> str:
    """The states of an optimizer's gradients. What is reported in a state stands in its box; red ways are mistakes.

    Left out, for they are everywhere: what happens to unknown gradients, zeroing of what was not used, and a backward
    onto spent gradients, which do as clean ones do.
    """
    reported: dict[Gradients, list[str]] = defaultdict(list)
    ways: dict[tuple[Gradients, Gradients, bool], list[str]] = defaultdict(list)
    for (event, before), move in GRADIENTS.items():
        if before not in PLACES:
            continue
        if move.error is not None:
            reported[before].append(event.value)
        elif move.gradients in PLACES and not _is_everywhere(event, before):
            is_wrong = move.cause is not None or move.gradients in WRONG
            ways[before, move.gradients, is_wrong].append(event.value)
    boxes = {state: _box(state, reported[state]) for state in PLACES}
    arrows = [_arrow(boxes, before, after, is_wrong, texts) for (before, after, is_wrong), texts in ways.items()]
    return svg(list(boxes.values()), arrows, "What becomes of an optimizer's gradients")


def _is_everywhere(event: EventKind, before: Gradients) -> bool:
    if event is EventKind.ZERO:
        return before is not Gradients.SPENT
    return event is EventKind.FORGET or (before is Gradients.SPENT and "backward" in event.value)


def _box(state: Gradients, reported: list[str]) -> Box:
    lines = [state.value, *(f"✗ {event}" for event in reported)]
    return Box(*PLACES[state], tuple(lines), "bad" if state in WRONG else "box")


def _arrow(boxes: dict[Gradients, Box], before: Gradients, after: Gradients, is_wrong: bool, label: list[str]) -> Arrow:
    start, end = boxes[before], boxes[after]
    bend = bowed(start, end, BOWS.get((before, after), 0))
    return Arrow(start, end, bend, tuple(label), "wrong" if is_wrong else "")
