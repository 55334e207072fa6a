"""Which functions have anything to do with losses, gradients and steps: only those are followed and analysed.

Goes by the names of methods alone, to be fast; what the calls mean is for `events.py`.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.bound_functions import bound_function, named_function
from amplint.knowledge.training_api import CLIP_NAMES
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    Call,
    ClassDef,
    Expr,
    FunctionDef,
    IfExp,
    Lambda,
    Module,
    Name,
    Node,
)
from amplint.model.walks import last_name, own_calls, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

METHODS = frozenset({"backward", "unscale_", "zero_grad", "step", "scale_loss", *CLIP_NAMES})
# What is done with a loss to show it.
TELLING = frozenset({"print", "append", "add", "update", "log", "info", "debug", "add_scalar", "format", "float"})
# How text mentions what concerns a step.
_MENTION = re.compile(rf"\b(?:{'|'.join(sorted(METHODS | {'scale', 'update'}))})\b[)\s\\]*\(|\.[\s\\]*grad\b".encode())


# A function that another one calls, with what is known of its module; None for a step itself.
Way = tuple["Concerns", FunctionDef | Lambda] | None


class Concerns(Struct, dict=True):
    """Answers for one module, remembered by function."""

    facts: "Facts"
    _direct: dict[Node, bool] = field(default_factory=dict)
    _answers: dict[Node, bool] = field(default_factory=dict)

    def has(self, function: FunctionDef | Lambda | Module) -> bool:
        """Whether a function of this module, or one that it calls, has anything to do with a training step."""
        if function not in self._answers:
            self._search(function)
        return self._answers[function]

    def _search(self, function: FunctionDef | Lambda | Module) -> None:
        """Follow calls until one leads to a step; that decides for all functions that were met on the way.

        An answer so follows from the program alone, also where functions call each other, and not from who asked first.
        """
        met: dict[Node, Concerns] = {function: self}
        callers: defaultdict[Node, list[Node]] = defaultdict(list)
        stack: list[tuple[Node, Iterator[Way]]] = [(function, self._ways(function))]
        yes: set[Node] = set()
        while stack and not yes:
            node, ways = stack[-1]
            for way in ways:
                known = True if way is None else way[0]._answers.get(way[1])
                if known:
                    yes.update(each for each, _ in stack)
                    break
                if way is None or known is not None:
                    continue
                owner, target = way
                callers[target].append(node)
                if target not in met:
                    met[target] = owner
                    stack.append((target, owner._ways(target)))
                    break
            else:
                stack.pop()
        waiting = list(yes)
        while waiting:
            new = [each for each in callers[waiting.pop()] if each not in yes]
            yes.update(new)
            waiting += new
        for each, owner in met.items():
            owner._answers[each] = each in yes

    def is_direct(self, function: FunctionDef | Lambda | Module) -> bool:
        """Whether the function's own body does, or a lambda in it."""
        if function not in self._direct:
            self._direct[function] = _is_direct(function)
        return self._direct[function]

    @cached_property
    def _lambdas(self) -> frozenset[str]:
        """The names by which lambdas of this module go that have to do with a step; '' for those in tables."""
        lambdas = [each for each in self.facts.index.each(Lambda) if any(map(_concerns, own_nodes(each)))]
        return frozenset(name for each in lambdas for name in _names_of(self.facts.index.parents, each))

    def _ways(self, function: FunctionDef | Lambda | Module) -> Iterator[Way]:
        """The functions that a function calls or hands on, until it is plain that it has to do with a step itself."""
        if self.is_direct(function):
            yield None
            return
        for node in own_calls(function):
            name = node.func.attr if isinstance(node.func, Attribute) else ""
            if name in self._method_names or last_name(node.func) in self._lambdas:
                yield None
                return
            for argument in node.args:
                yield from self._handed_on(argument.value)
            canonical = self.facts.names.canonical(node.func)
            target = self.facts.definition(canonical) if canonical is not None else None
            if target is not None and isinstance(target[1], FunctionDef):
                yield target[0].concerns, target[1]
            elif target is None and ("scaler" in last_name(node.func) or _hands_on_a_loss(node, canonical)):
                yield None
                return
            elif target is None and (bound := bound_function(self.facts, node.func, function)) is not None:
                yield bound.home.concerns, bound.function

    def _handed_on(self, value: Expr) -> Iterator[Way]:
        """An argument that is a function: who gets it may run it."""
        if isinstance(value, Attribute) and value.attr in self.own_method_names:
            yield None
        if isinstance(value, Name) and value.id in self._function_names:
            found = named_function(self.facts, value)
            if found is not None:
                yield found[0].concerns, found[1]

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
        called = {f: {last_name(call.func) for call in own_calls(f)} for f in methods}
        names: set[str] = set()
        more = {f.name for f in methods if self.is_direct(f)}
        while more != names:
            names = more
            more = names | {f.name for f in methods if called[f] & names}
        return frozenset(names - {"__init__"})


def _is_direct(function: FunctionDef | Lambda | Module) -> bool:
    """Whether a node of a function, or of a lambda that it makes, has to do with a step."""
    for node in own_nodes(function):
        if type(node) is Lambda:
            if any(map(_concerns, walk(node))):
                return True
        elif _concerns(node):
            return True
    return False


def _names_of(parents: Mapping[Node, Node], function: Lambda) -> Iterator[str]:
    """The names that a lambda is assigned or passed as, '' where it is an element of something."""
    around: Node | None = parents.get(function)
    while isinstance(around, IfExp):
        around = parents.get(around)
    match around:
        case Assign(targets=targets):
            yield from map(last_name, targets)
        case Argument(name=str(name)):
            yield name
        case _:
            yield ""


def _concerns(node: Node) -> bool:
    if type(node) is Call:
        name = last_name(node.func)
        if isinstance(node.func, Attribute) and name in ("scale", "update"):
            return len(node.args) == (name == "scale") or "scal" in last_name(node.func.value)
        return name in METHODS
    return type(node) is Attribute and node.attr == "grad"


def _hands_on_a_loss(call: Call, canonical: str | None) -> bool:
    """Whether an object that nobody knows is called with a loss: a wrapper may run it backward."""
    if canonical is not None or last_name(call.func) in TELLING:
        return False
    return any("loss" in last_name(argument.value).lower() for argument in call.args)
