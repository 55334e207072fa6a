"""What is wrong with a run whatever the reason: collapse of the scale, no progress, NaN; the run-time codes AMP9.

Knows thresholds; listens to events and to the numbers of steps.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from amplint.runtime.sighting import Notebook
from amplint.runtime.site import NOWHERE, Site
from amplint.runtime.trace import Event, Handlers, Kind

COLLAPSE = 24
"""Backoffs in a row. From the default 65536 that is a scale of 0.004, far below where float16 needs one."""

STARVED = 0.8
"""Share of zeros among gradients, at two looks in a row. (Measured: a loss of 1e-4 in float16 gives 0.83.)"""

IDLE_STEPS = 20
"""Skipped steps in a row of an optimizer that never made one."""

_NOT_FINITE = "this step wrote an infinity or a NaN into the parameters"


@dataclass(slots=True)
class Symptoms:
    """Listens to a run and notes symptoms."""

    notebook: Notebook
    _scales: dict[int, float] = field(default_factory=dict)
    _backoffs: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _skipped: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _starved: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    _applied: set[int] = field(default_factory=set)
    _region_site: Site = NOWHERE

    def handlers(self) -> Handlers:
        """What is to be called for an event of each kind."""
        return {
            Kind.UPDATED: self._updated,
            Kind.STEPPED: self._stepped,
            Kind.REGION_ENTER: self._entered,
            Kind.END: self._ended,
        }

    def _entered(self, event: Event) -> None:
        self._region_site = event.site

    def _ended(self, event: Event) -> None:
        for site in event.data.get("bad_steps", ()):
            self.notebook.report("AMP904", _NOT_FINITE, Site(*site))
        if event.data.get("is_autocast_on") and not self.notebook.has("AMP411"):
            self.notebook.report("AMP906", "autocast is still on at the end of the program", self._region_site)

    def _updated(self, event: Event) -> None:
        scaler, scale = event.data["scaler"], event.data["scale"]
        before = self._scales.get(scaler, math.inf)
        self._scales[scaler] = scale
        self._backoffs[scaler] = self._backoffs[scaler] + 1 if scale < before < math.inf else 0
        if self._backoffs[scaler] >= COLLAPSE or scale == 0:
            message = f"the scale fell to {scale:g} without an overflow-free step: the loss or the model is not finite"
            self.notebook.report("AMP901", message, event.site)

    def _stepped(self, event: Event) -> None:
        optimizer = event.data["optimizer"]
        if event.data["is_applied"]:
            self._applied.add(optimizer)
            self._skipped[optimizer] = 0
        else:
            self._skipped[optimizer] += 1
            if self._skipped[optimizer] >= IDLE_STEPS and optimizer not in self._applied:
                message = f"{IDLE_STEPS} steps in a row were skipped and none was ever applied"
                self.notebook.report("AMP902", message, event.site)
        if event.data.get("has_bad_parameters"):
            self.notebook.report("AMP904", _NOT_FINITE, event.site)
        share = event.data.get("zero_share")
        if share is not None:
            self._starved[optimizer] = self._starved[optimizer] + 1 if share > STARVED else 0
        if share is not None and self._starved[optimizer] >= 2:
            message = f"{share:.1%} of the gradients are exactly zero, under float16 and without a scale"
            self.notebook.report("AMP903", message, event.site)
