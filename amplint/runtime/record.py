"""The recorder of one run: passes events to those who listen, keeps the numbers of the step in progress, ends the run.

Knows the shared state of all hooks; knows nothing of which function each of them hooks.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from amplint.runtime.job import Detail, Job
from amplint.runtime.known import Known
from amplint.runtime.last_look import LastLooks
from amplint.runtime.site import NOWHERE, Site, site_of_caller
from amplint.runtime.trace import Event, Handlers, Kind, Step


class EnoughStepsError(BaseException):
    """Ends the user's program after the steps that were asked for; no `except Exception` of theirs catches it."""


# The function behind `torch.is_autocast_enabled`, which may be retargeted.
_is_on: Any = torch._C.is_autocast_enabled


def is_autocast_on() -> bool:
    """Whether autocast is on, on the CPU or a GPU, at this moment."""
    try:
        return bool(_is_on("cuda") or _is_on("cpu"))
    except TypeError:  # before torch 2.4 the function took no device
        return bool(_is_on() or torch._C.is_autocast_cpu_enabled())


@dataclass(slots=True)
class Backward:
    """A backward in progress: which scalers' factors its gradients went through."""

    scalers: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Pending:
    """What is known so far of the iteration that the next step will end."""

    loss: float | None = None
    scale: float | None = None
    seen_norm: float | None = None
    max_norm: float | None = None
    max_value: float | None = None
    clip_coefficient: float | None = None
    dtypes: Counter[str] = field(default_factory=Counter)


class Recorder:
    """What the hooks of one run share."""

    def __init__(self, job: Job) -> None:
        self.job = job
        # Whether numbers are wanted, not only events.
        self.is_full = job.detail in (Detail.FULL, Detail.OPERATIONS)
        self.known = Known()
        self._listeners: dict[Kind, list[Callable[[Event], None]]] = {kind: [] for kind in Kind}
        self.step_listeners: list[Callable[[Step], None]] = []
        self.pending = Pending()
        self.backwards: list[Backward] = []
        self.backwards_into: Counter[int] = Counter()
        self.scales = 0
        self.reduction = ""
        self.has_float16 = False
        self._scaler_steps = 0
        self.regions: list[int] = []
        self.steps_of: dict[int, int] = {}
        self.last_looks = LastLooks(self, wants_hashes=self.is_full)
        self.is_distributed = "WORLD_SIZE" in os.environ
        self._quiet = 0
        # A forked child is another process: its events are not of this run.
        os.register_at_fork(after_in_child=self.__enter__)
        self.sizes: dict[int, dict[str, int]] = {}
        self._steps = 0
        self._clock = time.perf_counter()
        self._stops = 0

    @property
    def is_on(self) -> bool:
        """Whether this is the process that is recorded and no hook of ours is at work."""
        return self._quiet == 0

    def __enter__(self) -> None:
        """What happens inside belongs to a function already recorded: its own calls make no events."""
        self._quiet += 1

    def __exit__(self, *details: object) -> None:
        self._quiet -= 1

    def active_regions(self) -> list[int]:
        """The regions that the program stands in, outermost first; none where autocast is off inside them."""
        return list(self.regions) if self.regions and is_autocast_on() else []

    @property
    def is_in_scaler_step(self) -> bool:
        """Whether a scaler is stepping an optimizer at this moment."""
        return self._scaler_steps > 0

    @contextmanager
    def inside_step(self) -> Iterator[None]:
        """What happens inside is the scaler's own doing, but for the closure that it may call."""
        self._scaler_steps += 1
        try:
            yield
        finally:
            self._scaler_steps -= 1

    def listen(self, handlers: Handlers) -> None:
        """Have a handler called for each event of its kind, after those that listen already."""
        for kind, handler in handlers.items():
            self._listeners[kind].append(handler)

    def emit(self, kind: Kind, site: Site | None = None, **data: Any) -> None:
        """Tell the listeners what the user's program just did, from the frame that did it."""
        listeners = self._listeners[kind]
        if not listeners:
            return
        event = Event(kind, site_of_caller() if site is None else site, data)
        for listener in listeners:
            listener(event)

    def finish_step(self, optimizer: torch.optim.Optimizer, numbers: dict[str, Any], *, is_by_scaler: bool) -> None:
        """Close the iteration of an optimizer with the numbers of its step."""
        number = self.known.number(optimizer)
        self.steps_of[number] = self.steps_of.get(number, 0) + 1
        now = time.perf_counter()
        pending, self.pending = self.pending, Pending()
        step = Step(
            index=self._steps,
            optimizer=number,
            loss=pending.loss,
            scale=pending.scale,
            seen_norm=pending.seen_norm,
            max_norm=pending.max_norm,
            max_value=pending.max_value,
            clip_coefficient=pending.clip_coefficient,
            backwards=self.backwards_into.pop(number, 0),
            scales=self.scales if is_by_scaler else None,
            dtypes=pending.dtypes,
            seconds=now - self._clock,
            **numbers,
        )
        self._steps += 1
        for listener in self.step_listeners:
            listener(step)
        self._clock = time.perf_counter()

    def stop_if_enough(self, optimizer: int | None = None) -> None:
        """End the program where its next iteration begins.

        That is at a backward or a forward region once every optimizer made its steps, or where one is about to make one
        step too many. Ending inside the step would leave the scaler without its update.
        """
        wanted = self.job.steps
        if wanted is None or not self.steps_of or not self.is_on:
            return
        if min(self.steps_of.values()) >= wanted or (optimizer and self.steps_of.get(optimizer, 0) >= wanted):
            self._stops += 1
            if self._stops > 3:  # a bare `except:` keeps the program going
                self.emit(Kind.END, NOWHERE)
                os._exit(0)
            raise EnoughStepsError
