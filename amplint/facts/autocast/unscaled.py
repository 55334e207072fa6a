"""Training in float16 without loss scaling, and with parameters that are float16 themselves.

Refuses to judge where a framework, or anything that is called a scaler, may take care of it.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from amplint.facts.autocast.carried_losses import backward_of
from amplint.facts.autocast.cast_back import casts_back
from amplint.facts.autocast.dtypes import dtype_names
from amplint.facts.autocast.regions import Autocast, Region
from amplint.facts.training.events import EventKind, trained_models
from amplint.facts.training.idle_scalers import idle_words
from amplint.knowledge import training_names as known
from amplint.model.data import Value
from amplint.model.tree import (
    Argument,
    Attribute,
    Call,
    Expr,
    ExprStmt,
    FunctionDef,
    Name,
    Node,
    Parameter,
)
from amplint.model.walks import own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_HELP = re.compile(r"scaler|loss_scal|accelerat|deepspeed|fabric|lightning|colossal|apex", re.IGNORECASE)
_SCALER = re.compile(r"scaler", re.IGNORECASE)
_HALF = frozenset({"float16"})


class Unscaled(Value):
    """A backward pass of a loss from a float16 region. is_certain: the region can be nothing else on CUDA."""

    region: Region
    backward: Call
    is_certain: bool


class HalfParameters(Value):
    """A model that is cast to float16 and whose parameters an optimizer trains."""

    cast: Call
    optimizer: Call


class UnscaledTraining:
    """Where one module trains in float16 without what float16 needs."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def losses(self) -> Iterator[Unscaled]:
        """Plain backward passes of losses from float16 regions, in modules where nothing scales losses."""
        if not self._facts.regions.all or not self._has(EventKind.OPTIMIZER_STEP):
            return
        helping = self._helping()
        for region in self._facts.regions.all:
            function = self._facts.index.function(region.opening)
            if not isinstance(function, FunctionDef) or region.is_off or region.is_inference:
                continue
            if self._is_test(function) or (helping and not self._is_apart(function, helping)):
                continue
            is_default = region.dtypes == {None} and all(self._is_default_dtype(a) for a in region.autocasts)
            if "float16" not in region.dtypes and not is_default:
                continue
            backward = backward_of(self._facts, region, function)
            if backward is not None:
                yield Unscaled(region, backward, region.dtypes == _HALF or is_default)

    def half_parameters(self) -> Iterator[HalfParameters]:
        """Models that are cast to float16 and then handed to an optimizer, in modules that run a backward."""
        if not self._has(EventKind.BACKWARD):
            return
        seen: set[Call] = set()
        for call in self._facts.index.calls:
            if not any(known.is_optimizer(name) for name in self._facts.constructors.names(call)):
                continue
            for model in trained_models(self._facts, call):
                cast = self._half_cast(model)
                if cast is not None and cast not in seen:
                    seen.add(cast)
                    yield HalfParameters(cast, call)

    def _has(self, kind: EventKind) -> bool:
        return any(self._facts.training.kind(call) is kind for call in self._facts.index.calls)

    def _is_test(self, function: FunctionDef) -> bool:
        """Whether a function tests that gradients flow, and applies none."""
        if not function.name.startswith("test"):
            return False
        return not any(e.kind is EventKind.OPTIMIZER_STEP for e in self._facts.training.within(function.body))

    def _is_apart(self, function: FunctionDef, helping: dict[Node, str]) -> bool:
        """Whether a function trains with an optimizer of its own, beside others that have scalers of their own."""
        own = set(walk(function))
        if any(node in own or not _SCALER.search(word) for node, word in helping.items()):
            return False
        if not all(any(isinstance(each, FunctionDef) for each in self._facts.index.ancestors(n)) for n in helping):
            return False
        is_made = any(
            isinstance(node, Call) and any(map(known.is_optimizer, self._facts.constructors.names(node)))
            for node in own_nodes(function)
        )
        events = self._facts.training.within(function.body) if is_made else ()
        return any(event.kind is EventKind.OPTIMIZER_STEP and not event.via for event in events)

    def _helping(self) -> dict[Node, str]:
        """What is named here that may scale losses, by its words; not a scaler that is made and serves nothing."""
        each = self._facts.index.each
        words: defaultdict[str, list[Node]] = defaultdict(list)
        for node, word in chain(
            ((node, node.id) for node in each(Name)),
            ((node, node.attr) for node in each(Attribute)),
            ((node, node.name) for node in each(Parameter)),
            ((node, node.name or "") for node in each(Argument)),
        ):
            words[word].append(node)
        helping = {node: word for word, nodes in words.items() if _HELP.search(word) for node in nodes}
        return {} if helping and idle_words(self._facts).issuperset(helping) else helping

    def _is_default_dtype(self, autocast: Autocast) -> bool:
        is_computed = autocast.device is None and autocast.device_given is not None
        return autocast.dtype_expr is None and is_computed and autocast.is_enabled is True

    def _half_cast(self, model: Expr) -> Call | None:
        """The call that leaves a model in float16, if nothing casts it back or freezes it."""
        handle = self._facts.training.handle(model)
        uses = self._facts.training.uses.get(handle, {}) if handle is not None else {}
        if {"float", "requires_grad_", "bfloat16"} & uses.keys() or casts_back(self._facts, model):
            return None
        for call in uses.get("half", []):
            statement = self._facts.index.statement(call)
            if isinstance(statement, ExprStmt) and statement.value is call:
                return call
        origins = [o for o in self._facts.values.origins(model, is_local=True) if o.facts is self._facts]
        casts = [self._cast_in(origin.node) for origin in origins if isinstance(origin.node, Call)]
        return next((cast for cast in casts if cast is not None), None) if len(casts) == 1 else None

    def _cast_in(self, call: Call) -> Call | None:
        """The outermost cast in a chain like `Net().half().cuda()`, if it is one to float16."""
        current: Expr = call
        while isinstance(current, Call) and isinstance(current.func, Attribute):
            name = current.func.attr
            if name in ("float", "bfloat16"):
                return None
            if name == "half" and not current.args:
                return current
            for argument in current.args:
                is_dtype = argument.name in ("dtype", "torch_dtype") or (name == "to" and argument.name is None)
                if is_dtype and name in ("to", "from_pretrained", "type"):
                    found = dtype_names(self._facts, argument.value)
                    if found == _HALF:
                        return current
            current = current.func.value
        return None
