"""Hooks on optimizers, schedulers and clip functions; knows which gradients each of them takes."""

import math
from types import GeneratorType
from typing import Any

import torch
from torch.nn.utils import clip_grad
from torch.optim import lr_scheduler
from torch.optim.optimizer import (
    Optimizer,
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from amplint.runtime import measure
from amplint.runtime.job import Detail
from amplint.runtime.known import gradient, parameters_of
from amplint.runtime.last_look import is_due
from amplint.runtime.patch import Patches
from amplint.runtime.record import Recorder
from amplint.runtime.site import NOWHERE, Site, site_of_caller, site_of_callers_caller
from amplint.runtime.trace import Kind

CLIP_FUNCTIONS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "clip_grad_norm")


class OptimizerHooks:
    """Watches optimizers, schedulers and clips of the program."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._handles: list[Any] = []

    def install(self, patches: Patches) -> None:
        """Wrap what cannot be hooked, and hook the steps of all optimizers."""
        patches.wrap(Optimizer, "__init__", self._init)
        patches.wrap(Optimizer, "zero_grad", self._zero_grad)
        patches.wrap(torch.nn.Module, "zero_grad", self._module_zero_grad)
        self._handles = [
            register_optimizer_step_pre_hook(self._before_step),
            register_optimizer_step_post_hook(self._after_step),
        ]
        for name in CLIP_FUNCTIONS:
            patches.wrap(torch.nn.utils, name, self._clip)
            if name in vars(clip_grad):
                patches.set(clip_grad, name, getattr(torch.nn.utils, name))
        patches.wrap(lr_scheduler.LRScheduler, "_initial_step", self._quietly)
        for scheduler in vars(lr_scheduler).values():
            if isinstance(scheduler, type) and "step" in vars(scheduler):
                patches.wrap(scheduler, "step", self._schedule)

    def remove(self) -> None:
        """Take the global hooks away; patches are undone by their owner."""
        for handle in self._handles:
            handle.remove()

    def _init(self, original: Any) -> Any:
        recorder = self._recorder

        def init(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            original(optimizer, *args, **kwargs)
            if recorder.is_on:
                recorder.known.add_optimizer(optimizer)

        return init

    def _quietly(self, original: Any) -> Any:
        recorder = self._recorder

        def initial_step(*args: Any, **kwargs: Any) -> Any:
            with recorder:
                return original(*args, **kwargs)

        return initial_step

    def _schedule(self, original: Any) -> Any:
        recorder = self._recorder

        def step(scheduler: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on:
                return original(scheduler, *args, **kwargs)
            optimizer = getattr(scheduler, "optimizer", None)
            number = recorder.known.add_optimizer(optimizer) if isinstance(optimizer, Optimizer) else None
            recorder.emit(Kind.SCHEDULE, optimizer=number, scheduler=recorder.known.number(scheduler))
            with recorder:  # a scheduler of schedulers steps them itself
                return original(scheduler, *args, **kwargs)

        return step

    def _zero_grad(self, original: Any) -> Any:
        recorder = self._recorder

        def zero_grad(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on:
                return original(optimizer, *args, **kwargs)
            recorder.emit(Kind.ZERO_GRAD, optimizers=recorder.known.sharers(optimizer))
            with recorder:
                return original(optimizer, *args, **kwargs)

        return zero_grad

    def _module_zero_grad(self, original: Any) -> Any:
        recorder = self._recorder

        def zero_grad(module: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on:
                return original(module, *args, **kwargs)
            with recorder:
                result = original(module, *args, **kwargs)
            cleared = [
                recorder.known.number(optimizer)
                for optimizer in recorder.known.optimizers()
                if not any(_is_live(parameter) for parameter in parameters_of(optimizer))
            ]
            recorder.emit(Kind.ZERO_GRAD, optimizers=cleared)
            return result

        return zero_grad

    def _clip(self, original: Any) -> Any:
        recorder = self._recorder

        def clip(parameters: Any, *args: Any, **kwargs: Any) -> Any:
            if not recorder.is_on:
                return original(parameters, *args, **kwargs)
            # The caller may hand over a generator, which can be read only once.
            given = [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)
            optimizers = recorder.known.optimizers_of(given)
            bound = args[0] if args else kwargs.get("max_norm")
            if isinstance(bound, int | float) and math.isinf(bound):  # only the norm is wanted
                data: dict[str, Any] = {"optimizers": optimizers, "caller": site_of_callers_caller()}
                recorder.emit(Kind.READ, function=original.__name__, is_assignment=False, **data)
            else:
                raises = bool(kwargs.get("error_if_nonfinite", False))
                recorder.emit(Kind.CLIP, function=original.__name__, optimizers=optimizers, raises=raises)
            with recorder:
                again = (each for each in given) if isinstance(parameters, GeneratorType) else given
                result = original(again, *args, **kwargs)
                if recorder.is_full and original.__name__ == "clip_grad_value_":
                    recorder.pending.max_value = float(args[0] if args else kwargs["clip_value"])
                elif recorder.is_full and isinstance(result, torch.Tensor) and original.__name__ == "clip_grad_norm_":
                    most = float(args[0] if args else kwargs["max_norm"])
                    recorder.pending.seen_norm = seen = float(result.item())
                    recorder.pending.max_norm = most
                    recorder.pending.clip_coefficient = min(1.0, most / (seen + 1e-6))
            return result

        return clip

    def _before_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        recorder = self._recorder
        if not recorder.is_on or recorder.is_in_scaler_step:
            return
        number = recorder.known.add_optimizer(optimizer)
        recorder.stop_if_enough(number)
        recorder.emit(
            Kind.OPTIMIZER_STEP,
            optimizer=number,
            regions=recorder.active_regions(),
            around=list(recorder.regions),
            caller=site_of_callers_caller(),
        )

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        recorder = self._recorder
        if recorder.is_on and not recorder.is_in_scaler_step:
            finish_step(recorder, optimizer, scaler=None, has_overflow=False)


def _is_live(parameter: torch.Tensor) -> bool:
    grad = gradient(parameter)
    return grad is not None and bool(grad.count_nonzero())


def _look(
    recorder: Recorder, optimizer: Optimizer, scaler: int | None, site: Site
) -> tuple[dict[str, Any], str | None]:
    """What the step left: whether parameters are finite, and zeros among unscaled gradients; and a hash of the former.

    All of it is looked at rarely once training has begun.
    """
    number = recorder.known.number(optimizer)
    steps = recorder.steps_of.get(number, 0)
    health: dict[str, Any] = {}
    found = None
    if is_due(steps):
        vectors = measure.joined(parameters_of(optimizer))
        health["has_bad_parameters"] = not measure.are_finite(vectors)
        found = measure.hash_of(vectors) if recorder.is_full else None
    recorder.last_looks.expect(number, optimizer, NOWHERE if health else site)
    is_power_of_two = steps & (steps + 1) == 0
    if scaler is None and recorder.has_float16 and is_power_of_two:
        health["zero_share"] = measure.zero_share(measure.gradients_of(optimizer))
    return health, found


def finish_step(recorder: Recorder, optimizer: Optimizer, *, scaler: int | None, has_overflow: bool) -> None:
    """Say that a step was made or skipped, with its numbers. The gradients are unscaled by now, unless nobody did."""
    number, site = recorder.known.number(optimizer), site_of_caller()
    health: dict[str, Any] = {}
    numbers: dict[str, Any] = {"is_applied": not has_overflow, "has_overflow": has_overflow, "site": site}
    if recorder.job.detail is not Detail.PACE:
        with recorder:
            health, numbers["parameters"] = _look(recorder, optimizer, scaler, site)
    recorder.emit(
        Kind.STEPPED,
        site,
        scaler=scaler,
        optimizer=number,
        is_applied=not has_overflow,
        sharing=recorder.known.sharers(optimizer),
        **health,
    )
    with recorder:
        numbers["learning_rate"] = float(optimizer.param_groups[0].get("lr", 0.0))
        if recorder.is_full or recorder.job.detail is Detail.PACE:
            numbers["memory"] = measure.peak_memory(recorder.job.device)
        if number not in recorder.sizes and not has_overflow:
            recorder.sizes[number] = measure.bytes_of(optimizer)
        if recorder.is_full:
            vectors = measure.joined(measure.gradients_of(optimizer))
            if vectors:
                numbers["norm"] = measure.norm_of(vectors)
                if recorder.pending.max_value is not None:
                    numbers["largest"] = measure.largest_of(vectors)
                if not recorder.job.treatment.is_autocast_on:
                    numbers["smallest"] = measure.smallest_of(vectors)
    recorder.finish_step(optimizer, numbers, is_by_scaler=scaler is not None)
