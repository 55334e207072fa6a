"""Whose parameters an expression is about: the optimizers that were given the modules that it names.

Knows of optimizers only which modules they were made of and where they step; refuses to choose where several fit.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from amplint.facts.program.latest import latest
from amplint.facts.protocol.guards import common_loop, loop_around
from amplint.facts.protocol.places import is_part
from amplint.facts.protocol.roles import Roles, parameter_sources
from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, Name, Node
from amplint.model.walks import walk


class Owners(Struct, dict=True):
    """The optimizers of a scene, asked for by expressions."""

    scene: Scene
    roles: Roles

    def of(self, node: Node, frame: int, is_module: bool = False) -> tuple[Term, ...] | None:
        """The optimizers whose parameters an expression is about; None where nobody can tell."""
        if self._sole is not None:
            return (self._sole,)
        modules = [self.scene.place(node, frame)] if is_module and isinstance(node, Name | Attribute) else []
        found: dict[Term, None] = {}
        for part in self._mentioned(node, frame):
            if isinstance(part, Name | Attribute) and (place := self.scene.place(part, frame)) in self.roles.optimizers:
                found[place] = None
        modules += [
            self.scene.place(m, frame) for part in self._mentioned(node, frame) for m in parameter_sources(part)
        ]
        holding = [
            role.place
            for role in self.roles.optimizers.values()
            if any(is_part(one, other) for one in role.modules for other in modules)
            if role.place not in found and self._is_at_hand(role.place, frame)
        ]
        if not is_module:
            holding = self._in_turn(holding, node, frame)
            if self._is_shared(holding, modules):
                return None
        owned = (*found, *holding)
        return owned or (None if is_module else self._alone_in_turn(node, frame))

    @cached_property
    def _sole(self) -> Term | None:
        """The only optimizer of the scene, where there is one alone and it stands for itself."""
        optimizers = list(self.roles.optimizers.values())
        return optimizers[0].place if len(optimizers) == 1 and not optimizers[0].is_element else None

    def _is_at_hand(self, place: Term, frame: int) -> bool:
        """Whether a place may exist while a frame runs: the locals of a function that it calls later do not."""
        base = place
        while base[0] in ("attr", "item", "each"):
            base = base[1]  # type: ignore[assignment]
        if not isinstance(base[-1], int):
            return True
        owner, number = self.scene.frames[base[-1]].function, frame
        while number >= 0:
            if self.scene.frames[number].function is owner:
                return True
            number = self.scene.frames[number].parent
        return False

    def _in_turn(self, places: list[Term], node: Node, frame: int) -> list[Term]:
        """Of optimizers that hold some modules, those that step in the loop around an expression.

        A training has phases: an optimizer that does not step in this one holds the same parameters as the one that
        does, where that holds the same modules, or ones that are not known.
        """
        stepping = self._stepping(node, frame)
        modules = {place: frozenset(role.modules) for place, role in self.roles.optimizers.items()}
        return [
            place
            for place in places
            if place in stepping or not any(modules[other] in (frozenset(), modules[place]) for other in stepping)
        ]

    def _is_shared(self, places: list[Term], modules: Sequence[Term | None]) -> bool:
        """Whether some module lies in several of the optimizers: unscaled for one, its gradients are for all."""
        held = [self.roles.optimizers[place].modules for place in places]
        return any(sum(any(is_part(one, other) for one in each) for each in held) > 1 for other in modules)

    def _alone_in_turn(self, node: Node, frame: int) -> tuple[Term, ...] | None:
        """The one optimizer that steps in the loop around an expression, where nobody says what each was made of."""
        is_known = any(role.modules or role.is_element for role in self.roles.optimizers.values())
        stepping = [] if is_known else self._stepping(node, frame)
        is_looped = loop_around(self.scene, Step(StepKind.CALL, node, frame)) is not None
        return tuple(stepping) if is_looped and len(stepping) == 1 else None

    def _stepping(self, node: Node, frame: int) -> list[Term]:
        """The optimizers that step in the loop around an expression."""
        here = Step(StepKind.CALL, node, frame)
        loop = loop_around(self.scene, here)
        return [
            place
            for place in self.roles.optimizers
            if any(common_loop(self.scene, here, step) is loop for step in self._steps.get(place, ()))
        ]

    @cached_property
    def of_scalers(self) -> tuple[Term, ...] | None:
        """The optimizers that some scaler steps or unscales; None where there is none, or one of many."""
        found = tuple(dict.fromkeys(place for places in self._served.values() for place in places))
        return None if any(self.roles.optimizers[place].is_element for place in found) else found or None

    def paired(self, scaler: Term) -> tuple[Term, ...] | None:
        """The optimizers that a scaler serves, where there are several scalers and none shares one with another."""
        served = self._served
        places = [place for found in served.values() for place in found]
        is_apart = len(served) > 1 and len(set(places)) == len(places)
        return tuple(served.get(scaler, ())) or None if is_apart and self.of_scalers is not None else None

    def handed(self, frame: int) -> tuple[Term, ...]:
        """The one of several optimizers that the methods of an object were handed which run in a frame.

        Where there are several scalers, each of such objects trains what it was handed alone.
        """
        number = frame if len(self.roles.scalers) > 1 else 0
        while number > 0:
            here = self.scene.frames[number]
            given = [self.scene.place(each.value, each.frame) for each in here.passed if each.value is not None]
            given += [("each", place) for place in given]
            found = [place for place in self.roles.optimizers if place in given]
            if found:
                return tuple(found) if len(found) == 1 else ()
            number = here.parent
        return ()

    @cached_property
    def _served(self) -> dict[Term, dict[Term, None]]:
        """What each scaler steps or unscales."""
        found: dict[Term, dict[Term, None]] = {}
        for step, call in self.scene.calls:
            if isinstance(call.func, Attribute) and call.func.attr in ("step", "unscale_") and call.args:
                scaler = self.scene.place(call.func.value, step.frame)
                optimizer = self.scene.place(call.args[0].value, step.frame)
                if scaler is not None and scaler in self.roles.scalers and optimizer in self.roles.optimizers:
                    found.setdefault(scaler, {})[optimizer] = None
        return found

    @cached_property
    def _steps(self) -> dict[Term, list[Step]]:
        """Where each optimizer steps, by itself or by a scaler."""
        found: dict[Term, list[Step]] = {}
        for step, call in self.scene.calls:
            if isinstance(call.func, Attribute) and call.func.attr == "step":
                for expr in (call.func.value, *(argument.value for argument in call.args[:1])):
                    if (place := self.scene.place(expr, step.frame)) in self.roles.optimizers:
                        found.setdefault(place, []).append(step)
        return found

    def _mentioned(self, node: Node, frame: int) -> Iterator[Node]:
        """The nodes of an expression, and of what its names were assigned."""
        home = self.scene.homes[frame]
        for part in walk(node):
            yield part
            if isinstance(part, Name):
                for binding in latest(home.index, home.names.lookup(part.id, part), part):
                    if binding.value is not None and binding.scope is self.scene.frames[frame].function:
                        yield from walk(binding.value)
