"""Gives the scalers, optimizers and parameters of a run small numbers, and reads gradients without being seen.

Knows identities; knows nothing of the protocol.
"""

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch

# Read through the C descriptor: `torch.Tensor.grad` itself is watched while a program runs.
_GRAD: Any = torch._C.TensorBase.grad


def gradient(parameter: torch.Tensor) -> torch.Tensor | None:
    """The gradient of a parameter, read behind the back of the watched property."""
    found: torch.Tensor | None = _GRAD.__get__(parameter)
    return found


class Known:
    """Everything of this run that has a number. Holds nothing alive."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._count = 0
        self._optimizers: list[weakref.ref[torch.optim.Optimizer]] = []

    def number(self, thing: Any) -> int:
        """The number of a scaler, optimizer, parameter or region; given at first sight."""
        key = id(thing)
        entry = self._numbers.get(key)
        if entry is not None and entry[0]() is thing:
            return entry[1]
        self._count += 1
        self._numbers[key] = (weakref.ref(thing), self._count)
        return self._count

    def add_optimizer(self, optimizer: torch.optim.Optimizer) -> int:
        """Remember an optimizer, so that its parameters are looked at after each backward."""
        if all(reference() is not optimizer for reference in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))
        return self.number(optimizer)

    def optimizers(self) -> Iterator[torch.optim.Optimizer]:
        """The optimizers that are still alive."""
        for reference in self._optimizers:
            optimizer = reference()
            if optimizer is not None:
                yield optimizer

    def optimizers_of(self, parameters: Iterable[torch.Tensor]) -> list[int]:
        """The numbers of the optimizers that own any of these parameters."""
        wanted = {id(parameter) for parameter in parameters}
        return [
            self.number(optimizer)
            for optimizer in self.optimizers()
            if any(id(parameter) in wanted for parameter in parameters_of(optimizer))
        ]


def parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """All parameters of an optimizer, group by group."""
    for group in optimizer.param_groups:
        yield from group["params"]


Mark = tuple[int, int]


def marks(optimizers: Iterable[torch.optim.Optimizer]) -> dict[int, Mark | None]:
    """For each parameter (by id) which gradient it holds and how often that was written; None where it has none."""
    found: dict[int, Mark | None] = {}
    for optimizer in optimizers:
        for parameter in parameters_of(optimizer):
            grad = gradient(parameter)
            found[id(parameter)] = None if grad is None else (id(grad), grad._version)
    return found
