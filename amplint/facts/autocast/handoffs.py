"""Half-precision results that leave their region for one where autocast is off, and scripted functions with regions.

Refuses to know the dtype of what a model returns; it goes by what is cast before it is used.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Region
from amplint.facts.program.reach import reached
from amplint.model.data import Value
from amplint.model.tree import Assign, Attribute, Call, FunctionDef, Name, Node
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_CASTS = frozenset({"float", "double", "to", "type", "float32"})
# these compute in the wider dtype of their two inputs
_PROMOTING = frozenset(
    f"torch.nn.functional.{name}" for name in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss")
)
_SCRIPTS = frozenset({"torch.jit.script", "torch.jit.script_method"})


class HalfInput(Value):
    """A value from an enabled region that is used uncast in a disabled one."""

    use: Name
    region: Region
    source: Region


class ScriptedRegion(Value):
    """A region inside a function that TorchScript compiles; script is where that is said."""

    region: Region
    script: Node
    is_decorator: bool


class Handoffs:
    """What crosses the borders of regions in one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def half_inputs(self) -> Iterator[HalfInput]:
        """Results of autocast regions that reach a call in a disabled region as they are."""
        for region in self._facts.regions.all:
            if not region.is_off:
                continue
            nodes = [node for statement in region.body for node in walk(statement)]
            cast = {name.id for name in self._cast_names(nodes)}
            for node in nodes:
                if not isinstance(node, Call) or _is_cast(node) or self._casts_inside(node):
                    continue
                source = next(
                    (
                        (argument.value, found)
                        for argument in node.args
                        if isinstance(argument.value, Name) and argument.value.id not in cast
                        if (found := self._source(argument.value, region)) is not None
                    ),
                    None,
                )
                if source is not None:
                    yield HalfInput(source[0], region, source[1])
                    break

    def scripted(self) -> Iterator[ScriptedRegion]:
        """Regions in functions that are scripted."""
        names = self._facts.names
        passed = {
            definition[1]: call
            for call in self._facts.index.calls
            if names.canonical(call.func) in _SCRIPTS and call.args
            if (canonical := names.canonical(call.args[0].value)) is not None
            if (definition := self._facts.definition(canonical)) is not None
        }
        for region in self._facts.regions.all:
            parent = self._facts.index.parents[region.opening]
            is_decorator = isinstance(parent, FunctionDef) and region.opening in parent.decorators
            function = parent if is_decorator else self._facts.index.function(region.opening)
            if not isinstance(function, FunctionDef):
                continue
            script = next((d for d in function.decorators if names.canonical(d) in _SCRIPTS), passed.get(function))
            if script is not None:
                yield ScriptedRegion(region, script, is_decorator)

    def _cast_names(self, nodes: list[Node]) -> Iterator[Name]:
        """Names that something in the region casts: `x.float()`, `{k: v.float() for k, v in x.items()}`."""
        for node in nodes:
            if isinstance(node, Call) and _is_cast(node):
                yield from (each for each in walk(node) if isinstance(each, Name))
        has_cast = any(isinstance(node, Call) and _is_cast(node) for node in nodes)
        if has_cast:
            yield from (node for node in nodes if isinstance(node, Name))

    def _casts_inside(self, call: Call) -> bool:
        """Whether the function that a call runs casts what it gets, or may do so because it is not seen."""
        callee = self._facts.targets.function(call)
        if callee is None:
            canonical = self._facts.names.canonical(call.func) or ""
            return canonical in _PROMOTING or (canonical != "" and not canonical.startswith("torch."))
        nodes = (each.node for each in reached(callee[0], callee[1].body, 1))
        return any(isinstance(node, Call) and _is_cast(node) for node in nodes)

    def _source(self, name: Name, region: Region) -> Region | None:
        """The enabled region in which alone a name was given the result of a call."""
        bindings = self._facts.names.lookup(name.id, name)
        before = [b for b in bindings if b.node.span.start < region.opening.span.start]
        if not before or (before[-1].value is not None and not isinstance(before[-1].value, Call)):
            return None
        around = self._facts.regions.around(before[-1].node)
        if not around or around[0].is_off or around[0] is region:
            return None
        given: Node | None = before[-1].value
        statement = self._facts.index.statement(before[-1].node)
        if given is None and isinstance(statement, Assign):
            given = statement.value
        if not isinstance(given, Call) or _is_cast(given):
            return None
        canonical = self._facts.names.canonical(given.func)
        return around[0] if canonical is None or canonical.startswith("torch.") else None


def _is_cast(call: Call) -> bool:
    return isinstance(call.func, Attribute) and call.func.attr in _CASTS
