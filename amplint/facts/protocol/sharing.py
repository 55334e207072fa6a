"""Which scalers and optimizers of a scene may be one object under two names: taken out of a collection, and by itself.

Knows what their constructors are; refuses to look for what is put into a collection, and takes two names for two.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

from msgspec import Struct

from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.places import is_taken
from amplint.facts.protocol.roles import OptimizerRole, Roles, ScalerRole
from amplint.flow.terms import Term
from amplint.knowledge.protocol import EventKind
from amplint.model.tree import Attribute, Call, Comprehension, For

_LOOKS = frozenset({EventKind.CLIP, EventKind.READ})


class Sharing(Struct, dict=True):
    """The objects of a scene that may be others of it."""

    roles: Roles

    def spread(self, happenings: Iterable[Happening]) -> Iterator[Happening]:
        """What happens, and what nobody knows any more then: something may have happened to another name as well."""
        for happening in happenings:
            is_new = happening.kind is EventKind.CREATE
            scalers = self._scalers.get(happening.scaler, ()) if happening.scaler is not None and not is_new else ()
            if scalers and happening.kind is not EventKind.SCALE:
                yield Happening(EventKind.FORGET, None, happening.optimizers)
            yield happening
            for scaler in scalers:
                yield Happening(EventKind.FORGET, scaler)
            served = () if happening.kind in _LOOKS else happening.optimizers or ()
            others = dict.fromkeys(other for place in served for other in self._optimizers.get(place, ()))
            if not others.keys() <= set(served):
                yield Happening(EventKind.FORGET, None, tuple(other for other in others if other not in served))

    def may_be_scaler(self, call: Call, frame: int) -> bool:
        """Whether a call of `update` is that of an element of a collection, of which nothing else is known."""
        if call.args or not isinstance(call.func, Attribute):
            return False
        origins = self.roles.scene.origins(call.func.value, frame)
        is_made = bool(origins) and all(isinstance(origin.expr, Call) for origin in origins)
        return not is_made and is_taken(self.roles.scene.place(call.func.value, frame))

    @cached_property
    def updating(self) -> frozenset[tuple[int, int]]:
        """The loops, with their frames, whose turns update another object each, which may be a scaler."""
        found: set[tuple[int, int]] = set()
        for step, call in self.roles.scene.calls:
            if isinstance(call.func, Attribute) and call.func.attr == "update" and not call.args:
                place = self.roles.scene.place(call.func.value, step.frame)
                if place[0] == "each" and (place in self.roles.scalers or self.may_be_scaler(call, step.frame)):
                    index = self.roles.scene.homes[step.frame].index
                    loop = next((each for each in index.ancestors(call) if isinstance(each, For | Comprehension)), None)
                    found.add((id(loop), step.frame))
        return frozenset(found)

    @cached_property
    def _scalers(self) -> dict[Term, tuple[Term, ...]]:
        return _shared(tuple(self.roles.scalers.values()))

    @cached_property
    def _optimizers(self) -> dict[Term, tuple[Term, ...]]:
        return _shared(tuple(self.roles.optimizers.values()))


def _shared(roles: Sequence[ScalerRole | OptimizerRole]) -> dict[Term, tuple[Term, ...]]:
    """For each object the other ones that it may be; those that are no other are not there."""
    found: dict[Term, tuple[Term, ...]] = {}
    for one, two in combinations(roles, 2):
        if (is_taken(one.place) or is_taken(two.place)) and not _are_distinct(one, two):
            found[one.place] = (*found.get(one.place, ()), two.place)
            found[two.place] = (*found.get(two.place, ()), one.place)
    return found


def _are_distinct(one: ScalerRole | OptimizerRole, two: ScalerRole | OptimizerRole) -> bool:
    """Whether two objects are made by different calls, or stand at different places of one collection."""
    match one.place, two.place:
        case ("item", first, index), ("item", second, other) if first == second:
            return index != other
        case _:
            return one.made is not None and two.made is not None and one.made.isdisjoint(two.made)
