"""On which devices scalers and regions work, as far as it is written down.

Refuses to know which device a run will have.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Autocast
from amplint.facts.program.branches import sides
from amplint.facts.program.classes import method, seen_class
from amplint.facts.program.constructors import Construction
from amplint.knowledge import training_names as known
from amplint.model.data import Value
from amplint.model.tree import Assign, Attribute, Call, Constant, Expr, IfExp, Name, Node
from amplint.model.walks import last_name, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_OTHERS = frozenset({"cpu", "xpu", "mps", "npu", "hpu", "mlu", "musa"})
_OTHER_ACCELERATORS = _OTHERS - {"cpu"}


class ForeignScaler(Value):
    """A scaler for CUDA whose losses are computed in a region of another device."""

    made: Construction
    autocast: Autocast


class FixedDevice(Value):
    """A region for CUDA in a program that chooses its device, among accelerators, elsewhere."""

    autocast: Autocast
    choice: Node
    device: str


class ShardedModel(Value):
    """A plain scaler in a program that shards its model with FSDP1."""

    made: Call
    wrapped: Call


class Devices:
    """The devices of one module."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def foreign_scalers(self) -> Iterator[ForeignScaler]:
        """Scalers that disable themselves because their device is not the region's."""
        seen: set[Call] = set()
        for pair in self._facts.pairing.pairs:
            autocast = next((a for a in pair.region.autocasts if a.device in _OTHERS), None)
            is_apart = autocast is None or len(pair.region.devices) != 1 or pair.made.call in seen
            if autocast is None or is_apart or self._chooses_device(pair.made):
                continue
            device = pair.made.argument("device", 0) if not pair.made.name.startswith("torch.cuda") else None
            is_cuda = device is None or (isinstance(device.value, Constant) and device.value.value == "cuda")
            if is_cuda and not pair.made.has_star and not pair.made.name.startswith("torch.cpu"):
                seen.add(pair.made.call)
                yield ForeignScaler(pair.made, autocast)

    def _chooses_device(self, made: Construction) -> bool:
        """Whether a scaler of the project's own has a constructor, which may hand on another device."""
        klass = seen_class(self._facts, made.name)
        return klass is not None and method(*klass, "__init__") is not None

    def fixed_devices(self) -> Iterator[FixedDevice]:
        """Regions hard-coded for CUDA where a device variable may be another accelerator, and nothing moves to CUDA."""
        choice = self._choice()
        if choice is None or any(_moves_to_cuda(call) for call in self._facts.index.calls):
            return
        for autocast in self._facts.regions.constructed:
            if autocast.device == "cuda" and autocast.is_enabled is True and not self._is_guarded(autocast.call):
                yield FixedDevice(autocast, *choice)

    def sharded_models(self) -> Iterator[ShardedModel]:
        """Plain scalers beside FSDP1."""
        constructors = self._facts.constructors
        made = {call: constructors.names(call) for call in self._facts.index.calls}
        fsdp = [call for call, names in made.items() if any(name in known.FSDP for name in names)]
        wrapped = [call for call in fsdp if not _is_whole(call)]
        if not wrapped or any(name in known.SHARDED_SCALERS for names in made.values() for name in names):
            return
        for call, names in made.items():
            enabled = next((a.value for a in call.args if a.name == "enabled"), None)
            is_off = isinstance(enabled, Constant) and enabled.value is False
            if any(name in known.SCALERS for name in names) and not is_off and not self._is_of_whole(call, fsdp):
                yield ShardedModel(call, wrapped[0])

    def _is_of_whole(self, scaler: Call, fsdp: list[Call]) -> bool:
        """Whether the function that makes a scaler wraps models itself, and shards none of them."""
        function = self._facts.index.function(scaler)
        own = [call for call in fsdp if function is not None and self._facts.index.function(call) is function]
        return bool(own) and all(map(_is_whole, own))

    def _choice(self) -> tuple[Node, str] | None:
        """An assignment that makes a device out of a string for another accelerator."""
        for node in self._facts.index.each(Assign):
            if not any("device" in last_name(part) for target in node.targets for part in walk(target)):
                continue
            for inner in walk(node.value):
                if isinstance(inner, Constant) and inner.value in _OTHER_ACCELERATORS:
                    return node, str(inner.value)
        return None

    def _is_guarded(self, node: Node) -> bool:
        """Whether a test around a node speaks of the device, or asks for a scaler that one device alone gets."""
        tests = [side.choice.test for side in sides(self._facts, node)]
        names = [each for test in tests for each in walk(test) if isinstance(each, Name)]
        made = [b.value for name in names for b in self._facts.names.lookup(name.id, name)]
        tests.extend(value.test for value in made if isinstance(value, IfExp))
        return any(_speaks_of_device(test) for test in tests)


def _is_whole(wrapped: Call) -> bool:
    """Whether FSDP is told not to shard: then each rank holds all gradients, and meets every overflow."""
    strategy = next((a.value for a in wrapped.args if a.name == "sharding_strategy"), None)
    return isinstance(strategy, Attribute) and strategy.attr == "NO_SHARD"


def _moves_to_cuda(call: Call) -> bool:
    """Whether a call moves a model or a tensor to CUDA whatever the device is: `.cuda()`, `.to("cuda")`."""
    if not isinstance(call.func, Attribute):
        return False
    given = [argument.value for argument in call.args if argument.name in (None, "device")]
    return call.func.attr == "cuda" or (
        call.func.attr == "to" and any(isinstance(each, Constant) and each.value == "cuda" for each in given)
    )


def _speaks_of_device(test: Expr) -> bool:
    for node in walk(test):
        if isinstance(node, Constant) and node.value in ("cuda", *_OTHERS):
            return True
        name = last_name(node)
        if "device" in name or "cuda" in name or name in ("use_amp", "amp", "fp16"):
            return True
    return False
