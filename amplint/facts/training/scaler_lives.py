"""How long the scalers of a module live: whether one that is saved at some place could be the one that trains on.

Refuses to follow a scaler that is handed to anything.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.callers import calls_of
from amplint.knowledge import training_names as known
from amplint.model.tree import Assign, Attribute, Call, ClassDef, FunctionDef, IfExp, Name, Node, Return
from amplint.model.walks import own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


class ScalerLives:
    """The scalers that one module makes, and what throws them away."""

    def __init__(self, facts: "Facts") -> None:
        self._facts = facts

    def reach(self, place: Node) -> bool:
        """Whether some scaler may still be of use after a checkpoint is written: False where each is made anew."""
        return not self._made or not all(self._is_thrown_away(call, place) for call in self._made)

    @cached_property
    def _made(self) -> list[Call]:
        index, constructors = self._facts.index, self._facts.constructors
        return [call for call in index.calls if constructors.may_make(call, known.is_scaler)]

    def _is_thrown_away(self, call: Call, place: Node) -> bool:
        """Whether a scaler is a local of a loop's turn, or of a function that a loop calls, and is not there any more.

        A checkpoint that is written where the scaler lives, in a loop of its own, is one of a run that goes on.
        """
        index = self._facts.index
        statement = index.parents.get(call)
        while isinstance(statement, IfExp):
            statement = index.parents.get(statement)
        if not isinstance(statement, Assign) or not isinstance(statement.targets[0], Name):
            return False
        loops = index.loops(call)
        if loops:
            return index.loops(place)[:1] == loops[:1] and index.function(place) is index.function(call)
        function = index.function(call)
        if not isinstance(function, FunctionDef) or index.function(place) is function:
            return False
        returned = (node for node in own_nodes(function) if isinstance(node, Return))
        if any(isinstance(n, Name) and n.id == statement.targets[0].id for each in returned for n in walk(each)):
            return False
        return self._is_called_in_a_loop(function)

    def _is_called_in_a_loop(self, function: FunctionDef) -> bool:
        index = self._facts.index
        if isinstance(index.parents.get(function), ClassDef):
            calls = (c for c in index.calls if isinstance(c.func, Attribute) and c.func.attr == function.name)
            return any(index.loops(call) for call in calls)
        return any(caller.index.loops(call) for caller, call in calls_of(self._facts, function))
