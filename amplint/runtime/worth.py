"""What AMP brings and costs in this program: float32 against AMP, in the numbers that people measure by hand."""

import statistics
from dataclasses import dataclass

from amplint.runtime.compare import loss_distance
from amplint.runtime.job import AMP_OFF, AS_IS, Detail
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.trace import Trace

WARM_UP = 2
"""Steps that are not timed: the first ones allocate memory and compile kernels."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs. Memory is the peak in bytes; weights, gradients and state are bytes a parameter."""

    steps_per_second: float | None
    peak_memory: int
    parameters: int
    weights: float
    gradients: float
    state: float


@dataclass(frozen=True, slots=True)
class Worth:
    """The comparison. loss_distance is relative to the range of the float32 curve."""

    device: str
    float32: Side
    amp: Side
    loss_distance: float | None
    steps: int
    skipped: int
    final_scale: float | None

    def rows(self) -> list[tuple[str, str, str]]:
        """A table: what, in float32, with AMP."""
        a, b = self.float32, self.amp
        speed = [f"{side.steps_per_second:.4g}" if side.steps_per_second else "–" for side in (a, b)]
        distance = "–" if self.loss_distance is None else f"{self.loss_distance:.2g}"
        scale = "–" if self.final_scale is None else f"{self.final_scale:g}"
        return [
            ("steps per second", speed[0], speed[1]),
            ("peak memory, MiB", f"{a.peak_memory / 2**20:.1f}", f"{b.peak_memory / 2**20:.1f}"),
            ("bytes a parameter: weights", f"{a.weights:.2f}", f"{b.weights:.2f}"),
            ("bytes a parameter: gradients", f"{a.gradients:.2f}", f"{b.gradients:.2f}"),
            ("bytes a parameter: optimizer state", f"{a.state:.2f}", f"{b.state:.2f}"),
            ("loss curve, distance from float32", "0", distance),
            ("skipped steps", "0", f"{self.skipped} of {self.steps}"),
            ("final scale", "–", scale),
        ]


def measure_worth(lab: Laboratory, variant: str) -> Worth | None:
    """Run the variant with and without AMP, with nothing but a clock attached; None where it does not step."""
    amp = lab.run(variant, AS_IS, Detail.PACE).trace
    plain = lab.run(variant, AMP_OFF, Detail.PACE).trace
    if not amp.steps or not plain.steps:
        return None
    full = lab.trace(variant)
    scales = [step.scale for step in full.steps if step.scale is not None]
    return Worth(
        device=str(amp.start.get("device")),
        float32=_side(plain),
        amp=_side(amp),
        loss_distance=loss_distance(full, lab.trace(variant, AMP_OFF)),
        steps=len(full.steps),
        skipped=sum(not step.is_applied for step in full.steps),
        final_scale=scales[-1] if scales else None,
    )


def _side(trace: Trace) -> Side:
    sizes = list(trace.summary.get("sizes", {}).values())
    count = sum(each["parameters"] for each in sizes) or 1
    timed = [step.seconds for step in trace.steps[WARM_UP:]]
    return Side(
        steps_per_second=1 / statistics.median(timed) if timed and statistics.median(timed) > 0 else None,
        peak_memory=max(step.memory for step in trace.steps),
        parameters=count,
        weights=sum(each["weights"] for each in sizes) / count,
        gradients=sum(each["gradients"] for each in sizes) / count,
        state=sum(each["state"] for each in sizes) / count,
    )
