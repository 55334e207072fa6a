"""Lets a program that names CUDA run on the CPU: every way to hand torch a device, and what it asks about devices.

Knows where torch takes a device; knows nothing of what a run is for. Conclusions that do not carry over are in LIMITS.
"""

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.amp.grad_scaler import GradScaler

from amplint.runtime.patch import Patches
from amplint.runtime.retarget_cuda import stand_in
from amplint.runtime.site import is_called_by_user

LIMITS = (
    "CPU autocast keeps softmax, layer_norm, sum, exp and pow in half precision, where CUDA runs them in float32: "
    "overflows and small differences in them may be of this run only.",
    "Speed and memory of this run say nothing about a GPU, and CUDA kernels, graphs and streams were not run.",
)

_LIKE = ("empty", "full", "ones", "rand", "randint", "randn", "zeros")
_FACTORIES = {"normal", "asarray", "empty_permuted", *(f"{name}_like" for name in _LIKE)}
"""Functions that take a device beside those that torch itself lists."""

_BCE_MESSAGE = (
    "torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast.\n"
    "Many models use a sigmoid layer right before the binary cross entropy layer. In this case, combine the two layers "
    "using torch.nn.functional.binary_cross_entropy_with_logits or torch.nn.BCEWithLogitsLoss."
)


