"""Runs what a program wants to spawn as its only process in the process that is watched.

Programs start one process for each GPU; with one GPU, or none, that is the whole training.
"""

import sys
from typing import Any

import torch.multiprocessing

from amplint.runtime.patch import Patches


def keep_the_only_process_here(patches: Patches) -> None:
    """Patch `torch.multiprocessing.spawn` and its module, whose function has the same name."""
    for owner in (torch.multiprocessing, sys.modules["torch.multiprocessing.spawn"]):
        patches.wrap(owner, "spawn", _spawn)


def _spawn(original: Any) -> Any:
    def spawn(fn: Any, args: Any = (), nprocs: int = 1, join: bool = True, *others: Any, **named: Any) -> Any:
        if nprocs != 1 or not join:
            return original(fn, args, nprocs, join, *others, **named)
        fn(0, *args)
        return None

    return spawn
