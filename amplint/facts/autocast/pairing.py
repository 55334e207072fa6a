"""Scalers and the regions whose losses they scale: whether dtype, device and switch of the two fit each other.

Refuses to follow a dtype that is read from a file or a command line.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.autocast.excluded import is_excluded
from amplint.facts.autocast.float16_ties import is_tied_to_float16
from amplint.facts.autocast.regions import Region
from amplint.facts.autocast.scaler_switch import is_disabled
from amplint.facts.autocast.scaling_calls import scalers_called
from amplint.facts.program.branches import are_exclusive
from amplint.facts.program.callers import all_importers
from amplint.facts.program.classes import base_names, seen_class
from amplint.facts.program.constructors import Construction
from amplint.facts.program.origins import Origins
from amplint.flow.terms import Term
from amplint.knowledge import training_names as known
from amplint.model.data import Value
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node
from amplint.model.walks import walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_HALF = frozenset({"float16"})


class Pair(Value):
    """A scaler and a region in which the loss that it scales is computed; scaled is the call of `scale`, in home."""

    made: Construction
    region: Region
    scaled: Call
    home: "Facts"


class Pairing:
    """The scalers of one module with their regions."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Each scaler that is made in sight with each region of the functions that scale losses with it."""
        found: list[Pair] = []
        for call in self._facts.index.calls:
            makers = list(self._scaling(call))
            near = self._near(call) if makers else ()
            regions = [region for region in near if not (region.is_off or region.is_inference)]
            found.extend(Pair(made, region, call, self._facts) for made in makers for region in regions)
        return tuple(found)

    def _scaling(self, call: Call) -> Iterator[Construction]:
        """Where the scaler is made with which a call scales a loss, itself or by a wrapper that it calls."""
        func = call.func
        if isinstance(func, Attribute) and func.attr == "scale" and self._facts.training.is_scaler(func.value):
            yield from self.made(func.value)
        for home, scaler in scalers_called(self._facts, call):
            yield from home.pairing.made(scaler)

    def needless(self) -> Iterator[Pair]:
        """Scalers that are on although the region is, or may be, bfloat16; one pair for each scaler.

        A scaler that is used in many files is told of in the one that makes it, if that one can know.
        """
        told = set(self.makers)
        yield from (pair for pair in self.untied if pair.made.call in told or not self._is_told_elsewhere(pair))
        told.difference_update(pair.made.call for pair in self.untied)
        for importer in self.users if told else ():
            for pair in importer.pairing.untied if importer is not self._facts else ():
                if pair.made.call in told:
                    told.discard(pair.made.call)
                    yield pair

    @cached_property
    def untied(self) -> tuple[Pair, ...]:
        """The needless scalers among those that this module scales with; one made in two ways is told of once."""
        found: list[Pair] = []
        by_scaler: dict[Call, list[Pair]] = {}
        for pair in self.pairs:
            by_scaler.setdefault(pair.made.call, []).append(pair)
        for pairs in by_scaler.values():
            dtypes = frozenset().union(*(pair.region.dtypes for pair in pairs))
            if "bfloat16" in dtypes and not self._is_for_float16(pairs):
                found.append(next(pair for pair in pairs if "bfloat16" in pair.region.dtypes))
        return tuple({pair.scaled: pair for pair in reversed(found)}.values())[::-1]

    def _is_for_float16(self, pairs: list[Pair]) -> bool:
        """Whether a scaler is off wherever its regions are bfloat16: how things are named says so, or what they ask."""
        return is_tied_to_float16(self._facts, pairs) or all(
            is_excluded(pair.made, pair.scaled, pair.home, pair.region, self._scalers) for pair in pairs
        )

    @cached_property
    def _scalers(self) -> dict[int, Term]:
        """A name for each scaler, by the identity of the call that makes it."""
        return {id(pair.made.call): ("const", "scaler", number) for number, pair in enumerate(self.pairs)}

    @cached_property
    def makers(self) -> dict[Call, str]:
        """The calls that make a scaler in this module, with the name by which other modules can get at it."""
        index, constructors = self._facts.index, self._facts.constructors
        found: dict[Call, str] = {}
        for call in index.calls:
            if constructors.may_make(call, self._is_scaler):
                outer = [node for node in index.ancestors(call) if isinstance(node, FunctionDef | ClassDef)]
                found[call] = outer[-1].name if outer else ""
        return found

    @cached_property
    def users(self) -> "tuple[Facts, ...]":
        """The modules that call a function or class of this module which makes a scaler."""
        names = sorted({name for name in self.makers.values() if name})
        found = all_importers(self._facts, names) if names else ()
        return tuple(each for each in found if any(each.targets.named(name) for name in names))

    def _is_told_elsewhere(self, pair: Pair) -> bool:
        makers = pair.made.facts.pairing
        return pair.made.call in makers.makers and any(each.path == self._facts.path for each in makers.users)

    def disabled(self) -> Iterator[Pair]:
        """Scalers that are made with `enabled=False`, and nothing else, for float16 regions; one pair for each."""
        by_use: dict[Call, list[Pair]] = {}
        for pair in self.pairs:
            by_use.setdefault(pair.scaled, []).append(pair)
        seen: set[Call] = set()
        for pairs in by_use.values():
            for pair in pairs if all(is_disabled(pair.made) for pair in pairs) else ():
                if pair.made.call not in seen and pair.region.dtypes == _HALF and not _is_apart(pair):
                    seen.add(pair.made.call)
                    yield pair

    def made(self, scaler: Expr) -> list[Construction]:
        """Where a scaler is made; also where it is a field or an attribute of an object whose class is in sight."""
        found = self._facts.training.made_by(scaler, self._is_scaler)
        if found or not isinstance(scaler, Attribute):
            return found
        calls = ((o.facts, o.expr) for o in Origins().of(self._facts, scaler) if isinstance(o.expr, Call))
        return [made for facts, call in calls for made in facts.constructors.of(call) if self._is_scaler(made.name)]

    def _is_scaler(self, name: str) -> bool:
        """Whether a name is that of a scaler, or of a class in sight that is one."""
        klass = None if known.is_scaler(name) else seen_class(self._facts, name)
        return known.is_scaler(name) or (klass is not None and any(map(known.is_scaler, base_names(*klass))))

    def _near(self, call: Call) -> list[Region]:
        """The regions around a call: of its function, or else of its loss, its class or what that makes."""
        index = self._facts.index
        function = index.function(call)
        own = self._in_its_loop(call, self._by_function[function]) or list(self._where_made(call))
        if own or function is None:
            return own
        klass = index.klass(call)
        return (self._by_class[klass] or list(self._made_by(klass))) if klass is not None else []

    def _in_its_loop(self, call: Call, regions: list[Region]) -> list[Region]:
        """Of the regions of one function, those of the training loop that a call is part of, where it has some."""
        for loop in self._facts.index.loops(call):
            if within := [region for region in regions if loop.span.contains(region.opening.span)]:
                return within
        return regions

    def _made_by(self, klass: ClassDef) -> Iterator[Region]:
        """The regions anywhere whose autocast a method of a class makes, as another one scales the losses."""
        for home in all_importers(self._facts, {klass.name}):
            for region in home.regions.all:
                made = region.autocasts
                if made and all(a.facts is self._facts and self._facts.index.klass(a.call) is klass for a in made):
                    yield region

    def _where_made(self, scaled: Call) -> Iterator[Region]:
        """The regions of the functions whose call gives what is scaled."""
        for name in (node for argument in scaled.args[:1] for node in walk(argument.value)):
            bindings = self._facts.names.lookup(name.id, name) if isinstance(name, Name) else ()
            for call in (name, *(binding.value for binding in bindings)):
                callee = self._facts.targets.function(call) if isinstance(call, Call) else None
                if callee is not None:
                    yield from callee[0].pairing.of(callee[1])

    def of(self, function: Node) -> list[Region]:
        """The regions of a function of this module."""
        return self._by_function[function]

    @cached_property
    def _by_function(self) -> dict[Node | None, list[Region]]:
        return self._grouped(self._facts.index.function)

    @cached_property
    def _by_class(self) -> dict[Node | None, list[Region]]:
        return self._grouped(self._facts.index.klass)

    def _grouped(self, around: Callable[[Node], Node | None]) -> dict[Node | None, list[Region]]:
        found: defaultdict[Node | None, list[Region]] = defaultdict(list)
        for region in self._facts.regions.all:
            found[around(region.opening)].append(region)
        return found


def _is_apart(pair: Pair) -> bool:
    """Whether a scaler is made on another branch than the region is entered on."""
    home, made = pair.region.facts, pair.made
    return made.facts is home and are_exclusive(home, made.call, pair.region.opening)
