"""Where autocast is on: `with` items, decorators, stored contexts, exit stacks, context-manager functions.

What is known of device, dtype and switch is said with each region; what is not known stays None.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from amplint.facts.program.constructors import Construction
from amplint.facts.program.reach import Reached
from amplint.facts.program.values import Origin
from amplint.knowledge import training_names as known
from amplint.model.data import Entity
from amplint.model.tree import Attribute, BoolOp, Call, Constant, Expr, FunctionDef, Name, Node, Stmt, With, Yield
from amplint.model.walks import is_none, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_NO_GRAD = frozenset(
    {"torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad", "torch.autograd.inference_mode"}
)


class Autocast(Entity):
    """One autocast object as it is made.

    device is a literal device type or None, device_given what was given for it; dtypes holds the names that the dtype
    may be, None standing for unknown; is_enabled is None where it depends on a switch.
    """

    facts: "Facts"
    call: Call
    device: str | None
    device_given: Origin | None
    dtypes: frozenset[str | None]
    dtype_expr: Expr | None
    is_enabled: bool | None
    switch: Expr | None
    is_cached: bool
    is_device_first: bool


class Region(Entity):
    """A stretch of program that runs in a context that is, or may be, autocast.

    opening is what enters it (a with item, a decorator, a call of enter_context), shown the expression that a finding
    points at, body the statements that run inside. is_optional: another value of the same context is no autocast.
    """

    facts: "Facts"
    opening: Node
    shown: Expr
    body: tuple[Stmt, ...]
    autocasts: tuple[Autocast, ...]
    is_optional: bool = False

    @property
    def is_off(self) -> bool:
        """Whether autocast is surely disabled inside."""
        return bool(self.autocasts) and all(each.is_enabled is False for each in self.autocasts)

    @property
    def is_plain(self) -> bool:
        """Whether nothing is cast to half precision inside: it is off, or its dtype is float32."""
        return self.is_off or self.dtypes == {"float32"}

    @property
    def is_inference(self) -> bool:
        """Whether gradients are off around it, so that nothing computed inside is a loss to run backward from."""
        names, index = self.facts.names, self.facts.index
        function = index.function(self.opening)
        places: list[Expr] = list(function.decorators) if isinstance(function, FunctionDef) else []
        for outer in index.ancestors(self.opening):
            if isinstance(outer, With):
                places.extend(item.context for item in outer.items)
        return any(names.canonical(each.func if isinstance(each, Call) else each) in _NO_GRAD for each in places)

    @property
    def dtypes(self) -> frozenset[str | None]:
        """What the dtype inside may be."""
        return frozenset().union(*(each.dtypes for each in self.autocasts)) if self.autocasts else frozenset({None})

    @property
    def devices(self) -> frozenset[str | None]:
        """What the device type may be."""
        return frozenset(each.device for each in self.autocasts)


class Regions:
    """The autocast regions of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts
        self._managers: set[FunctionDef] = set()  # those being looked into, for some enter each other

    @cached_property
    def all(self) -> tuple[Region, ...]:
        """Every region, in source order of what opens it."""
        found = [*self._of_items(), *self._of_decorators(), *self._of_stacks()]
        return tuple(sorted(found, key=lambda region: region.opening.span))

    def around(self, node: Node) -> tuple[Region, ...]:
        """The regions whose body holds a node in the same function, innermost first."""
        found: list[Region] = []
        child = node
        for outer in self._facts.index.ancestors(node):
            found.extend(self._by_statement.get(child, ()))
            if isinstance(outer, FunctionDef):
                found.extend(self._by_statement.get(outer.body[0], ()) if child in outer.body[1:] else ())
                break
            child = outer
        unique = list(dict.fromkeys(found))
        return tuple(sorted(unique, key=lambda region: region.opening.span, reverse=True))

    @cached_property
    def _by_statement(self) -> dict[Node, list[Region]]:
        found: dict[Node, list[Region]] = {}
        for region in self.all:
            for statement in region.body:
                found.setdefault(statement, []).append(region)
        return found

    def autocasts(self, expr: Node) -> tuple[list[Autocast], bool]:
        """The autocast objects that an expression may stand for, and whether it may also stand for something else."""
        found: list[Autocast] = []
        has_other = False
        for origin in self._facts.values.origins(expr):
            made = self._made(origin.node, origin.facts) if isinstance(origin.node, Call) else []
            found.extend(made)
            has_other = has_other or not made or _has_alternative(origin.node, origin.facts)
        return found, has_other

    @cached_property
    def constructed(self) -> tuple[Autocast, ...]:
        """Every autocast object that the module makes, entered or not."""
        return tuple(
            autocast(made)
            for call in self._facts.index.calls
            for made in self._facts.constructors.of(call)
            if made.name in known.AUTOCASTS and made.call is call
        )

    def _made(self, call: Call, facts: "Facts") -> list[Autocast]:
        found = [autocast(made) for made in facts.constructors.of(call) if made.name in known.AUTOCASTS]
        if found or facts.frameworks.is_autocast(call):
            return found or [_of_framework(call, facts)]
        callee = facts.targets.function(call)
        if callee is None or callee[1] in self._managers or not _is_context_manager(callee):
            return []
        self._managers.add(callee[1])
        owner, function = callee
        for node in own_nodes(function):
            if isinstance(node, With) and any(isinstance(inner, Yield) for inner in walk(node)):
                for item in node.items:
                    found.extend(owner.regions.autocasts(item.context)[0])
        self._managers.discard(callee[1])
        return [_switched(each, call, facts, callee) for each in found]

    def _of_items(self) -> Iterator[Region]:
        for node in self._facts.index.each(With):
            for item in node.items:
                context = item.context
                while isinstance(context, BoolOp) and context.op == "and":
                    context = context.values[-1]  # all others are true, or the `with` fails
                autocasts, has_other = self.autocasts(context)
                if autocasts:
                    yield Region(self._facts, item, item.context, node.body, tuple(autocasts), has_other)

    def _of_decorators(self) -> Iterator[Region]:
        for function in self._facts.index.functions:
            for decorator in function.decorators:
                autocasts, has_other = self.autocasts(decorator) if isinstance(decorator, Call) else ([], False)
                if autocasts:
                    yield Region(self._facts, decorator, decorator, function.body, tuple(autocasts), has_other)

    def _of_stacks(self) -> Iterator[Region]:
        for call in self._facts.index.calls:
            if not isinstance(call.func, Attribute) or call.func.attr != "enter_context" or not call.args:
                continue
            autocasts, has_other = self.autocasts(call.args[0].value)
            if not autocasts:
                continue
            statement = self._facts.index.statement(call)
            _, block = self._facts.index.block(statement)
            rest = block[block.index(statement) + 1 :]
            if rest:
                yield Region(self._facts, call, call.args[0].value, rest, tuple(autocasts), has_other)


