"""Which functions have anything to do with losses, gradients and steps: only those are followed and analysed.

Goes by the names of methods alone, to be fast; what the calls mean is for `events.py`.
"""

import re
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.bound_functions import bound_function, named_function
from amplint.knowledge.training_api import CLIP_NAMES
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Module, Name, Node
from amplint.model.walks import last_name, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

METHODS = frozenset({"backward", "unscale_", "zero_grad", "step", "scale_loss", *CLIP_NAMES})
# What is done with a loss to show it.
TELLING = frozenset({"print", "append", "add", "update", "log", "info", "debug", "add_scalar", "format", "float"})
DEEPEST = 6
# How text mentions what concerns a step.
_MENTION = re.compile(rf"\b(?:{'|'.join(sorted(METHODS | {'scale', 'update'}))})\b[)\s\\]*\(|\.[\s\\]*grad\b".encode())


class Concerns(Struct, dict=True):
    """Answers for one module, remembered by function."""

    facts: "Facts"
    _direct: dict[Node, bool] = field(default_factory=dict)
    _answers: dict[Node, bool] = field(default_factory=dict)

    def has(self, function: FunctionDef | Module, depth: int = DEEPEST) -> bool:
        """Whether a function of this module, or one that it calls, has anything to do with a training step."""
        if function in self._answers:
            return self._answers[function]
        self._answers[function] = False  # while a recursive call asks
        self._answers[function] = self.is_direct(function) or (depth > 0 and self._calls_one(function, depth))
        return self._answers[function]

    def is_direct(self, function: FunctionDef | Module) -> bool:
        """Whether the function's own body does."""
        if function not in self._direct:
            self._direct[function] = any(_concerns(node) for node in own_nodes(function))
        return self._direct[function]

    def _calls_one(self, function: FunctionDef | Module, depth: int) -> bool:
        for node in own_nodes(function):
            if not isinstance(node, Call):
                continue
            name = node.func.attr if isinstance(node.func, Attribute) else ""
            if name in self._method_names or any(self._hands_on(argument.value, depth) for argument in node.args):
                return True
            canonical = self.facts.names.canonical(node.func)
            target = self.facts.definition(canonical) if canonical is not None else None
            if target is not None and isinstance(target[1], FunctionDef):
                if target[0].concerns.has(target[1], depth - 1):
                    return True
            elif target is None and (
                "scaler" in last_name(node.func)
                or _hands_on_a_loss(node, canonical)
                or self._is_bound_to_one(node.func, function, depth)
            ):
                return True
        return False

    def _is_bound_to_one(self, func: Expr, owner: FunctionDef | Module, depth: int) -> bool:
        bound = bound_function(self.facts, func, owner)
        return bound is not None and bound.home.concerns.has(bound.function, depth - 1)

    def _hands_on(self, value: Expr, depth: int) -> bool:
        """Whether an argument is a function that has to do with a step: who gets it may run it."""
        if isinstance(value, Attribute):
            return value.attr in self.own_method_names
        if not isinstance(value, Name) or value.id not in self._function_names:
            return False
        found = named_function(self.facts, value)
        return found is not None and found[0].concerns.has(found[1], depth - 1)

    @cached_property
    def _function_names(self) -> frozenset[str]:
        return frozenset(function.name for function in self.facts.index.functions)

    @cached_property
    def _method_names(self) -> frozenset[str]:
        """The names of methods whose body concerns a step, or calls such a method: of this module and its imports.

        From imports only those that some call of this module may mean.
        """
        bindings = self.facts.names.bindings(self.facts.module).values()
        imported = {binding.canonical for found in bindings for binding in found if binding.kind == "import"}
        called = {call.func.attr for call in self.facts.index.calls if isinstance(call.func, Attribute)} - {"__init__"}
        seen = (self.facts.definition(name) for name in imported if name is not None and self._may_bring(name, called))
        homes = {home.path: home for home, target in filter(None, seen) if isinstance(target, ClassDef)}
        return self.own_method_names.union(*(home.concerns.own_method_names for home in homes.values()))

    def _may_bring(self, imported: str, called: set[str]) -> bool:
        """Whether an import may bring a class with one of some methods. Goes by the text of its module."""
        module, _, name = imported.rpartition(".")
        outline = self.facts.context.modules.outline(module)
        if outline is None:
            return True
        if not outline.defines(name):
            return outline.may_hold((name,)) or outline.has_star
        is_class = not outline.defines_function(name)
        return is_class and outline.may_have_method(called) and outline.matches(_MENTION)

    @cached_property
    def own_method_names(self) -> frozenset[str]:
        """The names of methods of this module whose own body concerns a step, or calls such a method."""
        methods = [f for f in self.facts.index.functions if isinstance(self.facts.index.parents[f], ClassDef)]
        called = {f: {last_name(n.func) for n in own_nodes(f) if isinstance(n, Call)} for f in methods}
        names: set[str] = set()
        more = {f.name for f in methods if self.is_direct(f)}
        while more != names:
            names = more
            more = names | {f.name for f in methods if called[f] & names}
        return frozenset(names - {"__init__"})


def _concerns(node: Node) -> bool:
    if isinstance(node, Call):
        name = last_name(node.func)
        if isinstance(node.func, Attribute) and name in ("scale", "update"):
            return len(node.args) == (name == "scale") or "scal" in last_name(node.func.value)
        return name in METHODS
    return isinstance(node, Attribute) and node.attr == "grad"


def _hands_on_a_loss(call: Call, canonical: str | None) -> bool:
    """Whether an object that nobody knows is called with a loss: a wrapper may run it backward."""
    if canonical is not None or last_name(call.func) in TELLING:
        return False
    return any("loss" in last_name(argument.value).lower() for argument in call.args)
