"""Which function a call runs, and which calls run a function: functions, methods, constructors, instances.

Follows what is seen in the module and its context; refuses to guess where a name has several meanings.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.callers import bind
from amplint.facts.program.circles import Circles
from amplint.facts.program.classes import class_made, method
from amplint.knowledge.training_api import SAME_MODULE_METHODS, WRAPPERS_OF_MODULES
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node, Parameter
from amplint.model.walks import last_name

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

Callee = tuple["Facts", FunctionDef]
Site = tuple["Facts", Call]

MOST_MODULES = 40

# What a call runs may hang on what calls in other modules run.
_CIRCLES = Circles()


class Targets:
    """Calls of one module resolved to functions of it and of its context."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._functions: dict[Call, Callee | None] = {}
        self._sites: dict[FunctionDef, tuple[Site, ...]] = {}
        self._by_name: dict[str, list[Call]] | None = None

    def function(self, call: Call) -> Callee | None:
        """The function whose body a call runs (`__init__` for a class, `__call__` or `forward` for an instance)."""
        return _CIRCLES.answer(self._functions, call, self._resolve)

    def klass(self, expr: Node) -> tuple["Facts", ClassDef] | None:
        """The class that a value is an instance of, where everything that it may come from agrees."""
        found: tuple[Facts, ClassDef] | None = None
        pending = list(self._facts.values.origins(expr, is_local=True))
        seen: set[Node] = set()
        while pending:
            origin = pending.pop()
            if not isinstance(origin.node, Call):
                return None
            if origin.node in seen:
                continue
            seen.add(origin.node)
            if (wrapped := _wrapped(origin.facts, origin.node)) is not None:
                pending.extend(origin.facts.values.origins(wrapped, is_local=True))
                continue
            klass = class_made(origin.facts, origin.node)
            if klass is None or (found is not None and klass[1] is not found[1]):
                return None
            found = klass
        return found

    def sites(self, function: FunctionDef) -> tuple[Site, ...]:
        """The calls that run a function, in its module and in the modules that import it.

        None where very many modules may call it: they would have to be read for what seldom agrees.
        """
        if function not in self._sites:
            name = function.name
            if name in ("__init__", "__call__", "forward"):
                klass = self._facts.index.klass(function)
                name = klass.name if klass is not None else name
            found: list[Site] = []
            importers = self._facts.context.importers
            are_many = importers.are_many_naming({name}, MOST_MODULES)
            for facts in () if are_many else (self._facts, *importers.naming({name})):
                found.extend(
                    (facts, call)
                    for call in facts.targets.named(name)
                    if (callee := facts.targets.function(call)) is not None and callee[1] is function
                )
            self._sites[function] = tuple(found)
        return self._sites[function]

    def named(self, name: str) -> list[Call]:
        """The calls whose callee's last name, or what it was imported as, is this name."""
        if self._by_name is None:
            self._by_name = {}
            for call in self._facts.index.calls:
                func = call.func
                written = last_name(func)
                names = {written}
                if isinstance(func, Name):
                    canonical = self._facts.names.canonical(func)
                    names.add(canonical.rpartition(".")[2] if canonical is not None else written)
                for each in names:
                    self._by_name.setdefault(each, []).append(call)
        return self._by_name.get(name, [])

    def argument(self, call: Call, callee: Callee, parameter: Parameter) -> Expr | None:
        """What a call passes for a parameter of the function that it runs; None where it cannot be told."""
        return bind(callee[1], call, has_self=_is_bound(call, callee)).get(parameter.name)

    def _resolve(self, call: Call) -> Callee | None:
        func = call.func
        canonical = self._facts.names.canonical(func)
        if canonical is not None:
            definition = self._facts.definition(canonical)
            if definition is None:
                return None
            facts, node = definition
            return (facts, node) if isinstance(node, FunctionDef) else method(facts, node, "__init__")
        if isinstance(func, Attribute):
            return self._resolve_method(func)
        if isinstance(func, Name) and (klass := self.klass(func)) is not None:
            return _run_by_call(*klass)
        return None

    def _resolve_method(self, func: Attribute) -> Callee | None:
        receiver = func.value
        if isinstance(receiver, Name) and receiver.id in ("self", "cls"):
            own = self._facts.index.klass(func)
            found = method(self._facts, own, func.attr) if own is not None else None
            if found is not None or own is None:
                return found
            instance = self.klass(func)  # an attribute that holds a callable object
            return _run_by_call(*instance) if instance is not None else None
        if isinstance(receiver, Call) and self._facts.names.canonical(receiver.func) == "builtins.super":
            own = self._facts.index.klass(func)
            return method(self._facts, own, func.attr, after=own) if own is not None else None
        klass = self.klass(receiver)
        return method(*klass, func.attr) if klass is not None else None


def _run_by_call(facts: "Facts", klass: ClassDef) -> Callee | None:
    """What calling an instance of a class runs; of a module without a `__call__` of its own, its `forward`."""
    return method(facts, klass, "__call__") or method(facts, klass, "forward")


def _wrapped(facts: "Facts", call: Call) -> Expr | None:
    """The module that a call returns in another state: moved, cast, wrapped for several devices, compiled."""
    if isinstance(call.func, Attribute) and call.func.attr in SAME_MODULE_METHODS:
        return call.func.value
    if facts.names.canonical(call.func) in WRAPPERS_OF_MODULES and call.args:
        return call.args[0].value
    return None


def _is_bound(call: Call, callee: Callee) -> bool:
    """Whether the first parameter is the instance or class that the call does not write as an argument."""
    facts, function = callee
    names = [facts.names.canonical(decorator) for decorator in function.decorators]
    if "builtins.staticmethod" in names or not function.parameters:
        return False
    if function.name in ("__init__", "__call__", "forward"):
        return True
    return function.parameters[0].name in ("self", "cls") and isinstance(call.func, Attribute)