class Retarget:
    """Replaces CUDA by the CPU in a program, and counts what it replaced."""

    def __init__(self) -> None:
        self._used = False
        self._compiled = False

    def notes(self) -> list[str]:
        """What a person has to know of this run; nothing where the program never named CUDA."""
        if not self._used:
            return []
        notes = ["The program names CUDA; it was run on the CPU instead.", *LIMITS]
        return [*notes, "torch.compile was left out."] if self._compiled else notes

    def install(self, patches: Patches) -> None:
        """Patch every way in."""
        self._tensors(patches)
        self._factories(patches)
        self._amp(patches)
        self._others(patches)
        stand_in(patches, self._note)

    def _note(self) -> None:
        self._used = True

    def _cpu(self, device: Any) -> Any:
        """The CPU for a CUDA device by name, object or number; anything else as it is."""
        is_name = isinstance(device, str) and (device == "cuda" or device.startswith("cuda:"))
        is_object = isinstance(device, torch.device) and device.type == "cuda"
        if is_name or is_object or (isinstance(device, int) and not isinstance(device, bool)):
            self._used = True
            return "cpu"
        return device

    def _named(self, original: Any) -> Any:
        """A function whose device is its `device` argument."""

        def function(*args: Any, **kwargs: Any) -> Any:
            if kwargs.get("device") is not None:
                kwargs["device"] = self._cpu(kwargs["device"])
            if kwargs.pop("pin_memory", False):
                self._used = True
            return original(*args, **kwargs)

        return function

    def _moved(self, original: Any) -> Any:
        """`Tensor.to` and `Module.to`: the first argument may be a device, a dtype or a tensor."""

        def to(moved: Any, *args: Any, **kwargs: Any) -> Any:
            if args:
                args = (self._cpu(args[0]), *args[1:])
            if kwargs.get("device") is not None:
                kwargs["device"] = self._cpu(kwargs["device"])
            return original(moved, *args, **kwargs)

        return to

    def _stays(self, original: Any) -> Any:
        def stay(moved: Any, *args: Any, **kwargs: Any) -> Any:
            self._used = True
            return moved

        return stay

    def _tensors(self, patches: Patches) -> None:
        for owner in (torch.Tensor, torch.nn.Module):
            patches.wrap(owner, "to", self._moved)
            patches.wrap(owner, "cuda", self._stays)
        patches.wrap(torch.Tensor, "pin_memory", self._stays)
        patches.set(torch.Tensor, "record_stream", lambda tensor, stream: None)
        patches.wrap(torch.nn.Module, "to_empty", self._named)
        for name in ("new_tensor", "new_empty", "new_full", "new_ones", "new_zeros"):
            patches.wrap(torch.Tensor, name, self._named)
        patches.wrap(torch.Tensor, "get_device", self._index)
        for storage in (torch.storage.UntypedStorage, torch.storage.TypedStorage):
            patches.wrap(storage, "cuda", self._stays)
        for name, seen in (("device", torch.device("cuda", 0)), ("is_cuda", True)):
            descriptor: Any = getattr(torch._C.TensorBase, name)
            patches.set(torch.Tensor, name, property(functools.partial(self._shown, descriptor, seen)))

    def _shown(self, descriptor: Any, seen: Any, tensor: torch.Tensor) -> Any:
        """The program sees CUDA tensors once it asked for CUDA; torch itself sees what is there."""
        if self._used and is_called_by_user():
            return seen
        return descriptor.__get__(tensor)

    def _index(self, original: Any) -> Any:
        return lambda tensor: 0 if self._used and is_called_by_user() else original(tensor)

    def _factories(self, patches: Patches) -> None:
        from torch.utils import _device

        for name in {getattr(function, "__name__", "") for function in _device._device_constructors()} | _FACTORIES:
            if hasattr(torch, name):
                patches.wrap(torch, name, self._named)
        patches.wrap(torch, "set_default_device", self._first)
        patches.wrap(_device.DeviceContext, "__init__", self._second)
        cpu, base = self._cpu, torch.Generator

        class Generator(base):  # type: ignore[misc, valid-type]
            def __new__(cls, device: Any = "cpu") -> Any:
                return super().__new__(cls, device=cpu(device))

            def __init__(self, device: Any = "cpu") -> None:
                super().__init__()

        patches.set(torch, "Generator", Generator)

    def _first(self, original: Any) -> Any:
        return lambda device, *args, **kwargs: original(self._cpu(device), *args, **kwargs)

    def _second(self, original: Any) -> Any:
        return lambda instance, device, *args, **kwargs: original(instance, self._cpu(device), *args, **kwargs)

    def _amp(self, patches: Patches) -> None:
        autocast = torch.amp.autocast_mode.autocast
        patches.wrap(autocast, "__init__", self._region)
        patches.wrap(GradScaler, "__init__", self._scaler)
        for name in ("custom_fwd", "custom_bwd"):
            for owner in (torch.amp, torch.amp.autocast_mode):
                patches.wrap(owner, name, self._typed)
        for name in ("is_autocast_enabled", "get_autocast_dtype", "set_autocast_enabled", "set_autocast_dtype"):
            patches.wrap(torch, name, self._asked)
        patches.wrap(torch.nn.functional, "binary_cross_entropy", self._banned)

    def _region(self, original: Any) -> Any:
        def init(region: Any, device_type: Any, dtype: Any = None, *args: Any, **kwargs: Any) -> None:
            if device_type == "cuda":
                self._used = True
                device_type, dtype = "cpu", torch.float16 if dtype is None else dtype
            original(region, device_type, dtype, *args, **kwargs)

        return init

    def _scaler(self, original: Any) -> Any:
        def init(scaler: Any, device: Any = "cuda", *args: Any, **kwargs: Any) -> None:
            original(scaler, self._cpu(device) if isinstance(device, str) else device, *args, **kwargs)

        return init

    def _typed(self, original: Any) -> Any:
        def decorate(*args: Any, **kwargs: Any) -> Any:
            kwargs["device_type"] = self._cpu(kwargs.get("device_type"))
            return original(*args, **kwargs)

        return decorate

    def _asked(self, original: Any) -> Any:
        """Functions about autocast, whose first argument may be a device type; without it they mean CUDA."""

        def function(*args: Any) -> Any:
            if args and isinstance(args[0], str):
                args = (self._cpu(args[0]), *args[1:])
            elif self._used:
                args = ("cpu", *args)
            return original(*args)

        return function

    def _banned(self, original: Any) -> Any:
        def binary_cross_entropy(*args: Any, **kwargs: Any) -> Any:
            if self._used and torch.is_autocast_enabled("cpu"):
                raise RuntimeError(_BCE_MESSAGE)
            return original(*args, **kwargs)

        return binary_cross_entropy

    def _others(self, patches: Patches) -> None:
        patches.wrap(torch, "load", self._loaded)
        patches.wrap(torch, "compile", self._uncompiled)
        patches.wrap(torch.utils.data.DataLoader, "__init__", self._unpinned)
        patches.wrap(torch.nn.parallel.DistributedDataParallel, "__init__", self._undevoted)
        if torch.distributed.is_available():
            patches.wrap(torch.distributed, "init_process_group", self._over_gloo)

    def _loaded(self, original: Any) -> Any:
        def load(*args: Any, **kwargs: Any) -> Any:
            where = kwargs.get("map_location", args[1] if len(args) > 1 else None)
            if isinstance(where, dict):
                where = {key: self._cpu(value) for key, value in where.items()}
            elif not callable(where):
                where = "cpu" if where is None else self._cpu(where)
            if len(args) > 1:
                return original(args[0], where, *args[2:], **kwargs)
            return original(*args, **kwargs | {"map_location": where})

        return load

    def _uncompiled(self, original: Any) -> Any:
        def compile(model: Any = None, **kwargs: Any) -> Any:
            if not self._used:
                return original(model, **kwargs)
            self._compiled = True
            return (lambda function: function) if model is None else model

        return compile

    def _unpinned(self, original: Any) -> Any:
        return self._without(original, pin_memory=False)

    def _undevoted(self, original: Any) -> Any:
        return self._without(original, device_ids=None, output_device=None)

    def _without(self, original: Any, **replaced: Any) -> Callable[..., None]:
        def init(instance: Any, *args: Any, **kwargs: Any) -> None:
            original(instance, *args, **kwargs | {name: value for name, value in replaced.items() if name in kwargs})

        return init

    def _over_gloo(self, original: Any) -> Any:
        def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> Any:
            if isinstance(backend, str) and "nccl" in backend:
                self._used, backend = True, "gloo"
            kwargs.pop("device_id", None)
            return original(backend, *args, **kwargs)

        return init_process_group
