"""Numbers read off tensors: norms, hashes, bytes; knows nothing of when they are read."""

import math
import resource
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import torch

from amplint.runtime.known import gradient, parameters_of


def gradients_of(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """The dense gradients of an optimizer's parameters."""
    found = (gradient(parameter) for parameter in parameters_of(optimizer))
    return [grad.to_dense() if grad.is_sparse else grad for grad in found if grad is not None]


_SMALL = 2**14
"""Elements up to which tensors are joined: a call for each of many small ones costs more than copying them."""

_BLOCK = 2**17
"""Words that are hashed at once: the weights of their places are as large."""


def joined(tensors: Iterable[torch.Tensor]) -> list[torch.Tensor]:
    """The same elements in the same order in fewer vectors, neighbours that are small and alike in one."""
    found: list[torch.Tensor] = []
    small: list[torch.Tensor] = []
    kind: tuple[torch.dtype, int] | None = None
    with torch.no_grad():
        for tensor in tensors:
            is_large = tensor.numel() > _SMALL
            own = (tensor.dtype, tensor.get_device())
            if small and (is_large or own != kind):
                found.append(_flat(small))
                small = []
            if is_large:
                found.append(tensor.detach().reshape(-1))
            else:
                small.append(tensor)
                kind = own
        if small:
            found.append(_flat(small))
    return found


def _flat(tensors: list[torch.Tensor]) -> torch.Tensor:
    together: torch.Tensor = torch._C._nn.flatten_dense_tensors(tensors)
    return together


def norm_of(vectors: Sequence[torch.Tensor]) -> float:
    """The 2-norm of all, computed in at least float32."""
    norms = [
        torch.linalg.vector_norm(vector, dtype=torch.promote_types(vector.dtype, torch.float32)) for vector in vectors
    ]
    if len({norm.device for norm in norms}) > 1:
        norms = [norm.cpu() for norm in norms]
    return float((norms[0] if len(norms) == 1 else torch.linalg.vector_norm(torch.stack(norms))).item())


def smallest_of(vectors: Iterable[torch.Tensor]) -> float | None:
    """The smallest magnitude that is not zero."""
    found = []
    for vector in vectors:
        if vector.numel():
            magnitudes = vector.abs()
            found.append(float(magnitudes.masked_fill_(magnitudes == 0, math.inf).min().item()))
    smallest = min(found, default=math.inf)
    return None if smallest == math.inf else smallest


def largest_of(vectors: Iterable[torch.Tensor]) -> float:
    """The largest magnitude."""
    return max((float(vector.abs().max().item()) for vector in vectors if vector.numel()), default=0.0)


def hash_of(vectors: Iterable[torch.Tensor]) -> str:
    """A hash of the bits of all elements and of their places. Equal bits give equal hashes."""
    sums: list[torch.Tensor] = []
    for vector in vectors:
        words = _words(vector)
        for start in range(0, len(words), _BLOCK):
            block = words[start : start + _BLOCK]
            weights = _weights(block.device)[: len(block)]
            # Integers wrap around; only the CPU has a product of two integer vectors in one pass.
            sums.append(torch.dot(block, weights) if block.device.type == "cpu" else (block * weights).sum())
    total = 0
    for part in sums:
        total = (total * 31 + int(part.item())) % 2**64
    return f"{total:016x}"


def _words(vector: torch.Tensor) -> torch.Tensor:
    """The bits of a vector as integers of 64 bits, several elements in each where they fill it."""
    size = vector.element_size()
    if vector.numel() * size % 8 == 0 and vector.storage_offset() * size % 8 == 0 and size <= 8:
        return vector.view(torch.int64)
    if vector.is_complex():
        vector = torch.view_as_real(vector).reshape(-1)
        size = vector.element_size()
    return vector.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[size]).to(torch.int64)


@cache
def _weights(device: torch.device) -> torch.Tensor:
    """An odd number for each place: whatever changes in one place changes the sum."""
    return torch.arange(_BLOCK, device=device, dtype=torch.int64) * 0x1B873593_9E3779B2 + 1


def are_finite(vectors: Iterable[torch.Tensor]) -> bool:
    """Whether no element is an infinity or a NaN."""
    floating = [vector for vector in vectors if vector.is_floating_point()]
    if not floating:
        return True
    # A sum is finite unless an element is not (or the sum overflows), and costs a tenth of asking each element.
    sums = [vector.sum(dtype=torch.promote_types(vector.dtype, torch.float32)) for vector in floating]
    pairs = zip(sums, floating, strict=True)
    return all(math.isfinite(total.item()) or bool(vector.isfinite().all()) for total, vector in pairs)


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
