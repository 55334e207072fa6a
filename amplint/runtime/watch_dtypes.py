"""Counts the floating-point operations of a run by dtype, below autocast, where the casts have been made."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from amplint.runtime.record import Recorder

COUNTED = (
    "mm",
    "addmm",
    "bmm",
    "baddbmm",
    "convolution",
    "_scaled_dot_product",
    "linear",
    "_softmax",
    "native_layer_norm",
)
"""The operations that autocast is about; element-wise ones follow their inputs."""


class DtypeCounter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts as `addmm float16` for the step in progress."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._recorder = recorder

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation, and count it."""
        result = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        first = result[0] if isinstance(result, tuple | list) and result else result
        if name.startswith(COUNTED) and isinstance(first, torch.Tensor) and first.is_floating_point():
            self._recorder.pending.dtypes[f"{name} {str(first.dtype).removeprefix('torch.')}"] += 1
        return result
