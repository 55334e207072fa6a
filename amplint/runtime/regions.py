"""Misuse of autocast that a run shows: what happened inside a region, what never was in one, which stayed on.

Knows the codes of the static rules that mean the same; listens to the events of a run.
"""

from dataclasses import dataclass, field

from amplint.runtime.sighting import Notebook
from amplint.runtime.site import NOWHERE, Site
from amplint.runtime.trace import Event, Handlers, Kind


@dataclass(slots=True)
class Regions:
    """Listens to a run and notes misuse."""

    notebook: Notebook
    _entered: dict[int, Site] = field(default_factory=dict)
    _dtypes: dict[str, Site] = field(default_factory=dict)
    _stepped_in: dict[int, tuple[Site, Site]] = field(default_factory=dict)
    _has_backward: bool = False
    _scalers: dict[int, Site] = field(default_factory=dict)
    _cached: dict[int, bool] = field(default_factory=dict)
    _backwards: dict[int, tuple[Site, Site]] = field(default_factory=dict)

    def handlers(self) -> Handlers:
        """What is to be called for an event of each kind."""
        return {
            Kind.SCALER: self._made,
            Kind.REGION_ENTER: self._enter,
            Kind.REGION_EXIT: self._exited,
            Kind.REGION_DROPPED: self._dropped,
            Kind.BACKWARD: self._backward,
            Kind.STEP: self._step,
            Kind.OPTIMIZER_STEP: self._step,
            Kind.END: self._ended,
        }

    def _made(self, event: Event) -> None:
        if event.data["is_enabled"]:
            self._scalers[event.data["scaler"]] = event.site

    def _exited(self, event: Event) -> None:
        self._leave(event.data["region"])

    def _dropped(self, event: Event) -> None:
        self.notebook.report("AMP403", "an autocast region is made here and never entered", event.site)

    def _ended(self, event: Event) -> None:
        for region in list(self._backwards):
            self._leave(region)

    def _enter(self, event: Event) -> None:
        data = event.data
        if data["is_reentered"]:
            message = "one autocast object is entered while it is entered: autocast stays on after the outer exit"
            self.notebook.report("AMP411", message, event.site)
        self._entered[data["region"]] = event.site
        self._cached[data["region"]] = data["is_cached"]
        if data["is_enabled"]:
            self._dtypes[data["dtype"]] = event.site

    def _backward(self, event: Event) -> None:
        self._has_backward = True
        if not event.data["around"]:
            return
        region = event.data["around"][0]
        entered = self._entered.get(region, NOWHERE)
        if region in self._stepped_in and any(self._cached.get(each) for each in event.data["around"]):
            message = (
                "this step is followed by another forward in the same region, which still uses the half-precision "
                "copies of the weights that were made before it"
            )
            step, caller = self._stepped_in[region]
            self.notebook.report("AMP402", message, step, (entered, "region entered here"), (caller, "called here"))
            self._backwards.pop(region, None)
        elif event.data["regions"]:
            self._backwards.setdefault(region, (event.site, entered))

    def _leave(self, region: int) -> None:
        """A backward in a region counts once the region is over: where a whole loop was in it, that is the defect."""
        backward = self._backwards.pop(region, None)
        if backward is not None and not self.notebook.has("AMP402"):
            self.notebook.report(
                "AMP401", "backward runs under autocast", backward[0], (backward[1], "region entered here")
            )
        self._stepped_in.pop(region, None)

    def _step(self, event: Event) -> None:
        data = event.data
        if data["around"]:
            self._stepped_in[data["around"][0]] = (event.site, Site(*data["caller"]))
        scaler = data.get("scaler")
        if scaler is not None and set(self._dtypes) == {"bfloat16"}:
            site = self._scalers.get(scaler, event.site)
            self.notebook.report("AMP502", "the loss is scaled, but all regions are bfloat16", site)
        if self._has_backward and scaler is None and not self._scalers and "float16" in self._dtypes:
            site = self._dtypes["float16"]
            message = "a float16 region is trained without a scaler: small gradients become zero"
            self.notebook.report("AMP503", message, site, (event.site, "stepped here"))
        self._dtypes.clear()
