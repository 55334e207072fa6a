"""Misuse of scalers, losses and accumulation that the protocol table does not hold, because it is not about order.

Knows the codes of the static rules that mean the same; listens to the events of a run.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from amplint.runtime.sighting import Notebook
from amplint.runtime.site import NOWHERE, Site
from amplint.runtime.trace import Event, Handlers, Kind

ENOUGH_GROUPS = 2
"""Groups of micro-batches that must show the same pattern: one alone may be a batch that was thrown away."""


_MIXED = "a part of this loss is not scaled, but its gradients are divided"


@dataclass(slots=True)
class _Group:
    """The backwards that one optimizer's next step will use, and those that were cleared before."""

    live: list[tuple[Site, str]] = field(default_factory=list)
    dropped: list[Site] = field(default_factory=list)
    zero_site: Site = NOWHERE
    update_site: Site = NOWHERE
    cleared_groups: int = 0
    undivided_groups: int = 0
    steps: int = 0
    scaled_backwards: int = 0
    rounds_without_step: int = 0


@dataclass(slots=True)
class Usage:
    """Listens to a run and notes misuse."""

    notebook: Notebook
    _groups: dict[int, _Group] = field(default_factory=lambda: defaultdict(_Group))
    _scalers: dict[int, Site] = field(default_factory=dict)
    _scaler_of_optimizer: dict[int, int] = field(default_factory=dict)
    _mixed: set[Site] = field(default_factory=set)
    _placed: set[Site] = field(default_factory=set)
    _loss_reads: list[Site] = field(default_factory=list)
    _scale_lines: set[tuple[str, int]] = field(default_factory=set)
    _penalties: list[Site] = field(default_factory=list)
    _stepping: bool = False
    _anomaly: Site = NOWHERE
    _knows_scale: bool = False
    _live_scaler: int | None = None
    _skipped: dict[int, bool] = field(default_factory=dict)
    _steps_since_schedule: dict[int, int] = field(default_factory=dict)

    def handlers(self) -> Handlers:
        """What is to be called for an event of each kind: the method of its name."""
        names = {kind: f"_on_{kind.name.lower()}" for kind in Kind}
        return {kind: getattr(self, name) for kind, name in names.items() if hasattr(self, name)}

    def _on_scaler(self, event: Event) -> None:
        if event.data["is_enabled"]:
            self._scalers[event.data["scaler"]] = event.site

    def _on_scale(self, event: Event) -> None:
        self._live_scaler = event.data["scaler"]
        self._judge_loss_reads()
        if event.data["is_again"]:
            self.notebook.report("AMP220", "a loss is scaled that carries the scale already", event.site)

    def _on_get_scale(self, event: Event) -> None:
        self._knows_scale = True
        self._scale_lines.add((event.site.path, event.site.line))

    def _on_loss_read(self, event: Event) -> None:
        self._loss_reads.append(event.site)

    def _judge_loss_reads(self) -> None:
        """A scaled loss may be read where the scale is read in the same line, to divide by it."""
        for site in self._loss_reads:
            if (site.path, site.line) not in self._scale_lines:
                self.notebook.report("AMP209", "a loss that is multiplied by the scale is read", site)
        self._loss_reads.clear()

    def _on_backward(self, event: Event) -> None:
        data = event.data
        for site in self._penalties if not self._knows_scale else ():
            message = "these gradients are multiplied by the scale, and nobody asks for the scale before their use"
            self.notebook.report("AMP215", message, site, (event.site, "used by this backward"))
        self._penalties.clear()
        if self._stepping:
            return
        if data["is_mixed"]:
            self._judge_mix(event.site, Site(*data["mixed_at"]))
        if data["scalers"] and data["has_anomaly_detection"] and self._anomaly != NOWHERE:
            message = "anomaly detection raises on the overflow that the scaler would skip"
            self.notebook.report("AMP219", message, self._anomaly, (event.site, "scaled backward here"))
        for number in data["optimizers"]:
            for scaler in data["scalers"]:
                self._compare_scalers(number, scaler, event.site)
            group = self._groups[number]
            group.live.append((event.site, data["reduction"]))
            group.scaled_backwards += bool(data["scalers"])

    def _judge_mix(self, backward: Site, place: Site) -> None:
        """The first backward of a mixed loss does not tell where it was mixed; the second one does, if it comes."""
        if place != NOWHERE:
            self.notebook.report("AMP217", _MIXED, place, (backward, "used by this backward"))
            self._mixed.discard(backward)
            self._placed.add(backward)
        elif backward not in self._placed:
            self._mixed.add(backward)

    def _on_anomaly(self, event: Event) -> None:
        self._anomaly = event.site

    def _on_gradient(self, event: Event) -> None:
        if event.data["scalers"] and event.data["is_differentiable"]:
            self._penalties.append(event.site)

    def _on_clip(self, event: Event) -> None:
        if event.data["raises"] and self._live_scaler is not None:
            message = "`error_if_nonfinite` raises on the overflow that the scaler would skip"
            self.notebook.report("AMP219", message, event.site)

    def _on_zero_grad(self, event: Event) -> None:
        for number in event.data["optimizers"] if not self._stepping else ():
            group = self._groups[number]
            if group.live:
                group.dropped.extend(site for site, _ in group.live)
                group.live.clear()
                group.zero_site = event.site

    def _on_optimizer_step(self, event: Event) -> None:
        # Until it is over, backwards are those of a closure that the optimizer calls as often as it likes.
        self._stepping = True

    def _on_step(self, event: Event) -> None:
        data = event.data
        if data["closure"]:
            self.notebook.report("AMP210", f"a closure is handed to `scaler.step` ({data['closure']})", event.site)

    def _compare_scalers(self, optimizer: int, scaler: int, here: Site) -> None:
        before = self._scaler_of_optimizer.get(optimizer)
        site = self._scalers.get(scaler, NOWHERE)
        if before is not None and before != scaler and site != NOWHERE and self._scalers.get(before) == site:
            message = "a new scaler is made again and again for the same optimizer: its scale starts over each time"
            self.notebook.report("AMP208", message, site, (here, "used by each of them here"))
        self._scaler_of_optimizer[optimizer] = scaler

    def _on_stepped(self, event: Event) -> None:
        self._stepping = False
        number = event.data["optimizer"]
        self._skipped[number] = not event.data["is_applied"]
        self._steps_since_schedule[number] = self._steps_since_schedule.get(number, 0) + 1
        for other in event.data["sharing"]:
            self._groups[other].steps += 1
            self._groups[other].rounds_without_step = 0
        group = self._groups[number]
        used = {site for site, _ in group.live}
        is_cleared = bool(group.dropped) and len(used) == 1 and set(group.dropped) == used
        group.cleared_groups = group.cleared_groups + 1 if is_cleared else 0
        if group.cleared_groups >= ENOUGH_GROUPS:
            message = "`zero_grad` clears the gradients of every micro-batch but the last"
            self.notebook.report("AMP304", message, group.zero_site, (next(iter(used)), "backward of each micro-batch"))
        is_undivided = len(group.live) > 1 and len(used) == 1 and {kind for _, kind in group.live} == {"mean"}
        group.undivided_groups = group.undivided_groups + 1 if is_undivided else 0
        if group.undivided_groups >= ENOUGH_GROUPS:
            message = f"gradients of {len(group.live)} losses, each a mean over its batch, are added up undivided"
            self.notebook.report("AMP301", message, next(iter(used)), (event.site, "stepped here"))
        group.live.clear()
        group.dropped.clear()

    def _on_update(self, event: Event) -> None:
        self._judge_loss_reads()
        self._knows_scale = False
        for group in self._groups.values():
            if group.scaled_backwards and not group.steps:
                group.rounds_without_step += 1
                group.update_site = event.site

    def _on_schedule(self, event: Event) -> None:
        number = event.data["optimizer"]
        if self._steps_since_schedule.get(number) == 1 and self._skipped.get(number):
            message = "the learning rate moves on although the scaler skipped the step"
            self.notebook.report("AMP601", message, event.site)
        self._steps_since_schedule[number] = 0

    def _on_end(self, event: Event) -> None:
        self._judge_loss_reads()
        for backward in sorted(self._mixed):
            self.notebook.report("AMP217", _MIXED, backward)
        # Only now: another network may be trained first, or several times for each step of this one.
        for group in self._groups.values():
            if group.rounds_without_step > ENOUGH_GROUPS and not group.steps:
                message = "an optimizer gets gradients, but is never stepped before this update"
                self.notebook.report("AMP213", message, group.update_site)
