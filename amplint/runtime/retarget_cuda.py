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
    "set_rng_state",
    "set_rng_state_all",
)
_ZERO = (
    "max_memory_allocated",
    "memory_allocated",
    "max_memory_reserved",
    "memory_reserved",
    "current_device",
    "initial_seed",
    "utilization",
)
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
    for name in ("range_push", "range_pop", "mark"):
        patches.set(cuda.nvtx, name, _answer(note, 0))
    patches.set(cuda.nvtx, "range", lambda *args, **kwargs: nullcontext())
    patches.set(cuda.nccl, "version", _answer(note, (2, 0, 0)))
    _old_types(patches)
    _accelerator(patches, note)


def _old_types(patches: Patches) -> None:
    """`torch.cuda.FloatTensor` and the like become the CPU's types, by name, too."""
    for name in [name for name in vars(torch) if name.endswith("Tensor") and hasattr(torch.cuda, name)]:
        patches.set(torch.cuda, name, getattr(torch, name))
    for owner, name in ((torch.Tensor, "type"), (torch, "set_default_tensor_type")):
        patches.wrap(owner, name, _with_types_of_the_cpu)


def _with_types_of_the_cpu(original: Any) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        given = [arg.replace("torch.cuda.", "torch.") if isinstance(arg, str) else arg for arg in args]
        return original(*given, **kwargs)

    return function


def _accelerator(patches: Patches, note: Callable[[], None]) -> None:
    """The module that asks for a GPU of any kind (torch 2.6 and later)."""
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator is None:
        return
    patches.wrap(accelerator, "is_available", lambda original: _for_programs(note, True, original))
    patches.wrap(accelerator, "device_count", lambda original: _for_programs(note, 1, original))
    device = torch.device("cuda", 0)
    patches.wrap(accelerator, "current_accelerator", lambda original: _for_programs(note, device, original))
    for name in ("synchronize", "set_device_index", "set_device_idx"):
        patches.wrap(accelerator, name, lambda original: _answer(note, None))
    for name in ("current_device_index", "current_device_idx"):
        patches.wrap(accelerator, name, lambda original: _answer(note, 0))


_FACTS: dict[str, Any] = {
    "is_bf16_supported": True,
    "is_initialized": True,
    "get_device_name": "CPU in place of CUDA",
    "get_device_capability": (8, 0),
    "memory_summary": "",
    "memory_stats": {},
    "get_rng_state": torch.zeros(16, dtype=torch.uint8),
    "get_rng_state_all": [torch.zeros(16, dtype=torch.uint8)],
    "is_current_stream_capturing": False,
    "get_arch_list": [],
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

    def answer(*args: Any, **kwargs: Any) -> Any:
        if _is_torch():
            return original(*args, **kwargs)
        note()
        return value

    return answer


def _is_torch() -> bool:
    return sys._getframe(2).f_code.co_filename.startswith(_TORCH)
