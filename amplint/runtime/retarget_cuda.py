"""Answers of `torch.cuda` for a program that was moved to the CPU; knows the module's names, nothing of tensors."""

import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import torch

from amplint.runtime.patch import Patches

_NOTHING = (
    "synchronize",
    "empty_cache",
    "set_device",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "reset_peak_memory_stats",
    "reset_max_memory_allocated",
    "ipc_collect",
    "init",
    "set_per_process_memory_fraction",
    "set_stream",
)
_ZERO = ("max_memory_allocated", "memory_allocated", "max_memory_reserved", "memory_reserved", "current_device")
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep


class Moment:
    """Stands for events and streams of CUDA: everything has happened by the time it is asked for."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.cuda_stream = 0

    def elapsed_time(self, other: object) -> float:
        """Milliseconds between two events."""
        return 0.0

    def query(self) -> bool:
        """Whether the work is done."""
        return True

    def __enter__(self) -> "Moment":
        return self

    def __exit__(self, *details: object) -> None:
        return None

    def record(self, *args: Any) -> None:
        """Nothing is to be recorded."""

    wait = synchronize = record_event = wait_event = wait_stream = record


def stand_in(patches: Patches, note: Callable[[], None]) -> None:
    """Make `torch.cuda` answer as if one GPU were there. note is called when the program asks."""
    cuda = torch.cuda
    for name in _NOTHING:
        patches.set(cuda, name, _answer(note, None))
    for name in _ZERO:
        patches.set(cuda, name, _answer(note, 0))
    for name, value in _FACTS.items():
        patches.set(cuda, name, _answer(note, value))
    patches.wrap(cuda, "is_available", lambda original: _for_programs(note, True, original))
    patches.wrap(cuda, "device_count", lambda original: _for_programs(note, 1, original))
    patches.set(cuda, "Event", Moment)
    patches.set(cuda, "Stream", Moment)
    patches.set(cuda, "stream", lambda stream: nullcontext())
    patches.set(cuda, "device", lambda device: nullcontext())
    patches.set(cuda, "current_stream", lambda device=None: Moment())
    patches.set(cuda, "default_stream", lambda device=None: Moment())
    patches.set(cuda.amp.common, "amp_definitely_not_available", lambda: False)


_FACTS: dict[str, Any] = {
    "is_bf16_supported": True,
    "is_initialized": True,
    "get_device_name": "CPU in place of CUDA",
    "get_device_capability": (8, 0),
    "memory_summary": "",
    "memory_stats": {},
    "mem_get_info": (2**34, 2**34),
    "get_device_properties": SimpleNamespace(
        name="CPU in place of CUDA", total_memory=2**34, major=8, minor=0, multi_processor_count=1
    ),
}


def _answer(note: Callable[[], None], value: Any) -> Callable[..., Any]:
    def answer(*args: Any, **kwargs: Any) -> Any:
        if not _is_torch():
            note()
        return value

    return answer


def _for_programs(note: Callable[[], None], value: Any, original: Any) -> Callable[..., Any]:
    """The true answer for torch itself, which would else call into CUDA."""

    def answer() -> Any:
        if _is_torch():
            return original()
        note()
        return value

    return answer


def _is_torch() -> bool:
    return sys._getframe(2).f_code.co_filename.startswith(_TORCH)
