"""Custom autograd functions: their forward and backward, how these are decorated, what they compute.

Refuses to know what a compiled extension does with the dtypes that it gets.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.tree import Attribute, Binary, Call, ClassDef, Expr, FunctionDef, Node
from amplint.model.walks import own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_FUNCTION_BASES = frozenset(
    {"torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction"}
)
_FORWARD_DECORATORS = frozenset(
    {"torch.amp.custom_fwd", "torch.cuda.amp.custom_fwd", "torch.amp.autocast_mode.custom_fwd"}
)
_BACKWARD_DECORATORS = frozenset(
    {"torch.amp.custom_bwd", "torch.cuda.amp.custom_bwd", "torch.amp.autocast_mode.custom_bwd"}
)
# what CUDA autocast runs in half precision: matrix products and convolutions
_HALF_OPERATIONS = frozenset(
    {
        *("matmul", "mm", "bmm", "addmm", "addbmm", "baddbmm", "addmv", "mv", "einsum", "chain_matmul", "multi_dot"),
        *("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    }
)
# what a backward may compute besides these: the gradients of a convolution
_GRADIENTS = frozenset(f"conv{n}d_{of}" for n in (1, 2, 3) for of in ("input", "weight"))
_STATE_QUERIES = frozenset(
    {"is_autocast_enabled", "get_autocast_dtype", "get_autocast_gpu_dtype", "set_autocast_enabled", "autocast"}
)


class Swapped(Value):
    """A decorator that stands on the wrong method: the forward's on backward, or the other way round."""

    decorator: Expr
    method: FunctionDef
    wanted: str


class Bare(Value):
    """A custom function that autocast changes under its feet: operation is what autocasts in forward, and backward
    multiplies matrices with what it saved.

    is_half_decorated: only its backward is decorated, and fails for what forward did not leave; operation is that
    decorator.
    """

    klass: ClassDef
    forward: FunctionDef
    operation: Node
    is_half_decorated: bool = False


class AutogradFunctions:
    """The custom autograd functions of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def swapped(self) -> Iterator[Swapped]:
        """custom_fwd on backward, custom_bwd on forward."""
        for klass in self._classes():
            for name, wrong, wanted in (
                ("backward", _FORWARD_DECORATORS, "custom_bwd"),
                ("forward", _BACKWARD_DECORATORS, "custom_fwd"),
            ):
                method = _method(klass, name)
                for decorator in method.decorators if method is not None else ():
                    if method is not None and self._decorator(decorator) in wrong:
                        yield Swapped(decorator, method, wanted)

    def is_in_backward(self, node: Node) -> bool:
        """Whether a node stands in the backward of a custom function."""
        index = self._facts.index
        function, klass = index.function(node), index.klass(node)
        return isinstance(function, FunctionDef) and function.name == "backward" and klass in set(self._classes())

    def bare(self) -> Iterator[Bare]:
        """Functions with a backward whose forward computes something that autocasts, and that say nothing about it."""
        for klass in self._classes():
            forward, backward = _method(klass, "forward"), _method(klass, "backward")
            if forward is None or backward is None:
                continue
            lonely = self._lonely(forward, backward)
            if lonely is not None:
                yield Bare(klass, forward, lonely, is_half_decorated=True)
            if self._says_something(klass):
                continue
            operation = next((node for node in own_nodes(forward) if self._autocasts(node)), None)
            # Sums and products of elements are promoted; only these refuse operands of two dtypes.
            is_strict = any(self._autocasts(node, _GRADIENTS) for node in own_nodes(backward))
            if operation is not None and is_strict:
                yield Bare(klass, forward, operation)

    def _lonely(self, forward: FunctionDef, backward: FunctionDef) -> Expr | None:
        """The custom_bwd of a backward whose forward has no decorator of any such kind."""
        if any(self._decorator(decorator) != "builtins.staticmethod" for decorator in forward.decorators):
            return None
        return next((each for each in backward.decorators if self._decorator(each) in _BACKWARD_DECORATORS), None)

    def _classes(self) -> Iterator[ClassDef]:
        for node in self._facts.index.each(ClassDef):
            if any(self._facts.names.canonical(base.value) in _FUNCTION_BASES for base in node.bases):
                yield node

    def _decorator(self, decorator: Expr) -> str | None:
        func = decorator.func if isinstance(decorator, Call) else decorator
        canonical = self._facts.names.canonical(func)
        if canonical == "functools.partial" and isinstance(decorator, Call) and decorator.args:
            return self._facts.names.canonical(decorator.args[0].value)
        return canonical

    def _says_something(self, klass: ClassDef) -> bool:
        """Whether forward or backward is decorated, or any method asks for the autocast state."""
        for statement in klass.body:
            if not isinstance(statement, FunctionDef):
                continue
            if any(self._decorator(d) != "builtins.staticmethod" for d in statement.decorators):
                return True
            for node in own_nodes(statement):
                if isinstance(node, Attribute) and node.attr in _STATE_QUERIES:
                    return True
                if isinstance(node, Call) and isinstance(node.func, Attribute) and node.func.attr in ("float", "to"):
                    return True
        return False

    def _autocasts(self, node: Node, others: frozenset[str] = frozenset()) -> bool:
        if isinstance(node, Binary):
            return node.op == "@"
        if not isinstance(node, Call) or not isinstance(node.func, Attribute):
            return False
        if node.func.attr not in _HALF_OPERATIONS | others:
            return False
        canonical = self._facts.names.canonical(node.func)
        return canonical is None or canonical.startswith("torch.")


def _method(klass: ClassDef, name: str) -> FunctionDef | None:
    return next((each for each in klass.body if isinstance(each, FunctionDef) and each.name == name), None)
