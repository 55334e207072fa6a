"""Draws the numbers of steps as curves, in one SVG that needs nothing beside it."""

import io
import math
import os
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from amplint.runtime.trace import Step


@dataclass(frozen=True, slots=True)
class Curve:
    """The steps of one run under the name that the legend gives it."""

    name: str
    steps: Sequence[Step]


_PANELS: tuple[tuple[str, Callable[[Step], float | None], bool], ...] = (
    ("loss", lambda step: step.loss, False),
    ("scale", lambda step: step.scale, True),
    ("true gradient norm at the step", lambda step: step.norm, True),
    ("gradient norm seen by the clip", lambda step: step.seen_norm, True),
    ("learning rate", lambda step: step.learning_rate, False),
)
_COLORS = {"before": "#c23b4b", "as it is": "#2563a8", "after": "#2563a8", "float32": "#6b7280"}


def curves_svg(curves: Sequence[Curve]) -> str:
    """An `<svg>` element with a panel for each quantity that any run recorded; a sentence without matplotlib."""
    with tempfile.TemporaryDirectory(prefix="amplint-") as folder:
        before = os.environ.get("MPLCONFIGDIR")
        # Matplotlib would else keep a list of fonts in the person's home.
        os.environ["MPLCONFIGDIR"] = folder
        try:
            return _drawn(curves)
        except ImportError:
            return "<p>matplotlib is not installed here, so there are no curves (install amplint[torch]).</p>"
        finally:
            del os.environ["MPLCONFIGDIR"]
            if before is not None:
                os.environ["MPLCONFIGDIR"] = before


def _drawn(curves: Sequence[Curve]) -> str:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "amplint"
    matplotlib.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot

    panels = [panel for panel in _PANELS if any(_points(curve, panel[1]) for curve in curves)]
    figure, axes = pyplot.subplots(max(1, len(panels)), 1, figsize=(9, 2.1 * max(1, len(panels))), squeeze=False)
    for row, (title, value, is_logarithmic) in zip(axes, panels, strict=False):
        axis = row[0]
        for curve in curves:
            points = _points(curve, value)
            if points:
                style = "--" if curve.name == "float32" else "-"
                axis.plot(*zip(*points, strict=True), style, label=curve.name, color=_COLORS.get(curve.name), lw=1.4)
        if is_logarithmic and all(y > 0 for curve in curves for _, y in _points(curve, value)):
            axis.set_yscale("log")
        axis.set_title(title, loc="left", fontsize=10)
        axis.grid(visible=True, alpha=0.25)
        axis.legend(fontsize=8, frameon=False)
    axes[-1][0].set_xlabel("optimizer step")
    figure.tight_layout()
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    text = out.getvalue()
    # What matplotlib says of itself is of no use in a page.
    return re.sub(r"\s*<metadata>.*?</metadata>", "", text[text.index("<svg") :], flags=re.DOTALL)


def _points(curve: Curve, value: Callable[[Step], float | None]) -> list[tuple[int, float]]:
    found = ((step.index + 1, value(step)) for step in curve.steps)
    return [(index, number) for index, number in found if number is not None and math.isfinite(number)]
