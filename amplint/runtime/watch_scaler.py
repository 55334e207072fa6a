"""Hooks on GradScaler; knows its methods and private state, nothing of what is right."""

from collections import deque
from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler

from amplint.runtime.patch import Patches
from amplint.runtime.record import Recorder
from amplint.runtime.reductions import reduction_of
from amplint.runtime.site import is_called_by_user, site_of_callers_caller
from amplint.runtime.trace import Kind
from amplint.runtime.watch_mixing import SCALE_MARK, MixingHooks, carries_scale, metadata_of
from amplint.runtime.watch_optimizer import finish_step


class ScalerHooks:
    """Watches every scaler of the program. scaled holds the storages of the last scaled losses, to know them again."""

    def __init__(self, recorder: Recorder, mixing: MixingHooks) -> None:
        self._recorder = recorder
        self._mixing = mixing
        self.scaled: deque[tuple[torch.UntypedStorage, int]] = deque(maxlen=8)

    def install(self, patches: Patches) -> None:
        """Wrap the methods of the class; its subclasses for cuda and cpu inherit them."""
        for name in ("__init__", "scale", "unscale_", "step", "update", "get_scale", "state_dict", "load_state_dict"):
            patches.wrap(GradScaler, name, getattr(self, f"_{name.strip('_')}"))

    def scaler_of(self, tensor: torch.Tensor) -> int | None:
        """The scaler that made this tensor, if it is a scaled loss or shares its memory."""
        if not self.scaled or tensor.layout is not torch.strided:
            return None
        address = tensor.untyped_storage().data_ptr()
        return next((number for storage, number in self.scaled if storage.data_ptr() == address), None)

    def _init(self, original: Any) -> Any:
        recorder = self._recorder

        def init(scaler: Any, *args: Any, **kwargs: Any) -> None:
            original(scaler, *args, **kwargs)
            if recorder.is_on:
                recorder.emit(
                    Kind.SCALER,
                    scaler=recorder.known.number(scaler),
                    is_enabled=bool(scaler._enabled),
                    device=str(scaler._device),
                    init_scale=scaler._init_scale if scaler._enabled else None,
                )

        return init

    def _scale(self, original: Any) -> Any:
        recorder = self._recorder

        def scale(scaler: Any, outputs: Any) -> Any:
            if not recorder.is_on or not scaler._enabled:
                return original(scaler, outputs)
            number = recorder.known.number(scaler)
            recorder.stop_if_enough()
            with recorder:
                is_again = carries_scale(outputs, number)
                result = original(scaler, outputs)
                self._mark(result, number)
                recorder.reduction = reduction_of(outputs)
                if recorder.is_full or recorder.is_distributed:
                    recorder.pending.scale = scaler._scale.item()
            recorder.scales += 1
            recorder.emit(Kind.SCALE, scaler=number, is_again=is_again)
            self._mixing.open()
            return result

        return scale

    def _mark(self, result: Any, number: int) -> None:
        if isinstance(result, list | tuple):
            for item in result:
                self._mark(item, number)
        elif isinstance(result, torch.Tensor):
            if result.grad_fn is not None:
                metadata_of(result.grad_fn)[SCALE_MARK] = number
                result.grad_fn.register_prehook(self._note_factor(number))
            if result.numel() <= 16:
                self.scaled.append((result.untyped_storage(), number))

    def _note_factor(self, number: int) -> Any:
        backwards = self._recorder.backwards

        def note(_gradients: object) -> None:
            if backwards:
                backwards[-1].scalers.append(number)

        return note

    def _unscale(self, original: Any) -> Any:
        recorder = self._recorder

        def unscale_(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on or not scaler._enabled or recorder.is_in_scaler_step:
                return original(scaler, optimizer, *args, **kwargs)
            recorder.emit(
                Kind.UNSCALE,
                scaler=recorder.known.number(scaler),
                optimizer=recorder.known.add_optimizer(optimizer),
                sharing=_sharing(recorder, optimizer),
            )
            with recorder:
                return original(scaler, optimizer, *args, **kwargs)

        return unscale_

    def _step(self, original: Any) -> Any:
        recorder = self._recorder

        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on or not scaler._enabled:
                return original(scaler, optimizer, *args, **kwargs)
            number = recorder.known.add_optimizer(optimizer)
            recorder.stop_if_enough(number)
            recorder.emit(
                Kind.STEP,
                scaler=recorder.known.number(scaler),
                optimizer=number,
                closure=_closure_form(args, kwargs),
                regions=recorder.active_regions(),
                around=list(recorder.regions),
                caller=site_of_callers_caller(),
            )
            with recorder.inside_step():
                result = original(scaler, optimizer, *args, **kwargs)
            with recorder:
                has_overflow = overflow_of(scaler, optimizer)
            finish_step(recorder, optimizer, scaler=recorder.known.number(scaler), has_overflow=has_overflow)
            return result

        return step

    def _update(self, original: Any) -> Any:
        recorder = self._recorder

        def update(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on or not scaler._enabled:
                return original(scaler, *args, **kwargs)
            number = recorder.known.number(scaler)
            is_given = bool(args) or kwargs.get("new_scale") is not None
            recorder.emit(Kind.UPDATE, scaler=number, is_given=is_given)
            with recorder:
                result = original(scaler, *args, **kwargs)
                scale = scaler._scale.item()
            recorder.emit(Kind.UPDATED, scaler=number, scale=scale)
            return result

        return update

    def _get_scale(self, original: Any) -> Any:
        recorder = self._recorder

        def get_scale(scaler: Any) -> Any:
            if recorder.is_on and is_called_by_user():
                recorder.emit(Kind.GET_SCALE, scaler=recorder.known.number(scaler))
            return original(scaler)

        return get_scale

    def _state_dict(self, original: Any) -> Any:
        return self._noted(original, Kind.SAVE)

    def _load_state_dict(self, original: Any) -> Any:
        return self._noted(original, Kind.LOAD)

    def _noted(self, original: Any, kind: Kind) -> Any:
        recorder = self._recorder

        def noted(scaler: Any, *args: Any, **kwargs: Any) -> Any:
            if recorder.is_on:
                recorder.emit(kind, scaler=recorder.known.number(scaler))
            return original(scaler, *args, **kwargs)

        return noted


def _sharing(recorder: Recorder, optimizer: torch.optim.Optimizer) -> list[int]:
    """Other optimizers that own parameters of this one."""
    own = recorder.known.number(optimizer)
    return [number for number in recorder.known.sharers(optimizer) if number != own]


def _closure_form(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """How a closure was handed to `scaler.step`: torch refuses only the keyword."""
    if kwargs.get("closure") is not None:
        return "keyword"
    return "positional" if args and args[0] is not None else None


def overflow_of(scaler: Any, optimizer: torch.optim.Optimizer) -> bool:
    """Whether the scaler found an infinity or a NaN among the optimizer's gradients since its last update."""
    found = scaler._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
    return bool(sum(flag.item() for flag in found.values()))
