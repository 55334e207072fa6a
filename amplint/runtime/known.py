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
        self._owners: dict[int, tuple[int, ...]] = {}
        self._groups: tuple[object, ...] = ()

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

    def sharers(self, optimizer: torch.optim.Optimizer) -> list[int]:
        """The numbers of the optimizers that own any parameter of this one, which is one of them."""
        if len(self._optimizers) == 1 and self._optimizers[0]() is optimizer:
            return [self.number(optimizer)]
        return self.optimizers_of(parameters_of(optimizer))

    def optimizers_of(self, parameters: Iterable[torch.Tensor]) -> list[int]:
        """The numbers of the optimizers that own any of these parameters."""
        owners = self._owners_by_parameter()
        found: set[int] = set()
        for parameter in parameters:
            found.update(owners.get(id(parameter), ()))
            if len(found) == len(self._optimizers):
                break
        return [number for optimizer in self.optimizers() if (number := self.number(optimizer)) in found]

    def _owners_by_parameter(self) -> dict[int, tuple[int, ...]]:
        """Which optimizers own a parameter (by id). Made anew only where a list of parameters is another or longer."""
        groups = tuple(
            (self.number(optimizer), *((id(group["params"]), len(group["params"])) for group in optimizer.param_groups))
            for optimizer in self.optimizers()
        )
        if groups != self._groups:
            self._groups, self._owners = groups, {}
            for optimizer in self.optimizers():
                number = self.number(optimizer)
                for parameter in parameters_of(optimizer):
                    self._owners[id(parameter)] = (*self._owners.get(id(parameter), ()), number)
        return self._owners


def parameters_of(optimizer: torch.optim.Optimizer) -> Iterator[torch.Tensor]:
    """All parameters of an optimizer, group by group."""
    for group in optimizer.param_groups:
        yield from group["params"]


Mark = tuple[int, int] | None
"""Which gradient a parameter holds and how often that was written; None where it has none."""


def marks(optimizer: torch.optim.Optimizer) -> Iterator[Mark]:
    """A mark for each parameter, in order."""
    for grad in map(_GRAD.__get__, parameters_of(optimizer)):
        yield None if grad is None else (id(grad), grad._version)
