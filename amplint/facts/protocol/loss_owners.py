"""Whose loss a loss is: the one optimizer whose modules went into it, as the functions show that made it.

Knows what names were given and what functions in sight return; refuses to look past a cut graph, or into a generator.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.callers import bind
from amplint.facts.program.latest import latest
from amplint.facts.program.origins import returns
from amplint.facts.protocol.loss_sources import given
from amplint.facts.protocol.roles import Roles
from amplint.facts.protocol.scene import Scene
from amplint.flow.graph import Owner
from amplint.flow.terms import OPAQUE, Term
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name, Node
from amplint.model.walks import children

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# What leaves a part of the model out of the graph: what it is asked of, or all that runs under it.
CUTTING = frozenset({"detach", "data"})
SUSPENDING = frozenset({"no_grad", "inference_mode"})
# What a call of a module or of its class runs: the module itself is what counts there.
OF_OBJECTS = frozenset({"__call__", "__init__", "forward"})
MOST_NODES = 400
MOST_CALLS = 2


def owner_of_loss(scene: Scene, roles: Roles, loss: Node, frame: int) -> Term | None:
    """The only optimizer among several whose modules went into a loss; None where there is none, or it is not seen."""
    known = roles.optimizers.values()
    if len(known) < 2 or any(role.is_element or not role.modules for role in known):
        return None
    search = _Search(scene)
    if not search.follow(loss, _Inside(scene.homes[frame], scene.frames[frame].function, frame)):
        return None
    found = [role.place for role in known if not search.places.isdisjoint(role.modules)]
    return found[0] if len(found) == 1 else None


class _Inside(Struct):
    """A function that a part of the loss is made in: one of a frame, or one that a call runs, with what that passes.

    me is the place of the object whose method it is.
    """

    home: "Facts"
    function: Owner
    frame: int
    passed: dict[str, Expr | None] = {}
    around: "_Inside | None" = None
    me: Term | None = None

    @property
    def depth(self) -> int:
        """How many calls lead here from the frame."""
        return 0 if self.around is None else self.around.depth + 1


class _Search(Struct):
    """Collects the places that a loss's graph may lead to."""

    scene: Scene
    places: set[Term] = field(default_factory=set)
    count: int = 0

    def follow(self, loss: Node, inside: _Inside) -> bool:
        """Whether all could be seen that a loss is made of."""
        pending, seen = [(loss, inside)], set[tuple[int, int]]()
        while pending:
            node, here = pending.pop()
            self.count += 1
            if self.count > MOST_NODES or (isinstance(node, Attribute) and node.attr in SUSPENDING):
                return False
            if isinstance(node, Attribute) and node.attr in CUTTING:
                continue
            called = self._called(node, here) if isinstance(node, Call) else None
            if called is not None and called[1].name not in OF_OBJECTS:
                entered = self._entered(node, *called, here)
                if entered is None:
                    return False
                pending += ((value, entered) for value in returns(called[1]))
                continue
            if isinstance(node, Name | Attribute):
                self.places.add(self._place(node, here))
            for source, where in self._sources(node, here) if isinstance(node, Name) else ():
                if (id(source), id(where)) not in seen:
                    seen.add((id(source), id(where)))
                    pending.append((source, where))
            pending.extend((child, here) for child in children(node))
        return True

    def _called(self, call: Call, here: _Inside) -> "tuple[Facts, FunctionDef] | None":
        if here.around is None:
            found = self.scene.callees.function(call, here.frame, self.scene.frames)
            if found is not None:
                return found
        return here.home.targets.function(call)

    def _entered(self, call: Node, home: "Facts", function: FunctionDef, here: _Inside) -> _Inside | None:
        """The function that a call runs, where each of its parameters is told by the call."""
        is_method = isinstance(home.index.parents.get(function), ClassDef)
        if here.depth >= MOST_CALLS or function.decorators or home.index.is_generator(function):
            return None
        if not isinstance(call, Call) or not list(returns(function)):
            return None
        me = self._place(call.func.value, here) if is_method and isinstance(call.func, Attribute) else None
        passed = bind(function, call, has_self=is_method)
        is_told = None not in passed.values() and (not is_method or me not in (None, OPAQUE))
        return _Inside(home, function, -1, passed, here, me) if is_told else None

    def _sources(self, name: Name, here: _Inside) -> "list[tuple[Node, _Inside]]":
        """What a name of a function was given: there, or by the call that runs it."""
        found: list[tuple[Node, _Inside]] = []
        for binding in latest(here.home.index, here.home.names.lookup(name.id, name), name):
            value = here.passed.get(name.id) if binding.kind == "parameter" else None
            if binding.scope is here.function and value is not None and here.around is not None:
                found.append((value, here.around))
            elif binding.scope is here.function:
                found += ((source, here) for source in given(here.home.index, binding))
        return found

    def _place(self, node: Expr, here: _Inside) -> Term:
        if here.around is None:
            return self.scene.place(node, here.frame)
        match node:
            case Attribute():
                value = self._place(node.value, here)
                return self.scene.terms.attribute(value, node.attr) if value != OPAQUE else OPAQUE
            case Name() if (argument := here.passed.get(node.id)) is not None:
                return self._place(argument, here.around)
            case Name() if here.me is not None and _is_first(here.function, node.id):
                return here.me
            case Name() if not any(b.scope is here.function for b in here.home.names.lookup(node.id, node)):
                return ("name", node.id, "" if here.home is self.scene.facts else here.home.path)
            case _:
                return OPAQUE


def _is_first(function: Owner, name: str) -> bool:
    return isinstance(function, FunctionDef) and function.parameters[:1] != () and function.parameters[0].name == name
