"""The names under which scalers, optimizers, schedulers, autocast and frameworks are made; knows no code."""

from collections.abc import Callable

IsName = Callable[[str], bool]

# device comes first in these, init_scale in the others
DEVICE_FIRST_SCALERS = frozenset({"torch.GradScaler", "torch.amp.GradScaler", "torch.amp.grad_scaler.GradScaler"})
SCALERS = DEVICE_FIRST_SCALERS | frozenset(
    {
        "torch.cuda.amp.GradScaler",
        "torch.cuda.amp.grad_scaler.GradScaler",
        "torch.cpu.amp.GradScaler",
        "torch.cpu.amp.grad_scaler.GradScaler",
    }
)
SHARDED_SCALERS = frozenset(
    {
        "torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler",
        "fairscale.optim.grad_scaler.ShardedGradScaler",
        "fairscale.optim.ShardedGradScaler",
    }
)
# Subclasses and copies for other devices and libraries, which keep the same protocol and the same state.
SCALER_CLASSES = (
    SCALERS
    | SHARDED_SCALERS
    | {
        "torch.npu.amp.GradScaler",
        "torch.xpu.amp.GradScaler",
        "fairscale.optim.grad_scaler.GradScaler",
        "torch_npu.npu.amp.GradScaler",
        "torch_xla.amp.GradScaler",
    }
)
# device_type comes first in these, enabled in the others
DEVICE_FIRST_AUTOCASTS = frozenset({"torch.autocast", "torch.amp.autocast", "torch.amp.autocast_mode.autocast"})
AUTOCASTS = DEVICE_FIRST_AUTOCASTS | {
    "torch.cuda.amp.autocast",
    "torch.cuda.amp.autocast_mode.autocast",
    "torch.cpu.amp.autocast",
    "torch.cpu.amp.autocast_mode.autocast",
}
# https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py: get_autocast_dtype of each device
DEFAULT_DTYPES = {"cuda": "float16", "cpu": "bfloat16", "xpu": "float16", "mps": "float16", "npu": "float16"}
FSDP = frozenset(
    {
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel",
    }
)
CLIPS = frozenset(
    {
        "torch.nn.utils.clip_grad_norm_",
        "torch.nn.utils.clip_grad_value_",
        "torch.nn.utils.clip_grad.clip_grad_norm_",
        "torch.nn.utils.clip_grad.clip_grad_value_",
    }
)
ACCELERATORS = frozenset({"accelerate.Accelerator", "accelerate.accelerator.Accelerator"})
FABRICS = frozenset({"lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric"})
LIGHTNING_MODULES = frozenset(
    {
        "lightning.LightningModule",
        "lightning.pytorch.LightningModule",
        "pytorch_lightning.LightningModule",
        "pytorch_lightning.core.LightningModule",
        "pytorch_lightning.core.lightning.LightningModule",
    }
)
# Optimizers outside torch.optim that behave as torch's own do.
_OPTIMIZER_PACKAGES = (
    *("torch.optim.", "apex.optimizers.", "bitsandbytes.optim.", "timm.optim."),
    *("torch_optimizer.", "pytorch_optimizer.", "prodigyopt.", "dadaptation.", "schedulefree."),
)
_OPTIMIZERS = frozenset(
    {
        "transformers.AdamW",
        "transformers.Adafactor",
        "transformers.optimization.AdamW",
        "transformers.optimization.Adafactor",
        "torch.distributed.optim.ZeroRedundancyOptimizer",
        "lion_pytorch.Lion",
    }
)
_NO_OPTIMIZERS = ("torch.optim.lr_scheduler.", "torch.optim.swa_utils.")


def is_scaler(name: str) -> bool:
    """Whether calling this makes a gradient scaler."""
    return name in SCALER_CLASSES


def enabled_at(name: str) -> int | None:
    """The position of `enabled` among the positional arguments of a scaler, None where versions or classes differ."""
    return 5 if name in DEVICE_FIRST_SCALERS else 4 if name in SCALERS else None


def is_optimizer(name: str) -> bool:
    """Whether calling this makes an optimizer of torch, or of a library like it."""
    return name in _OPTIMIZERS or (name.startswith(_OPTIMIZER_PACKAGES) and not name.startswith(_NO_OPTIMIZERS))


def is_scheduler(name: str) -> bool:
    """Whether calling this makes a learning-rate scheduler of torch or transformers."""
    last = name.rpartition(".")[2]
    if name.startswith(("torch.optim.lr_scheduler.", "torch.optim.swa_utils.SWALR")):
        return True
    packages = ("transformers.", "diffusers.optimization.", "timm.scheduler.")
    return name.startswith(packages) and "schedule" in last.lower()


def is_accelerator(name: str) -> bool:
    """Whether calling this makes an accelerate Accelerator."""
    return name in ACCELERATORS


def is_fabric(name: str) -> bool:
    """Whether calling this makes a Lightning Fabric."""
    return name in FABRICS
