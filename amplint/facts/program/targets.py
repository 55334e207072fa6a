"""Which function a call runs, and which calls run a function: functions, methods, constructors, instances.

Follows what is seen in the module and its context; refuses to guess where a name has several meanings.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.circles import Circles
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
            canonical = origin.facts.names.canonical(origin.node.func)
            definition = origin.facts.definition(canonical) if canonical is not None else None
            if definition is None or not isinstance(definition[1], ClassDef):
                return None
            if found is not None and definition[1] is not found[1]:
                return None
            found = (definition[0], definition[1])
        return found

    def lineage(self, klass: ClassDef) -> Iterator[tuple["Facts", ClassDef]]:
        """A class and the bases of it that are seen, nearest first."""
        stack: list[tuple[Facts, ClassDef]] = [(self._facts, klass)]
        seen: set[ClassDef] = set()
        while stack:
            facts, current = stack.pop()
            if current in seen:
                continue
            seen.add(current)
            yield facts, current
            for base in reversed(current.bases):
                canonical = facts.names.canonical(base.value) if base.name is None else None
                definition = facts.definition(canonical) if canonical is not None else None
                if definition is not None and isinstance(definition[1], ClassDef):
                    stack.append((definition[0], definition[1]))

    def method(self, klass: ClassDef, name: str) -> Callee | None:
        """A method as an instance of the class finds it."""
        for facts, owner in self.lineage(klass):
            for statement in owner.body:
                if isinstance(statement, FunctionDef) and statement.name == name:
                    return facts, statement
        return None

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
        function = callee[1]
        positional = [p.name for p in function.parameters if p.kind in ("positional", "positional-only")]
        if _is_bound(call, callee):
            positional = positional[1:]
        place = positional.index(parameter.name) if parameter.name in positional else None
        count = 0
        for argument in call.args:
            if argument.name == parameter.name:
                return argument.value
            if argument.star == "*":
                place = None
            elif argument.name is None and not argument.star:
                if count == place:
                    return argument.value
                count += 1
        return None

    def _resolve(self, call: Call) -> Callee | None:
        func = call.func
        canonical = self._facts.names.canonical(func)
        if canonical is not None:
            definition = self._facts.definition(canonical)
            if definition is None:
                return None
            facts, node = definition
            return (facts, node) if isinstance(node, FunctionDef) else facts.targets.method(node, "__init__")
        if isinstance(func, Attribute):
            return self._resolve_method(func)
        if isinstance(func, Name) and (klass := self.klass(func)) is not None:
            return klass[0].targets.method(klass[1], "__call__") or klass[0].targets.method(klass[1], "forward")
        return None

    def _resolve_method(self, func: Attribute) -> Callee | None:
        receiver = func.value
        if isinstance(receiver, Name) and receiver.id in ("self", "cls"):
            own = self._facts.index.klass(func)
            found = self.method(own, func.attr) if own is not None else None
            if found is not None or own is None:
                return found
            instance = self.klass(func)  # an attribute that holds a callable object
            if instance is None:
                return None
            return instance[0].targets.method(instance[1], "__call__") or instance[0].targets.method(
                instance[1], "forward"
            )
        if isinstance(receiver, Call) and self._facts.names.canonical(receiver.func) == "builtins.super":
            own = self._facts.index.klass(func)
            for facts, base in list(self.lineage(own))[1:] if own is not None else []:
                for statement in base.body:
                    if isinstance(statement, FunctionDef) and statement.name == func.attr:
                        return facts, statement
            return None
        klass = self.klass(receiver)
        return klass[0].targets.method(klass[1], func.attr) if klass is not None else None


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
