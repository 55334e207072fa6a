"""Says of a loss whether it is a mean over its batch and nothing else: told from the graph that autograd kept.

Knows the nodes that torch's own losses leave; refuses to guess at formulas that a person may have written otherwise.
"""

import math
from collections.abc import Iterator
from typing import Any


def reduction_of(outputs: Any) -> str:
    """How a loss came about: 'mean' over a batch and nothing else after it, 'divided' or '' where it is not known."""
    root = outputs[0] if isinstance(outputs, list | tuple) and len(outputs) == 1 else outputs
    node = _bare(getattr(root, "grad_fn", None))
    if node is None:
        return ""
    try:
        if _is_mean(node) or _is_sum_of_means(node):
            return "mean"
    except RuntimeError:  # its saved tensors are freed: a loss that was used before
        return ""
    return "divided" if node.name().startswith(("DivBackward", "MulBackward")) else ""


def _is_mean(node: Any) -> bool:
    """Whether one call of torch made a mean."""
    if node is None:
        return False
    if node.name().startswith("MeanBackward") or getattr(node, "_saved_reduction", None) == 1:
        return True
    return _is_of_probabilities(node) or _is_smoothed(node) or _is_batch_mean_of_divergence(node)


def _is_sum_of_means(node: Any) -> bool:
    """Whether losses were added that are means, some of them with a weight, but not all: that might be a division."""
    parts = list(_addends(node))
    means = [_is_mean(part) for part in parts]
    weighted = (part.name().startswith("MulBackward") and _is_mean(_bare(_first(part))) for part in parts)
    return len(parts) > 1 and any(means) and all(mean or other for mean, other in zip(means, weighted, strict=True))


def _addends(node: Any) -> Iterator[Any]:
    for part, _ in node.next_functions if node.name().startswith(("AddBackward", "SubBackward")) else ((node, 0),):
        bare = _bare(part)
        if bare is not None:
            yield from (bare,) if bare is node or _is_mean(bare) else _addends(bare)


def _bare(node: Any) -> Any:
    """The node behind a change of dtype or sign."""
    while node is not None and node.name().startswith(("ToCopyBackward", "NegBackward")):
        node = _first(node)
    return node


def _is_of_probabilities(node: Any) -> bool:
    """`cross_entropy` with probabilities for targets: its sum is divided by the number of predictions."""
    total = _way(node, "DivBackward1", "NegBackward", "SumBackward0")
    products = [("MulBackward",), ("MulBackward", "MulBackward")]  # the second one where classes have weights
    if total is None or not any(_way(_first(total), *way, "LogSoftmaxBackward") for way in products):
        return False
    sizes = total._saved_self_sym_sizes
    return len(sizes) > 1 and bool(node._saved_other * sizes[1] == math.prod(sizes))


def _is_smoothed(node: Any) -> bool:
    """`cross_entropy` with smoothed labels: two means, weighted, one of them over all classes."""
    if not node.name().startswith("AddBackward"):
        return False
    hard = _way(_input(node, 0), "MulBackward", "NllLoss")
    even = _way(
        _input(node, 1), "MulBackward", "DivBackward", "SumBackward0", "MaskedFill", "NegBackward", "SumBackward1"
    )
    return hard is not None and even is not None and getattr(hard, "_saved_reduction", None) == 1


def _is_batch_mean_of_divergence(node: Any) -> bool:
    """`kl_div` with `batchmean`: its sum is divided by the length of the batch."""
    total = _way(node, "DivBackward", "SumBackward0")
    if total is None or _way(_first(total), "SubBackward") is None:
        return False
    return bool(node._saved_other == total._saved_self_sym_sizes[0])


def _input(node: Any, number: int) -> Any:
    following = node.next_functions
    return following[number][0] if len(following) > number else None


def _first(node: Any) -> Any:
    """What a node was computed from; a product's other side may need no gradient, and is left out."""
    return next((each for each, _ in node.next_functions if each is not None), None)


def _way(node: Any, *names: str) -> Any:
    """The last node of a way down the graph whose nodes have these names; None where there is no such way."""
    last = None
    for name in names:
        if node is None or not node.name().startswith(name):
            return None
        last, node = node, _first(node)
    return last
