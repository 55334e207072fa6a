"""The AMP names of PyTorch: signatures, since when, deprecated since when, and what replaces them.

Knows no program. Signatures are those of torch 2.13 and are tested against it; `since` was read in the wheels and
release sources (1.10 for torch.autocast, 2.3 for torch.amp.GradScaler, 2.4 for torch.amp.custom_fwd and the queries
that take a device). Since 2.4 the old names warn.
"""

from enum import StrEnum

from amplint.model.data import Value

Version = tuple[int, int]


class Slot(StrEnum):
    """What kind of value a parameter takes, as far as a mistake in it can be seen from the value's form."""

    DEVICE = "device type"
    DTYPE = "dtype"
    FLAG = "flag"
    NUMBER = "number"
    OTHER = "other"


_SLOTS = {
    "device": Slot.DEVICE,
    "device_type": Slot.DEVICE,
    "dtype": Slot.DTYPE,
    "cast_inputs": Slot.DTYPE,
    "enabled": Slot.FLAG,
    "cache_enabled": Slot.FLAG,
    "init_scale": Slot.NUMBER,
    "growth_factor": Slot.NUMBER,
    "backoff_factor": Slot.NUMBER,
    "growth_interval": Slot.NUMBER,
}


class Param(Value):
    """One parameter; default is Python source, None where the parameter must be given."""

    name: str
    default: str | None
    is_keyword_only: bool = False

    @property
    def slot(self) -> Slot:
        """What kind of value belongs here."""
        return _SLOTS.get(self.name, Slot.OTHER)


class Api(Value):
    """One callable. device is the device type that an old name implies; replacement is a dotted name."""

    name: str
    params: tuple[Param, ...]
    since: Version
    deprecated: Version | None = None
    replacement: str | None = None
    device: str | None = None
    is_query: bool = False

    @property
    def kind(self) -> str:
        """The last part of the name, such as autocast or custom_fwd."""
        return self.name.rpartition(".")[2]

    @property
    def positional(self) -> tuple[Param, ...]:
        """The parameters that may be given by position, in order."""
        return tuple(p for p in self.params if not p.is_keyword_only)

    def param(self, name: str) -> Param | None:
        """The parameter of that name."""
        return next((p for p in self.params if p.name == name), None)


def _params(text: str) -> tuple[Param, ...]:
    found: list[Param] = []
    is_keyword_only = False
    for part in filter(None, text.replace(" ", "").split(",")):
        if part == "*":
            is_keyword_only = True
            continue
        name, _, default = part.partition("=")
        found.append(Param(name, default or None, is_keyword_only))
    return tuple(found)


_SCALES = "init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True"
_NEW_AUTOCAST = "device_type, dtype=None, enabled=True, cache_enabled=None"
_NEW_SCALER = f"device='cuda', {_SCALES}"
_SHARDED = (
    "device='cuda', init_scale=65536.0, backoff_factor=0.5, growth_factor=2.0, growth_interval=2000, enabled=True, "
    "process_group=None"
)


def _old_autocast(device: str, dtype: str) -> Api:
    signature = _params(f"enabled=True, dtype=torch.{dtype}, cache_enabled=True")
    since = (1, 6) if device == "cuda" else (1, 10)
    return Api(f"torch.{device}.amp.autocast", signature, since, (2, 4), "torch.amp.autocast", device)


def _old_scaler(device: str) -> Api:
    since = (1, 6) if device == "cuda" else (2, 3)
    return Api(f"torch.{device}.amp.GradScaler", _params(_SCALES), since, (2, 4), "torch.amp.GradScaler", device)


def _query(name: str, signature: str = "", device: str | None = None, replacement: str | None = None) -> Api:
    deprecated, since = ((2, 4), (1, 10)) if replacement else (None, (2, 4))
    return Api(name, _params(signature), since, deprecated, replacement, device, is_query=True)


def _old_queries() -> list[Api]:
    """`torch.get_autocast_gpu_dtype` and the like: one family for each device, all replaced by one with a parameter."""
    found: list[Api] = []
    for word, device in (("gpu", "cuda"), ("cpu", "cpu"), ("xla", "xla"), ("ipu", "ipu")):
        found.append(_query(f"torch.get_autocast_{word}_dtype", "", device, "torch.get_autocast_dtype"))
        found.append(_query(f"torch.set_autocast_{word}_dtype", "dtype", device, "torch.set_autocast_dtype"))
        if word != "gpu":
            found.append(_query(f"torch.is_autocast_{word}_enabled", "", device, "torch.is_autocast_enabled"))
            found.append(_query(f"torch.set_autocast_{word}_enabled", "enabled", device, "torch.set_autocast_enabled"))
    return found