def autocast(made: Construction) -> Autocast:
    """What is known of an autocast object from how it is made."""
    from amplint.facts.autocast.dtypes import dtype_names

    is_first = made.name in known.DEVICE_FIRST_AUTOCASTS
    device_argument = made.argument("device_type", 0) if is_first else None
    dtype_argument = made.argument("dtype", 1)
    switch_argument = made.argument("enabled", 2 if is_first else 0)
    cache_argument = made.argument("cache_enabled", 3 if is_first else 2)
    device = "cpu" if made.name.startswith("torch.cpu") else "cuda" if not is_first else None
    if device_argument is not None:
        device = _device(device_argument.value)
    dtypes: frozenset[str | None]
    if dtype_argument is not None:
        dtypes = dtype_names(made.home(dtype_argument), dtype_argument.value)
        if None in dtypes and is_none(dtype_argument.value):
            dtypes = frozenset({known.DEFAULT_DTYPES.get(device or "")})
    else:
        dtypes = frozenset({None if made.has_star else known.DEFAULT_DTYPES.get(device or "")})
    is_enabled: bool | None = None if made.has_star else True
    if switch_argument is not None:
        is_enabled = truth(made.home(switch_argument), switch_argument.value)
    is_cached = not (cache_argument is not None and _is_false(cache_argument.value))
    return Autocast(
        made.facts,
        made.call,
        device,
        Origin(made.home(device_argument), device_argument.value) if device_argument is not None else None,
        dtypes,
        dtype_argument.value if dtype_argument is not None else None,
        is_enabled,
        switch_argument.value if switch_argument is not None else None,
        is_cached,
        is_first,
    )


def _switched(each: Autocast, call: Call, facts: "Facts", callee: "tuple[Facts, FunctionDef]") -> Autocast:
    """An autocast object of a manager, with the switch that a call of the manager hands on to it."""
    given: Expr | None = None
    function = callee[1]
    if each.switch is None and each.is_enabled is None and any(p.kind == "**" for p in function.parameters):
        given = next((argument.value for argument in call.args if argument.name == "enabled"), None)
    for parameter in function.parameters:
        if isinstance(each.switch, Name) and each.switch.id == parameter.name:
            given = facts.targets.argument(call, callee, parameter) or parameter.default
    return each if given is None else replace(each, is_enabled=truth(facts, given))


def truth(facts: "Facts", expr: Node) -> bool | None:
    """Whether a switch is always on or always off; None where it depends."""
    answers = {
        origin.node.value if isinstance(origin.node, Constant) and isinstance(origin.node.value, bool) else None
        for origin in facts.values.origins(expr)
    }
    return answers.pop() if len(answers) == 1 else None


def is_switched_off(each: Reached, region: Region) -> bool:
    """Whether a region that is surely disabled stands between a node that runs in a region and that region."""
    places = [(each.facts, each.node)]
    if each.via:
        places.append((region.facts, each.via[0]))
    for facts, node in places:
        for inner in facts.regions.around(node):
            if inner is region:
                break
            if inner.is_off:
                return True
    return False


def _has_alternative(node: Node | None, facts: "Facts") -> bool:
    """Whether the callee of a construction may also be something that is no autocast."""
    if not isinstance(node, Call) or not facts.constructors.of(node):
        return False
    return not facts.constructors.always(node, lambda name: name in known.AUTOCASTS)


def _of_framework(call: Call, facts: "Facts") -> Autocast:
    return Autocast(facts, call, None, None, frozenset({None}), None, None, None, True, True)


def _device(expr: Expr) -> str | None:
    if isinstance(expr, Constant) and isinstance(expr.value, str):
        return expr.value.partition(":")[0]
    return None


def _is_false(expr: Expr) -> bool:
    return isinstance(expr, Constant) and expr.value is False


def _is_context_manager(callee: "tuple[Facts, FunctionDef]") -> bool:
    facts, function = callee
    names = [facts.names.canonical(decorator) for decorator in function.decorators]
    return "contextlib.contextmanager" in names
