"""A report with everything in it that formats have to cope with."""

import json
from pathlib import Path

from amplint.model.edit import Applicability, Edit, Fix, FixKind, InsertBefore
from amplint.model.finding import Finding, Note, Problem, Severity
from amplint.model.span import Span
from amplint.report.report import Report
from amplint.source.text import source_from_bytes

PROGRAM = """\
def train(model, scaler, optimizer, loss):
    scaler.scale(loss).backward()
    clip_grad_norm_(model.parameters(), 1.0)
\tscaler.step(optimizer); print("😀 größer")
"""
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# T"]},
        {"cell_type": "code", "metadata": {}, "source": ["x = 1\n", "step()"]},
        {"cell_type": "code", "metadata": {}, "source": ["scale()"]},
    ],
    "nbformat": 4,
}
CLIP = Span(3, 4, 3, 19)
FIX = Fix(
    "insert `scaler.unscale_(optimizer)` before line 3",
    FixKind.REPAIR,
    Applicability.SAFE,
    (InsertBefore(Span(3, 4, 3, 44), "scaler.unscale_(optimizer)"),),
)
CLIPPED = Finding(
    "AMP201",
    "clip-of-scaled-gradients",
    Severity.ERROR,
    "`clip_grad_norm_` clips gradients that are still multiplied by the loss scale: 100%, <now>",
    "a,b/tr:ain.py",
    CLIP,
    Span(3, 4, 3, 44),
    (
        Note(Span(2, 4, 2, 33), "scaled here"),
        Note(CLIP, "clipped here"),
        Note(Span(4, 1, 4, 23), "unscaled only here"),
    ),
    FIX,
)
STEPPED = Finding(
    "AMP202",
    "step-without-update",
    Severity.ADVICE,
    "no update",
    "n.ipynb",
    Span(2, 0, 2, 6),
    Span(2, 0, 2, 6),
    (Note(Span(3, 0, 3, 7), "scaled here"), Note(Span(1, 0, 1, 3), "defined here", "a,b/tr:ain.py")),
    Fix("needs a choice", FixKind.REPAIR, Applicability.DISPLAY),
)
EDIT = Edit(Span(3, 4, 3, 4), "scaler.unscale_(optimizer)\n    ")


def sample(folder: Path = Path("/work place")) -> Report:
    """Two findings and a problem."""
    return Report(
        findings=[CLIPPED, STEPPED],
        problems=[Problem("gone.py", "does not exist")],
        checked=3,
        texts={
            "a,b/tr:ain.py": source_from_bytes(PROGRAM.encode(), "a,b/tr:ain.py"),
            "n.ipynb": source_from_bytes(json.dumps(NOTEBOOK).encode(), "n.ipynb"),
        },
        edits={CLIPPED: (EDIT,)},
        folder=folder,
    )
