"""Watches what the program itself does with `.grad` while gradients are scaled, and with the scaled loss.

Functions of torch are wrapped only from the moment when the program reads a scaled gradient until that gradient is
unscaled, stepped or cleared: a loop that leaves gradients alone pays for none of it.
"""

from collections.abc import Iterable
from typing import Any

import torch

from amplint.runtime.known import gradient, parameters_of
from amplint.runtime.patch import Patches
from amplint.runtime.record import Recorder
from amplint.runtime.site import is_called_by_user, site_of_callers_caller
from amplint.runtime.trace import Event, Kind
from amplint.runtime.watch_scaler import ScalerHooks

READS = {
    torch.Tensor: ("norm", "abs", "max", "min", "amax", "pow", "square", "std", "var", "item", "clamp", "clip"),
    torch: ("norm", "abs", "max", "clamp", "clip", "_foreach_norm", "histc"),
    torch.linalg: ("norm", "vector_norm"),
    torch.nn.utils: ("get_total_norm",),
}
"""Functions whose result does not simply grow with the scale, or is meant for a person to read."""

CHANGES = {
    torch.Tensor: ("clamp_", "clip_", "mul_", "div_", "add_", "__imul__", "__itruediv__", "__iadd__"),
    torch: ("_foreach_mul_", "_foreach_div_", "_foreach_clamp_min_", "_foreach_clamp_max_"),
}
"""Functions that write into a gradient."""

SCALAR_READS = ("item", "tolist", "__float__", "__format__")


class GradientHooks:
    """Watches the property `Tensor.grad`, and the functions that the program applies to what it read there."""

    def __init__(self, recorder: Recorder, scaler_hooks: ScalerHooks) -> None:
        self._recorder = recorder
        self._scalers = scaler_hooks
        self._scaled: set[int] = set()
        self._read: dict[int, int] = {}
        self._window = Patches()
        self._is_open = False

    def install(self, patches: Patches) -> None:
        """Replace the property, and listen to the events that scale and unscale gradients."""
        descriptor: Any = torch._C.TensorBase.grad

        def get(tensor: torch.Tensor) -> torch.Tensor | None:
            found: torch.Tensor | None = descriptor.__get__(tensor)
            if found is not None and self._scaled and self._recorder.is_on and is_called_by_user():
                self._note_read(tensor, found)
            return found

        def put(tensor: torch.Tensor, value: torch.Tensor | None) -> None:
            if self._recorder.is_on and is_called_by_user():
                self._note_assignment(tensor, value)
            descriptor.__set__(tensor, value)

        def drop(tensor: torch.Tensor) -> None:
            descriptor.__delete__(tensor)

        patches.set(torch.Tensor, "grad", property(get, put, drop, descriptor.__doc__))
        for name in SCALAR_READS:
            patches.wrap(torch.Tensor, name, self._scalar_read)
        self._recorder.listen(
            {
                Kind.BACKWARD: self._follow_backward,
                Kind.UNSCALE: self._follow_step,
                Kind.STEP: self._follow_step,
                Kind.OPTIMIZER_STEP: self._follow_step,
                Kind.ZERO_GRAD: self._follow_zero,
            }
        )

    def _follow_backward(self, event: Event) -> None:
        if event.data["scalers"]:
            self._scaled.update(event.data["optimizers"])
            self._close()

    def _follow_step(self, event: Event) -> None:
        self._scaled.discard(event.data["optimizer"])
        self._close()

    def _follow_zero(self, event: Event) -> None:
        self._scaled.difference_update(event.data["optimizers"])
        self._close()

    def _close(self) -> None:
        if self._is_open:
            self._window.undo()
            self._read.clear()
            self._is_open = False

    def _note_read(self, parameter: torch.Tensor, grad: torch.Tensor) -> None:
        owner = next((n for n in self._recorder.known.optimizers_of([parameter]) if n in self._scaled), None)
        if owner is None or grad.layout is not torch.strided:
            return
        self._read[grad.data_ptr()] = owner
        if not self._is_open:
            self._is_open = True
            for names, make in ((READS, self._read_by), (CHANGES, self._changed_by)):
                for place, functions in names.items():
                    for name in functions:
                        self._window.wrap(place, name, make)

    def _note_assignment(self, parameter: torch.Tensor, value: torch.Tensor | None) -> None:
        recorder = self._recorder
        for optimizer in recorder.known.optimizers():
            owned = list(parameters_of(optimizer))
            if not any(other is parameter for other in owned):
                continue
            number = recorder.known.number(optimizer)
            if value is not None:
                recorder.emit(Kind.CHANGE, function="=", optimizers=[number], is_assignment=True)
            elif all(other is parameter or gradient(other) is None for other in owned):
                recorder.emit(Kind.ZERO_GRAD, optimizers=[number])

    def _owners(self, args: Iterable[Any]) -> list[int]:
        found = set()
        for arg in args:
            for item in arg if isinstance(arg, list | tuple) else (arg,):
                if isinstance(item, torch.Tensor) and item.layout is torch.strided:
                    found.add(self._read.get(item.data_ptr()))
        return sorted(number for number in found if number is not None)

    def _read_by(self, original: Any) -> Any:
        return self._noted(original, Kind.READ)

    def _changed_by(self, original: Any) -> Any:
        return self._noted(original, Kind.CHANGE)

    def _noted(self, original: Any, kind: Kind) -> Any:
        recorder = self._recorder
        name = original.__name__

        def noted(*args: Any, **kwargs: Any) -> Any:
            if recorder.is_on and is_called_by_user():
                owners = self._owners([*args[:1], *kwargs.values()])
                if owners:
                    caller = site_of_callers_caller()
                    recorder.emit(kind, function=name, optimizers=owners, is_assignment=False, caller=caller)
            return original(*args, **kwargs)

        return noted

    def _scalar_read(self, original: Any) -> Any:
        recorder = self._recorder
        name = original.__name__

        def read(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
            if recorder.is_on and self._scalers.scaled and is_called_by_user():
                scaler = self._scalers.scaler_of(tensor)
                if scaler is not None:
                    recorder.emit(Kind.LOSS_READ, function=name, scaler=scaler)
            return original(tensor, *args, **kwargs)

        return read