_ALL = (
    Api("torch.autocast", _params(_NEW_AUTOCAST), (1, 10)),
    Api("torch.amp.autocast", _params(_NEW_AUTOCAST), (1, 12)),
    Api("torch.GradScaler", _params(_NEW_SCALER), (2, 3)),
    Api("torch.amp.GradScaler", _params(_NEW_SCALER), (2, 3)),
    Api("torch.amp.custom_fwd", _params("fwd=None, *, device_type, cast_inputs=None"), (2, 4)),
    Api("torch.amp.custom_bwd", _params("bwd=None, *, device_type"), (2, 4)),
    Api("torch.amp.is_autocast_available", _params("device_type"), (2, 4), is_query=True),
    _old_autocast("cuda", "float16"),
    _old_autocast("cpu", "bfloat16"),
    _old_scaler("cuda"),
    _old_scaler("cpu"),
    Api(
        "torch.cuda.amp.custom_fwd",
        _params("fwd=None, *, cast_inputs=None"),
        (1, 6),
        (2, 4),
        "torch.amp.custom_fwd",
        "cuda",
    ),
    Api("torch.cuda.amp.custom_bwd", _params("bwd"), (1, 6), (2, 4), "torch.amp.custom_bwd", "cuda"),
    Api("torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler", _params(_SHARDED), (1, 12)),
    _query("torch.get_autocast_dtype", "device_type"),
    _query("torch.set_autocast_dtype", "device_type, dtype"),
    *_old_queries(),
)

APIS = {api.name: api for api in _ALL}

_SUBMODULES = {"autocast": "autocast_mode", "custom_fwd": "autocast_mode", "custom_bwd": "autocast_mode"} | {
    "GradScaler": "grad_scaler",
    "is_autocast_available": "autocast_mode",
}


def _aliases() -> dict[str, str]:
    found = {
        "torch.autocast_mode.autocast": "torch.autocast",
    }
    for api in _ALL:
        package, _, kind = api.name.rpartition(".")
        if package.endswith(".amp") and kind in _SUBMODULES:
            found[f"{package}.{_SUBMODULES[kind]}.{kind}"] = api.name
    return found


# Other dotted names of the same objects.
ALIASES = _aliases()
_LEADING = frozenset(name[:at] for name in (*APIS, *ALIASES) for at, sign in enumerate(name) if sign == ".")

# These are as old as autocast; what came in 2.4 is the device argument, and without one they mean CUDA, undeprecated.
DEVICE_QUERIES = {
    "torch.is_autocast_enabled": _query("torch.is_autocast_enabled", "device_type"),
    "torch.set_autocast_enabled": _query("torch.set_autocast_enabled", "device_type, enabled"),
}

# The public names of the packages; any other that is asked of them raises AttributeError.
PACKAGE_NAMES = {
    "torch.amp": frozenset(
        {"autocast", "custom_bwd", "custom_fwd", "GradScaler", "is_autocast_available", "autocast_mode", "grad_scaler"}
    ),
    "torch.cuda.amp": frozenset(
        {"autocast", "custom_bwd", "custom_fwd", "GradScaler", "amp_definitely_not_available"}
        | {"autocast_mode", "grad_scaler", "common"}
    ),
    "torch.cpu.amp": frozenset({"autocast", "GradScaler", "autocast_mode", "grad_scaler"}),
}

# Where people look for a name, and where it is.
WELL_MEANT = {
    "torch.amp.is_autocast_enabled": "torch.is_autocast_enabled",
    "torch.amp.get_autocast_dtype": "torch.get_autocast_dtype",
    "torch.amp.set_autocast_dtype": "torch.set_autocast_dtype",
    "torch.amp.clear_autocast_cache": "torch.clear_autocast_cache",
    "torch.cuda.amp.is_autocast_enabled": "torch.is_autocast_enabled",
    "torch.cuda.amp.get_autocast_dtype": "torch.get_autocast_dtype",
    "torch.cuda.amp.get_autocast_gpu_dtype": "torch.get_autocast_gpu_dtype",
    "torch.cuda.amp.is_bf16_supported": "torch.cuda.is_bf16_supported",
    "torch.cpu.amp.custom_fwd": "torch.amp.custom_fwd",
    "torch.cpu.amp.custom_bwd": "torch.amp.custom_bwd",
    "torch.backends.cuda.matmul.allow_bf16": "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_fp16": "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction",
    "torch.backends.cuda.matmul.allow_bf16_reduced_precision": (
        "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction"
    ),
    "torch.backends.cuda.matmul.allow_fp16_reduced_precision": (
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction"
    ),
}

