"""Says every way in which programs name CUDA; each function must run where there is none, and the names are printed."""

import io
import sys

import torch
from torch import nn

DEVICE = torch.device("cuda")


def modules():
    layer = nn.Linear(2, 2, device="cuda").cuda("cuda:0").to(0)
    nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(2)).cuda()
    nn.DataParallel(nn.Linear(2, 2).cuda(), device_ids=[0])(torch.ones(3, 2).cuda())
    torch.optim.AdamW(layer.parameters(), fused=True)
    assert next(layer.parameters()).is_cuda


def devices_by_default():
    with torch.device("cuda"):
        nn.Linear(2, 2)(torch.ones(1, 2))
    torch.set_default_device("cuda")
    torch.ones(2)
    torch.set_default_device("cpu")


def factories():
    ones = torch.ones(2, 2, device=DEVICE)
    for name in ("zeros", "ones", "empty", "rand", "randn"):
        getattr(torch, name)(2, device=DEVICE)
        getattr(torch, f"{name}_like")(ones, device="cuda:0")
    torch.full_like(ones, 1.0, device=DEVICE)
    torch.normal(0.0, 1.0, (2,), device=DEVICE)
    torch.arange(3, device=ones.device)
    torch.asarray([1.0], device="cuda")
    torch.sparse_coo_tensor([[0]], [1.0], (2,), device=DEVICE)
    ones.new_zeros(3, device=DEVICE)
    torch.ones(2, pin_memory=True)


def moves():
    ones = torch.ones(2).cuda(device=0, non_blocking=True)
    ones.to(torch.ones(3, device=DEVICE)).to("cuda", torch.float16)
    ones.to(dtype=torch.float16, device="cuda", non_blocking=True)
    ones.type(torch.cuda.FloatTensor).type("torch.cuda.HalfTensor")
    torch.cuda.LongTensor(3).zero_()
    assert ones.get_device() == 0
    assert ones.device.type == "cuda"


def generators():
    generator = torch.Generator(device="cuda").manual_seed(1)
    torch.randn(2, generator=generator, device="cuda")
    state = torch.cuda.get_rng_state()
    torch.cuda.set_rng_state(state)
    torch.cuda.set_rng_state_all(torch.cuda.get_rng_state_all())
    torch.cuda.manual_seed_all(3)


def regions():
    layer, ones = nn.Linear(2, 2).cuda(), torch.ones(2, 2, device=DEVICE)
    with torch.autocast(device_type=ones.device.type):
        assert layer(ones).dtype is torch.float16
        assert torch.is_autocast_enabled()
        assert torch.get_autocast_gpu_dtype() is torch.float16
    with torch.autocast("cuda", torch.bfloat16):
        assert layer(ones).dtype is torch.bfloat16
    torch.amp.GradScaler(DEVICE.type)
    torch.amp.GradScaler(device="cuda:0")


class Product(torch.autograd.Function):
    @staticmethod
    @torch.amp.custom_fwd(device_type="cuda", cast_inputs=torch.float32)
    def forward(ctx, left, right):
        assert left.dtype is torch.float32
        ctx.save_for_backward(left, right)
        return left @ right

    @staticmethod
    @torch.amp.custom_bwd(device_type="cuda")
    def backward(ctx, gradient):
        left, right = ctx.saved_tensors
        return gradient @ right.T, left.T @ gradient


def own_functions():
    left = torch.ones(2, 2, device=DEVICE, requires_grad=True)
    with torch.autocast("cuda"):
        loss = Product.apply(left @ left, left).sum()
    loss.backward()


def checkpoints():
    targets = ("cuda", DEVICE, None, {"cuda:0": "cuda:0"}, lambda storage, place: storage.cuda(0))
    for target in targets:
        file = io.BytesIO()
        torch.save({"weight": torch.ones(2, device=DEVICE)}, file)
        file.seek(0)
        torch.load(file, target)


def loaders():
    data = torch.utils.data.TensorDataset(torch.ones(4, 2))
    for (batch,) in torch.utils.data.DataLoader(data, 2, pin_memory=True, pin_memory_device="cuda"):
        batch.cuda(non_blocking=True)


def questions():
    assert torch.cuda.is_available()
    assert torch.cuda.device_count() == 1
    torch.cuda.get_device_properties(0).total_memory.bit_length()
    torch.cuda.get_device_name(0).upper()
    assert not torch.cuda.is_current_stream_capturing()
    torch.cuda.nccl.version()
    torch.cuda.max_memory_reserved(0)
    if hasattr(torch, "accelerator"):
        assert torch.accelerator.current_accelerator().type == "cuda"


def streams():
    stream, event = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    event.record()
    with torch.cuda.stream(stream), torch.cuda.device(0):
        moved = torch.ones(2).cuda()
    torch.cuda.current_stream().wait_stream(stream)
    moved.record_stream(stream)
    torch.cuda.synchronize()
    torch.cuda.nvtx.range_push("step")
    torch.cuda.nvtx.range_pop()


for name, function in list(vars(sys.modules["__main__"]).items()):
    if callable(function) and function.__module__ == "__main__" and not isinstance(function, type):
        function()
        print(name)
