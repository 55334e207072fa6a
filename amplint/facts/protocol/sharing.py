"""Which scalers and optimizers of a scene may be one object under two names: one of them inside something else.

Knows what their constructors are; refuses to look for what is put into a collection, or set on an object from outside.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations

from msgspec import Struct

from amplint.facts.protocol.happening import Happening
from amplint.facts.protocol.places import is_taken, owner_of
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
        """Whether a call is `update()` or `step(optimizer)` of something that may be a scaler, but is none for sure.

        Nothing is known of it but its name, or what it steps; what has no name, an element of a collection, is at least
        updated alone.
        """
        if not isinstance(call.func, Attribute) or call.func.attr != ("step" if call.args else "update"):
            return False
        place = self.roles.scene.place(call.func.value, frame)
        if not (_is_named_scaler(place) or place in self._stepping or (not call.args and is_taken(place))):
            return False
        origins = self.roles.scene.origins(call.func.value, frame)
        return not origins or not all(isinstance(origin.expr, Call) for origin in origins)

    @cached_property
    def _stepping(self) -> frozenset[Term]:
        """What is given optimizers to step."""
        found: set[Term] = set()
        for step, call in self.roles.scene.calls:
            if isinstance(call.func, Attribute) and call.func.attr == "step" and call.args:
                place = self.roles.scene.place(call.args[0].value, step.frame)
                if place in self.roles.optimizers or (place[0] == "attr" and "opt" in str(place[2])):
                    found.add(self.roles.scene.place(call.func.value, step.frame))
        return frozenset(found)

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
        return self._shared(tuple(self.roles.scalers.values()))

    @cached_property
    def _optimizers(self) -> dict[Term, tuple[Term, ...]]:
        return self._shared(tuple(self.roles.optimizers.values()))

    def _shared(self, roles: Sequence[ScalerRole | OptimizerRole]) -> dict[Term, tuple[Term, ...]]:
        """For each object the other ones that it may be; those that are no other are not there."""
        found: dict[Term, tuple[Term, ...]] = {}
        for one, two in combinations(roles, 2):
            is_open = is_taken(one.place) or is_taken(two.place) or self._may_be_handed(one.place, two.place)
            if is_open and not _are_distinct(one, two):
                found[one.place] = (*found.get(one.place, ()), two.place)
                found[two.place] = (*found.get(two.place, ()), one.place)
        return found

    def _may_be_handed(self, one: Term, two: Term) -> bool:
        """Whether an object may hold the one because it was handed the other: two of a kind hold one each."""
        holders = self._holder(one), self._holder(two)
        return holders[0] != holders[1] and (None in holders or one[2] != two[2])

    def _holder(self, place: Term) -> Term | None:
        """The object that a place lies in, other than the one whose method all this is."""
        holder = owner_of(place)
        return None if holder == self.roles.scene.me else holder


def _are_distinct(one: ScalerRole | OptimizerRole, two: ScalerRole | OptimizerRole) -> bool:
    """Whether two objects are made by different calls, or stand at different places of one collection."""
    match one.place, two.place:
        case ("item", first, index), ("item", second, other) if first == second:
            return index != other
        case _:
            return one.made is not None and two.made is not None and one.made.isdisjoint(two.made)


def _is_named_scaler(place: Term) -> bool:
    match place:
        case ("name", str(name), _) | ("attr", _, str(name)) | ("item", _, ("const", "str", str(name))):
            return "scaler" in name.lower()
        case _:
            return False