MATMUL_NAMES = frozenset(
    {"allow_tf32", "fp32_precision", "allow_fp16_accumulation"}
    | {f"allow_{t}_reduced_precision_reduction{s}" for t in ("fp16", "bf16") for s in ("", "_split_k")}
)

# torch.backends.cudnn takes any attribute that is set on it and acts on none of these.
CUDNN_NEVER = frozenset({"allow_bf16", "allow_fp16", "allow_bf16_reduced_precision", "allow_fp16_reduced_precision"})

SCALER_METHODS = frozenset(
    {"scale", "unscale_", "step", "update", "is_enabled", "state_dict", "load_state_dict", "get_scale"}
    | {f"{verb}_{what}" for verb in ("get", "set") for what in ("growth_factor", "backoff_factor", "growth_interval")}
)
SCALER_PRIVATE = frozenset(
    {"_scale", "_init_scale", "_growth_factor", "_backoff_factor", "_growth_interval", "_growth_tracker", "_enabled"}
    | {"_device", "_per_optimizer_states", "_found_inf_per_device", "_unscale_grads_", "_maybe_opt_step"}
    | {"_check_inf_per_device", "_check_scale_growth_tracker", "_get_growth_tracker", "_get_scale_async"}
    | {"_init_growth_tracker", "_lazy_init_scale_growth_tracker", "_unscale_grads"}
)

# What a private or imagined attribute of a scaler was probably meant to be.
SCALER_WELL_MEANT = {
    "_found_inf": "the return value of `get_scale()` before and after `update()` tells whether a step was skipped",
    "found_inf": "the return value of `get_scale()` before and after `update()` tells whether a step was skipped",
    "unscale": "the method is `unscale_`",
    "_step": "the method is `step`",
    "backward": "use `scaler.scale(loss).backward()`",
    "get_scaler": "the method is `get_scale`",
    "scale_loss": "use `scaler.scale(loss).backward()`; `scale_loss` was apex",
    "loss_scale": "use `get_scale()`",
    "enabled": "the method is `is_enabled()`",
}

# What each name of apex.amp is in native PyTorch.
APEX_COUNTERPARTS = {
    "initialize": "drop it: keep the model in float32, create a `torch.amp.GradScaler` and put the forward pass "
    "under `torch.amp.autocast` (opt_level O1; O2 has no counterpart)",
    "init": "a `torch.amp.GradScaler` and `torch.amp.autocast`",
    "scale_loss": "`scaler.scale(loss).backward()`",
    "master_params": "`model.parameters()`, after `scaler.unscale_(optimizer)` where gradients are read",
    "state_dict": "`scaler.state_dict()`",
    "load_state_dict": "`scaler.load_state_dict()`",
    "disable_casts": "`torch.amp.autocast(..., enabled=False)`",
    "half_function": "`torch.amp.custom_fwd(..., cast_inputs=torch.float16)` or an autocast region",
    "float_function": "`torch.amp.custom_fwd(..., cast_inputs=torch.float32)` or a region with `enabled=False`",
    "promote_function": "autocast, which promotes by itself",
    "register_half_function": "an autocast region around the call",
    "register_float_function": "a region with `enabled=False` around the call",
    "register_promote_function": "autocast, which promotes by itself",
}


def api(dotted: str) -> Api | None:
    """The API that a dotted name stands for."""
    return APIS.get(ALIASES.get(dotted, dotted))


def leads_to_api(dotted: str) -> bool:
    """Whether an API lies somewhere in what a dotted name stands for."""
    return dotted in _LEADING


def package_of(dotted: str) -> str | None:
    """The AMP package in which a dotted name lies, or the package itself; None outside of them."""
    return next((p for p in PACKAGE_NAMES if dotted == p or dotted.startswith(f"{p}.")), None)
