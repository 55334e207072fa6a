"""Changes what AMP does in a run and nothing else: off, at a forced scale, or with an overflow put in.

Knows autocast and GradScaler; knows nothing of what the change is meant to show.
"""

import os
from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler

from amplint.runtime.job import ScalerTreatment, Treatment
from amplint.runtime.patch import Patches

LARGEST_GROWN_SCALE = 2.0**60
"""Where a forced growth stops: float32 gradients must stay finite however many steps follow."""


class _Overflow(torch.autograd.Function):
    """Keeps the loss, makes its gradient infinite."""

    @staticmethod
    def forward(ctx: Any, loss: torch.Tensor) -> torch.Tensor:
        return loss.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        return gradients[0] * float("inf")


def apply_treatment(treatment: Treatment, patches: Patches) -> None:
    """Patch torch so that the program meets the treatment wherever it makes a region or a scaler."""
    if not treatment.is_autocast_on:
        patches.wrap(torch.amp.autocast_mode.autocast, "__enter__", _without_autocast)
        _switch_off_setters(patches)
    if treatment.scaler is not ScalerTreatment.OWN:
        patches.wrap(GradScaler, "__init__", lambda original: _treated_init(original, treatment))
        patches.wrap(GradScaler, "load_state_dict", lambda original: _treated_load(original))
    if treatment.growth_interval is not None:
        patches.wrap(GradScaler, "update", _bounded_growth)
    if treatment.overflow_at is not None:
        patches.wrap(GradScaler, "scale", _OverflowAt(treatment.overflow_at).wrap)


def _without_autocast(original: Any) -> Any:
    def enter(region: Any) -> Any:
        # Set at entry, not in the constructor, whose positional order differs between the classes.
        region._enabled = False
        return original(region)

    return enter


def _switch_off_setters(patches: Patches) -> None:
    for name in ("set_autocast_enabled", "set_autocast_cpu_enabled"):
        patches.wrap(torch, name, _only_off)


def _only_off(original: Any) -> Any:
    def setter(*args: Any) -> Any:
        return original(*args[:-1], False)

    return setter


def _treated_init(original: Any, treatment: Treatment) -> Any:
    def init(scaler: Any, *args: Any, **kwargs: Any) -> None:
        original(scaler, *args, **kwargs)
        if not scaler._enabled:
            return
        if treatment.scaler is ScalerTreatment.OFF:
            scaler._enabled = False
            return
        # Only powers of two multiply float32 numbers exactly.
        scaler._growth_factor, scaler._backoff_factor = 2.0, 0.5
        if treatment.scale is not None:
            scaler._init_scale = treatment.scale
        if treatment.growth_interval is not None:
            scaler._growth_interval = treatment.growth_interval

    return init


def _treated_load(original: Any) -> Any:
    def load_state_dict(scaler: Any, state: Any) -> Any:
        # A checkpoint would bring the saved scale and factors back.
        return None

    return load_state_dict


def _bounded_growth(original: Any) -> Any:
    def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(scaler, *args, **kwargs)
        if scaler._enabled and scaler._scale is not None and scaler._scale.item() >= LARGEST_GROWN_SCALE:
            scaler._growth_interval = 2**31 - 1
        return result

    return update


class _OverflowAt:
    """Makes the gradients of one `scale()` call infinite, counted over all enabled scalers.

    On one rank alone: the others must hear of it.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._calls = 0

    def wrap(self, original: Any) -> Any:
        def scale(scaler: Any, outputs: Any) -> Any:
            if scaler._enabled:
                self._calls += 1
                if self._calls == self._number and os.environ.get("RANK", "0") == "0":
                    outputs = _overflowing(outputs)
            return original(scaler, outputs)

        return scale


def _overflowing(outputs: Any) -> Any:
    if isinstance(outputs, torch.Tensor):
        return _Overflow.apply(outputs)  # type: ignore[no-untyped-call]
    if isinstance(outputs, list | tuple):
        return type(outputs)(_overflowing(item) for item in outputs)
    return outputs
