"""What a branch, or the end of a loop, says about a point of a path: some points cannot take it.

A scaler that scaled these gradients is there, gradients that no step has used are there, and a loop over optimizers
ends only when the one that is followed has had its turn. Knows no event.
"""

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from amplint.facts.protocol.caught_flags import leaves_word
from amplint.facts.protocol.gradients import asks_for_gradients
from amplint.facts.protocol.optimizer_loops import OptimizerLoops
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scaler_tests import is_type_test, optimizer_test, scaler_test
from amplint.facts.protocol.standing import Standing, carries
from amplint.flow.graph import Edge, EdgeKind
from amplint.flow.terms import Term
from amplint.knowledge.automaton import Automaton
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.state import Event
from amplint.model.tree import Comprehension, ExceptHandler, For, Node


class Ways(Struct):
    """The edges of a scene that matter to the protocol.

    updating: the loops, with their frames, that update scalers; choosing: those that step some of their optimizers, and
    the scalers that do.
    """

    roles: Roles
    loops: OptimizerLoops
    updating: frozenset[tuple[int, int]]
    choosing: dict[tuple[int, int], set[Term]]
    automaton: Automaton
    _told: dict[int, bool] = field(default_factory=dict)

    def is_decided_by(self, node: Node, frame: int) -> bool:
        """Whether a loop goes through optimizers, a test asks for a scaler or gradients, or a handler leaves word."""
        is_served = bool(self.loops.ending(node, frame) or self.loops.keyed(node, frame))
        is_loop = is_served or (id(node), frame) in self.updating
        return is_loop or asks_for_gradients(node) or self._asks(node, frame) or self._is_told_of(node, frame)

    def _asks(self, node: Node, frame: int) -> bool:
        """Whether a test asks for a scaler or an optimizer."""
        tests = (scaler_test(self.roles, node, frame), optimizer_test(self.roles, node, frame))
        return tests != (None, None) or is_type_test(self.roles, node, frame)

    def heeds(self, edge: Edge) -> bool:
        """Whether some point cannot take an edge, or is another one behind it."""
        if edge.kind is EdgeKind.BRANCH and edge.node is not None:
            return self.is_decided_by(edge.node, edge.frame)
        if edge.kind is EdgeKind.EXHAUSTED and isinstance(edge.node, For | Comprehension):
            return self.is_decided_by(edge.node, edge.frame)
        return edge.node is not None and self._is_told_of(edge.node, edge.frame)

    def _is_told_of(self, node: Node, frame: int) -> bool:
        """Whether an exception that a handler catches is told to a later test, in a way that no answer is followed."""
        if not isinstance(node, ExceptHandler):
            return False
        if id(node) not in self._told:
            self._told[id(node)] = leaves_word(self.roles.scene.homes[frame].index, node)
        return self._told[id(node)]

    def behind(self, edge: Edge, here: Standing) -> Iterable[Standing]:
        """The points behind an edge."""
        if edge.kind is EdgeKind.BRANCH and self._is_impossible(edge, here):
            return ()
        if edge.node is not None and self._is_told_of(edge.node, edge.frame):
            return ()
        if edge.kind is EdgeKind.EXHAUSTED and isinstance(edge.node, For | Comprehension):
            for place in self.loops.ending(edge.node, edge.frame):
                turn = here.turn(place)
                if turn is not None and not turn[0] and not self.loops.may_leave_out(edge.node, edge.frame):
                    return ()
                here = here.with_turn(place, None)
            for place in self.loops.keyed(edge.node, edge.frame):
                here = self._left(edge, place, here)
            for scaler in self.choosing.get((id(edge.node), edge.frame), ()):
                record = replace(here.protocol.scaler(scaler), has_record=True)
                here = replace(here, protocol=here.protocol.with_scaler(scaler, record))
            if (id(edge.node), edge.frame) in self.updating:
                # Such a loop is there for all scalers; that it has no turn is no path that counts.
                for scaler in self.roles.scalers:
                    here = self._forgotten(here, Event(EventKind.FORGET, None, scaler))
        return (here,)

    def _is_impossible(self, edge: Edge, here: Standing) -> bool:
        if not edge.is_true and is_type_test(self.roles, edge.node, edge.frame):
            return True
        if not edge.is_true and not here.is_idle and edge.node is not None and asks_for_gradients(edge.node):
            return True
        if optimizer_test(self.roles, edge.node, edge.frame) is (not edge.is_true):
            return True  # Without it there is nothing to step.
        asked = scaler_test(self.roles, edge.node, edge.frame)
        return asked is not None and edge.is_true is not asked[1] and carries(here.protocol, asked[0])

    def _left(self, edge: Edge, place: Term, here: Standing) -> Standing:
        """Behind a loop over some keys: nobody knows whether the optimizer that is followed was among them."""
        turn = here.turn(place)
        here = here.with_turn(place, None)
        assert edge.node is not None
        if turn is None or turn[0] or self.loops.may_leave_out(edge.node, edge.frame):
            return here
        return self._forgotten(here, Event(EventKind.FORGET, None, None, (place,)))

    def _forgotten(self, here: Standing, event: Event) -> Standing:
        return replace(here, protocol=self.automaton.advance(here.protocol, event)[0])
