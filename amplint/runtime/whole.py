"""Gives a program float32 wherever it asks for half precision by itself: casts of its own would else meet float32.

Knows where torch takes a dtype from a program; knows nothing of autocast, which is another matter.
"""

from typing import Any

import torch

from amplint.runtime.patch import Patches
from amplint.runtime.site import is_called_by_user

HALF = (torch.float16, torch.bfloat16)
_CASTS = ("to", "type", "new_tensor", "new_empty", "new_full", "new_ones", "new_zeros")


def refuse_half(patches: Patches) -> None:
    """Patch tensors, modules and factories. What torch asks of itself stays."""
    for owner, names in ((torch.Tensor, _CASTS), (torch.nn.Module, ("to", "type"))):
        for name in names:
            patches.wrap(owner, name, _whole)
        for name in ("half", "bfloat16"):
            patches.wrap(owner, name, _float)
    for function in torch.utils._device._device_constructors():
        name = getattr(function, "__name__", "")
        if hasattr(torch, name):
            patches.wrap(torch, name, _whole)


def _whole(original: Any) -> Any:
    def function(*args: Any, **kwargs: Any) -> Any:
        if is_called_by_user():
            args = tuple(_plain(arg) for arg in args)
            kwargs = {name: _plain(value) for name, value in kwargs.items()}
        return original(*args, **kwargs)

    return function


def _plain(value: Any) -> Any:
    is_half = isinstance(value, torch.dtype) and value in HALF
    return torch.float32 if is_half else value


def _float(original: Any) -> Any:
    def cast(owner: Any) -> Any:
        return owner.float() if is_called_by_user() else original(owner)

    return cast
