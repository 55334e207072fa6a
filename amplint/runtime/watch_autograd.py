"""Hooks on `torch.autograd.backward` and `grad`; knows which gradients a backward wrote and what they went through."""

from typing import Any

import torch

from amplint.runtime.known import Mark, marks
from amplint.runtime.patch import Patches
from amplint.runtime.record import Backward, Recorder
from amplint.runtime.reductions import reduction_of
from amplint.runtime.site import NOWHERE
from amplint.runtime.trace import Kind
from amplint.runtime.watch_mixing import MixingHooks, is_mixed


class AutogradHooks:
    """Watches every backward of the program (`Tensor.backward` goes through the same function)."""

    def __init__(self, recorder: Recorder, mixing: MixingHooks) -> None:
        self._recorder = recorder
        self._mixing = mixing

    def install(self, patches: Patches) -> None:
        """Wrap the functions of the module."""
        patches.wrap(torch.autograd, "backward", self._backward)
        patches.wrap(torch.autograd, "grad", self._grad)
        for name in ("set_detect_anomaly", "detect_anomaly"):
            patches.wrap(getattr(torch.autograd, name), "__init__", self._anomaly)

    def _backward(self, original: Any) -> Any:
        recorder = self._recorder

        def backward(*args: Any, **kwargs: Any) -> Any:
            # A backward inside a backward is a checkpoint's recomputation.
            if not recorder.is_on or recorder.backwards:
                return original(*args, **kwargs)
            recorder.stop_if_enough()
            self._mixing.close()
            roots = _tensors(args[0] if args else kwargs.get("tensors"))
            before = _look(recorder)
            reduction = reduction_of(roots)
            run = Backward()
            recorder.backwards.append(run)
            try:
                result = original(*args, **kwargs)
            finally:
                recorder.backwards.pop()
                self._tell(roots, sorted(set(run.scalers)), _touched(recorder, before), reduction)
            if recorder.is_full:
                self._note_loss(roots, bool(run.scalers))
            return result

        return backward

    def _tell(self, roots: list[torch.Tensor], scalers: list[int], optimizers: list[int], reduction: str) -> None:
        recorder = self._recorder
        recorder.backwards_into.update(optimizers)
        mixed = bool(scalers) and is_mixed(roots)
        place = self._mixing.place(roots) if mixed else NOWHERE
        if mixed:
            self._mixing.arm()
        recorder.emit(
            Kind.BACKWARD,
            scalers=scalers,
            is_mixed=mixed,
            mixed_at=place,
            optimizers=optimizers,
            regions=recorder.active_regions(),
            around=list(recorder.regions),
            reduction=recorder.reduction if scalers else reduction,
            has_anomaly_detection=torch.is_anomaly_enabled(),
        )

    def _anomaly(self, original: Any) -> Any:
        recorder = self._recorder

        def init(mode: Any, *args: Any, **kwargs: Any) -> None:
            original(mode, *args, **kwargs)
            if recorder.is_on and torch.is_anomaly_enabled():
                recorder.emit(Kind.ANOMALY)

        return init

    def _note_loss(self, roots: list[torch.Tensor], is_scaled: bool) -> None:
        pending = self._recorder.pending
        if len(roots) == 1 and roots[0].numel() == 1:
            with self._recorder:
                value = roots[0].detach().float().item()
            pending.loss = value / pending.scale if is_scaled and pending.scale else value

    def _grad(self, original: Any) -> Any:
        recorder = self._recorder

        def grad(*args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on or recorder.backwards:
                return original(*args, **kwargs)
            run = Backward()
            recorder.backwards.append(run)
            try:
                result = original(*args, **kwargs)
            finally:
                recorder.backwards.pop()
            create = bool(kwargs.get("create_graph", args[4] if len(args) > 4 else False))
            recorder.emit(Kind.GRADIENT, scalers=sorted(set(run.scalers)), is_differentiable=create)
            return result

        return grad


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [item for item in value or () if isinstance(item, torch.Tensor)]


def _look(recorder: Recorder) -> list[tuple[torch.optim.Optimizer, list[Mark]]]:
    return [(optimizer, list(marks(optimizer))) for optimizer in recorder.known.optimizers()]


def _touched(recorder: Recorder, before: list[tuple[torch.optim.Optimizer, list[Mark]]]) -> list[int]:
    """The optimizers among whose parameters a gradient came, changed or was replaced."""
    return [
        recorder.known.number(optimizer)
        for optimizer, earlier in before
        if any(one != other for one, other in zip(earlier, marks(optimizer), strict=False))
    ]
