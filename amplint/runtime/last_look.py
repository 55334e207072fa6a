"""Looks at parameters at every step while training begins, seldom later, and once more when nobody will step them.

Knows when to look; knows nothing of steps, nor of what the numbers mean for anyone.
"""

import os
import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch

from amplint.runtime import measure
from amplint.runtime.site import NOWHERE, Site

EVERY_STEP_UNTIL, OFTEN = 16, 8
"""Steps whose parameters are all looked at, and how many later ones to one look."""


def is_due(steps: int) -> bool:
    """Whether the parameters are looked at after a step that so many went before."""
    return steps < EVERY_STEP_UNTIL or steps % OFTEN == 0


@dataclass(slots=True)
class _Stepped:
    """An optimizer that made steps: its parameters, and the newest step that left them unseen (or NOWHERE)."""

    optimizer: "weakref.ref[torch.optim.Optimizer]"
    groups: list[dict[str, Any]]
    unseen: Site = NOWHERE


class LastLooks:
    """The last state of every optimizer's parameters: where the program drops the optimizer, or at its end.

    bad_steps are the steps that left an infinity or a NaN which no earlier look could see; hashes are by number.
    """

    def __init__(self, quietly: AbstractContextManager[Any], *, wants_hashes: bool) -> None:
        self._quietly = quietly
        self._owner = os.getpid()
        self._wants_hashes = wants_hashes
        self._stepped: dict[int, _Stepped] = {}
        self.bad_steps: list[Site] = []
        self.hashes: dict[int, str] = {}

    def expect(self, number: int, optimizer: torch.optim.Optimizer, unseen: Site) -> None:
        """Remember that an optimizer made a step. Its list of groups is held, and given up with the optimizer."""
        stepped = self._stepped.get(number)
        if stepped is None:
            reference = weakref.ref(optimizer, lambda _: self._look(number))
            self._stepped[number] = _Stepped(reference, optimizer.param_groups, unseen)
        else:
            stepped.groups, stepped.unseen = optimizer.param_groups, unseen

    def finish(self) -> None:
        """Look at what is still there at the end."""
        for number in sorted(self._stepped):
            self._look(number)

    def _look(self, number: int) -> None:
        stepped = self._stepped.pop(number, None)
        if stepped is None or os.getpid() != self._owner:  # a forked child drops its copies, too
            return
        with self._quietly:
            vectors = measure.joined(parameter for group in stepped.groups for parameter in group["params"])
            if stepped.unseen != NOWHERE and not measure.are_finite(vectors):
                self.bad_steps.append(stepped.unseen)
            if self._wants_hashes:
                self.hashes[number] = measure.hash_of(vectors)
