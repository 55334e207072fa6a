"""Finds the line that adds something unscaled to a scaled loss, from the second time on that a program does so.

Knows sums in the graph; additions are watched only once a mixed loss was seen: a right program pays for nothing.
"""

from typing import Any

import torch

from amplint.runtime.patch import Patches
from amplint.runtime.site import NOWHERE, Site, is_called_by_user, site_of_caller

SUMS = {
    torch.Tensor: ("__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "add", "add_", "sub", "sub_"),
    torch: ("add", "sub", "stack", "cat", "hstack"),
}
"""Functions that bring two losses together."""

SCALE_MARK = "amplint_scaler"
"""Key in a graph node's metadata that says by which scaler the node multiplied."""

_PLACE = "amplint_place"
MOST_CHANGES = 16
"""Operations between two multiplications with the scale that are followed."""

MOST_NODES = 20_000
"""Graph nodes looked at to see whether a loss is scaled in all its parts; a larger graph counts as scaled."""


def metadata_of(node: Any) -> dict[str, Any]:
    """The dictionary that autograd keeps for a node of the graph (its type hints call it a function)."""
    found: dict[str, Any] = node.metadata
    return found


def is_mixed(roots: list[torch.Tensor]) -> bool:
    """Whether a way leads from the loss to a leaf that passes by the multiplication with the scale.

    The graph may be walked after the backward: only its saved tensors are freed by then.
    """
    return any(not node.next_functions for node in _unscaled_part([root.grad_fn for root in roots]))


def _unscaled_part(nodes: list[Any]) -> list[Any]:
    """The nodes that are reached without passing by a multiplication with the scale; none where there are too many."""
    stack = [node for node in nodes if node is not None]
    seen: dict[Any, None] = {}
    while stack:
        node = stack.pop()
        if node in seen or SCALE_MARK in metadata_of(node):
            continue
        if len(seen) >= MOST_NODES:
            return []
        seen[node] = None
        stack.extend(following for following, _ in node.next_functions if following is not None)
    return list(seen)


def carries_scale(value: Any, scaler: int) -> bool:
    """Whether a loss, or one of several, was multiplied with the scale of a scaler, and then changed on its own alone.

    A loss with several parts is not followed: gradients of a scaled loss, divided again, may be among them.
    """
    if isinstance(value, list | tuple):
        return any(carries_scale(item, scaler) for item in value)
    node = value.grad_fn if isinstance(value, torch.Tensor) else None
    for _ in range(MOST_CHANGES):
        if node is None:
            return False
        if SCALE_MARK in metadata_of(node):
            return bool(metadata_of(node)[SCALE_MARK] == scaler)
        before = [following for following, _ in node.next_functions if following is not None]
        node = before[0] if len(before) == 1 else None
    return False


class MixingHooks:
    """Notes the places of sums between a `scale()` and the backward, once `arm` was called."""

    def __init__(self) -> None:
        self._window = Patches()
        self._is_armed = self._is_open = False

    def arm(self) -> None:
        """From now on sums are watched: the program mixes."""
        self._is_armed = True

    def open(self) -> None:
        """A loss was scaled: what is added to it may follow."""
        if self._is_armed and not self._is_open:
            self._is_open = True
            for place, names in SUMS.items():
                for name in names:
                    self._window.wrap(place, name, _noted)

    def close(self) -> None:
        """The backward begins."""
        if self._is_open:
            self._window.undo()
            self._is_open = False

    def place(self, roots: list[torch.Tensor]) -> Site:
        """The line of a sum of which one part is scaled and another is not."""
        for node in _unscaled_part([root.grad_fn for root in roots]):
            place: Site | None = metadata_of(node).get(_PLACE)
            if place is not None:
                parts = [_is_scaled_somewhere(part) for part, _ in node.next_functions if part is not None]
                if any(parts) and not all(parts):
                    return place
        return NOWHERE


def _is_scaled_somewhere(node: Any) -> bool:
    if SCALE_MARK in metadata_of(node):
        return True
    reached = _unscaled_part([node])
    return any(
        SCALE_MARK in metadata_of(part) for each in reached for part, _ in each.next_functions if part is not None
    )


def _noted(original: Any) -> Any:
    def noted(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        if isinstance(result, torch.Tensor) and result.grad_fn is not None and is_called_by_user():
            metadata_of(result.grad_fn)[_PLACE] = site_of_caller()
        return result

    return noted
