"""Numbers read off tensors: norms, hashes, bytes; knows nothing of when they are read."""

import resource
from collections.abc import Iterable, Iterator

import torch

from amplint.runtime.known import gradient, parameters_of


def gradients_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The dense gradients of an optimizer's parameters."""
    found = (gradient(parameter) for parameter in parameters_of(optimizer))
    return [grad.to_dense() if grad.is_sparse else grad for grad in found if grad is not None]


def flat(tensors: Iterable[torch.Tensor]) -> torch.Tensor | None:
    """All elements in one vector of the first tensor's device and the widest dtype; None where there are none."""
    parts = [tensor.detach().reshape(-1) for tensor in tensors]
    if not parts:
        return None
    with torch.no_grad():
        dtypes, devices = {part.dtype for part in parts}, {part.device for part in parts}
        if len(dtypes) > 1 or len(devices) > 1:
            parts = [part.to(device=parts[0].device, dtype=torch.float64) for part in parts]
        return torch.cat(parts)


def norm_of(vector: torch.Tensor) -> float:
    """The 2-norm, computed in at least float32."""
    return float(torch.linalg.vector_norm(vector, dtype=torch.promote_types(vector.dtype, torch.float32)).item())


def smallest_of(vector: torch.Tensor) -> float | None:
    """The smallest magnitude that is not zero."""
    magnitudes = vector.abs()
    magnitudes = magnitudes[magnitudes > 0]
    return float(magnitudes.min().item()) if magnitudes.numel() else None


def hash_of(optimizer: torch.optim.Optimizer) -> str:
    """A hash of the bits of all parameters. Equal bits give equal hashes on the same kind of device."""
    vector = flat(parameters_of(optimizer))
    if vector is None:
        return ""
    # A sum of the bits costs one pass and, on a GPU, one transfer of eight bytes.
    width = {2: torch.int16, 4: torch.int32, 8: torch.int64}[vector.element_size()]
    if vector.numel() * vector.element_size() % 8 == 0:
        width = torch.int64
    return f"{int(vector.view(width).sum(dtype=torch.int64).item()) & (2**64 - 1):016x}"


def are_finite(tensors: Iterable[torch.Tensor]) -> bool:
    """Whether no element is an infinity or a NaN."""
    dense = [tensor.detach() for tensor in tensors if tensor.is_floating_point() and tensor.layout is torch.strided]
    if not dense or len({tensor.device for tensor in dense}) > 1:
        return True
    # One pass over all of them; the norm is finite unless an element is not (or the norm itself overflows).
    norms = torch._foreach_norm(dense)
    return bool(torch.isfinite(torch.stack([norm.float() for norm in norms])).all().item())


def zero_share(gradients: Iterable[torch.Tensor]) -> float:
    """The share of exact zeros in the gradients of matrices; rows of zeros (embeddings) are left out."""
    zeros = total = 0
    for grad in gradients:
        if grad.ndim >= 2:
            rows = grad.reshape(len(grad), -1)
            used = rows if bool((rows == 0).all()) else rows[(rows != 0).any(dim=1)]
            zeros += int((used == 0).sum().item())
            total += used.numel()
    return zeros / total if total else 0.0


def peak_memory(device: str) -> int:
    """The most bytes held so far: allocated on the GPU, else resident in the process."""
    if device == "cuda":
        return int(torch.cuda.max_memory_allocated())
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _size(tensors: Iterable[torch.Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def _state_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    for entries in optimizer.state.values():
        values = entries.values() if isinstance(entries, dict) else ()
        yield from (value for value in values if isinstance(value, torch.Tensor))


def bytes_of(optimizer: torch.optim.Optimizer) -> dict[str, int]:
    """How many parameters an optimizer serves, and the bytes of weights, gradients and its own state."""
    parameters = list(parameters_of(optimizer))
    return {
        "parameters": sum(parameter.numel() for parameter in parameters),
        "weights": _size(parameters),
        "gradients": _size(gradients_of(optimizer)),
        "state": _size(_state_of(optimizer)),
    }
