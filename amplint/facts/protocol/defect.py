"""What a defect of the protocol is: a kind, the place where it stands, and the places that explain it."""

from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind, Reason
from amplint.knowledge.state import Error
from amplint.model.data import Entity
from amplint.model.tree import Node

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class DefectKind(StrEnum):
    """A defect of the protocol, by the name of its rule."""

    CLIP_SCALED = "clip-of-scaled-gradients"
    NO_UPDATE = "missing-scaler-update"
    STEP_AROUND = "optimizer-step-around-scaler"
    UNSCALED_BACKWARD = "backward-of-unscaled-loss"
    REPEATED_UNSCALE = "repeated-unscale"
    MISPLACED_UPDATE = "misplaced-scaler-update"
    CLIP_OUTSIDE = "clip-outside-the-step"
    SKIPPED_STEP = "skipped-step-without-update"
    NEVER_STEPPED = "optimizer-never-stepped"
    READ_SCALED = "scaled-gradient-read"
    OTHER_SCALER = "gradients-of-another-scaler"
    ZERO_BEFORE_STEP = "zero-grad-before-step"
    SCALED_TWICE = "loss-scaled-twice"
    MICRO_UNSCALE = "unscale-on-every-micro-batch"
    MICRO_UPDATE = "update-on-every-micro-batch"
    MICRO_ZERO = "zero-grad-on-every-micro-batch"


class Defect(Entity):
    """One defect. site is the step at which it stands, because the earlier steps that explain it, in program order.

    after is a later step that shows what was missed, None where there is none.
    """

    kind: DefectKind
    reading: Reading
    site: Step
    error: Error | None = None
    because: tuple[tuple[EventKind, Step], ...] = ()
    after: Step | None = None

    @property
    def home(self) -> "Facts":
        """The module in which the defect stands."""
        return self.reading.scene.homes[self.site.frame]

    @property
    def place(self) -> Node:
        """The expression at which the defect stands."""
        return self.site.node


def unexplained(found: list[Defect]) -> list[Defect]:
    """Without what an unscale_ that came too early explains: the right one behind it, and the clip between them."""
    early = {defect.site for defect in found if defect.kind is DefectKind.MICRO_UNSCALE}
    return [defect for defect in found if not any(_follows_from(defect, site) for site in early)]


def _follows_from(defect: Defect, early: Step) -> bool:
    match defect.kind:
        case DefectKind.REPEATED_UNSCALE:
            return (EventKind.UNSCALE, early) in defect.because
        case DefectKind.CLIP_OUTSIDE:
            is_early = defect.error is not None and defect.error.reason is Reason.CLIP_BEFORE_BACKWARD
            return is_early and defect.site.frame == early.frame and defect.place.span > early.node.span
        case _:
            return False
