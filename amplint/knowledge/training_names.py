"""The names under which scalers, optimizers, schedulers, autocast and frameworks are made; knows no code."""

from collections.abc import Callable

IsName = Callable[[str], bool]

SCALERS = frozenset(
    {
        "torch.GradScaler",
        "torch.amp.GradScaler",
        "torch.amp.grad_scaler.GradScaler",
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
_OPTIMIZER_PACKAGES = ("torch.optim.", "transformers.", "torch_optimizer.", "timm.optim.", "bitsandbytes.optim.")
_OPTIMIZER_ENDINGS = ("adam", "adamw", "sgd", "lamb", "lion", "adafactor", "adagrad", "rmsprop", "radam", "optimizer")


def is_scaler(name: str) -> bool:
    """Whether calling this makes a gradient scaler."""
    return name in SCALERS or name in SHARDED_SCALERS


def is_optimizer(name: str) -> bool:
    """Whether calling this makes an optimizer."""
    if ".lr_scheduler." in name:
        return False
    last = name.rpartition(".")[2].lower()
    return name.startswith(_OPTIMIZER_PACKAGES) and last.endswith(_OPTIMIZER_ENDINGS)


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
