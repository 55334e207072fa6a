"""One graph with its called functions in place, and what its expressions stand for: places, their aliases and origins.

Knows no event and no role; `roles.py` says which places are scalers and optimizers.
"""

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from amplint.facts.program.bindings import Binding
from amplint.facts.program.callees import Callees
from amplint.facts.program.classes import handing_on
from amplint.facts.program.origins import Activation, Origin, Origins
from amplint.facts.protocol.answering_methods import answering
from amplint.facts.protocol.bound_methods import BoundMethods
from amplint.facts.protocol.getters import Getters
from amplint.facts.protocol.handed import Handed
from amplint.facts.protocol.loop_targets import parts_of, zipped
from amplint.facts.protocol.outside import Outside
from amplint.facts.protocol.places import is_known_place
from amplint.flow.graph import Frame, IsEntered, Owner, Step, StepKind
from amplint.flow.inline import expand
from amplint.flow.statements import build
from amplint.flow.terms import Term, Terms
from amplint.model.tree import (
    Attribute,
    Call,
    ClassDef,
    Comprehension,
    Expr,
    For,
    FunctionDef,
    Generator,
    Lambda,
    Module,
    Name,
    Node,
    Subscript,
)
from amplint.model.walks import own_calls, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

LONGEST_CHAIN = 6
# Calls that hand their argument on: what comes out is what went in, or its elements.
PASSING_ON = frozenset({"enumerate", "list", "tuple", "zip", "reversed", "iter", "sorted", "values", "items"})


class Scene:
    """A root function (or module) with everything that it calls. klass: what its self is an instance of."""

    def __init__(
        self,
        facts: "Facts",
        root: Owner,
        klass: "tuple[Facts, ClassDef] | None",
        is_wanted: "Callable[[Facts, FunctionDef | Lambda], bool]",
        is_entered: IsEntered,
    ) -> None:
        self.facts = facts
        self.callees = Callees(facts, klass, is_wanted)
        self.graph = expand(build(root, is_entered), self.callees, is_entered=is_entered)
        # The activations of functions in the graph.
        self.frames: tuple[Frame, ...] = self.graph.frames
        steps = (step for _, _, step in self.graph.steps())
        answers = answering(steps, self.frames, self.callees)
        self.terms = Terms(self.graph, self._properties(), answers)
        self.outside = Outside(facts, self.terms)
        self._handed = Handed()
        self.getters = Getters()
        self._bound = BoundMethods()
        self._places: dict[tuple[int, int], Term] = {}
        self._nodes: list[Node] = []

    @cached_property
    def homes(self) -> "tuple[Facts, ...]":
        """The module of each frame."""
        frames = self.graph.frames
        return tuple(self.callees.home(frames, number) for number in range(len(frames)))

    def _properties(self) -> dict[str, str]:
        """The properties of the objects whose methods run here that only hand on one of their attributes."""
        found: dict[str, str] = {}
        for frame, home in zip(self.frames, self.homes, strict=True):
            klass = home.index.parents.get(frame.function)
            if isinstance(klass, ClassDef):
                found.update(handing_on(home, klass))
        return found

    @cached_property
    def me(self) -> Term | None:
        """The object whose method the root is."""
        root = self.frames[0].function
        if not isinstance(root, FunctionDef) or not root.parameters:
            return None
        is_method = isinstance(self.facts.index.parents.get(root), ClassDef)
        return ("name", root.parameters[0].name, 0) if is_method else None

    @cached_property
    def calls(self) -> tuple[tuple[Step, Call], ...]:
        """All calls of the graph, those whose function was put in their place too."""
        kinds = (StepKind.CALL, StepKind.OPEN)
        found = (step for _, _, step in self.graph.steps() if step.kind in kinds)
        return tuple((step, step.node) for step in dict.fromkeys(found) if isinstance(step.node, Call))

    def said(self, call: Call, frame: int) -> Call:
        """A call as one of a method of an object, where a name or an attribute holds the method."""
        return self._bound.said(self, call, frame)

    def activation(self, frame: int) -> Activation:
        """A frame as a place where expressions are evaluated."""
        return Activation(self.frames, self.homes, frame)

    def does_else(self, call: Call, frame: int) -> bool:
        """Whether a call is of a function in sight that has other work; one without any waits for a subclass."""
        is_harmless = (id(call), frame) in self.callees.harmless
        found = self.callees.function(call, frame, self.frames) if is_harmless else None
        return found is not None and bool(own_calls(found[1]))

    def origins(self, expr: Expr, frame: int) -> list[Origin]:
        """What may stand behind an expression of a frame."""
        return list(Origins().of(self.homes[frame], expr, self.activation(frame)))

    def place(self, expr: Expr, frame: int) -> Term:
        """The term of an expression with its aliases resolved: `opt = self.optimizer` makes `opt` that attribute.

        An element that is not told apart from the others of a collection is ("each", collection).
        """
        key = (id(expr), frame)
        if key not in self._places:
            self._nodes.append(expr)
            self._places[key] = self._shared(self.resolved(expr, frame))
        return self._places[key]

    def resolved(self, expr: Expr, frame: int) -> Term:
        """The term of an expression with its aliases resolved, in the very activation."""
        return self._resolved(self._said(expr, frame), LONGEST_CHAIN)

    def _said(self, expr: Expr, frame: int) -> Term:
        """The term of an expression; of a name that is assigned several times, what it was assigned last."""
        match expr:
            case Name():
                sole = self.homes[frame].sole_bindings.of(expr)
                value = sole.value if sole is not None and sole.scope is self.frames[frame].function else None
                is_got = isinstance(value, Call) and self.getters.place(self, value, frame) is not None
                if isinstance(value, Name | Attribute | Subscript | Call) and (
                    not isinstance(value, Call) or is_got or is_lookup(value)
                ):
                    return self._said(value, frame)
                return self.terms.of(expr, frame)
            case Call():
                return self.getters.place(self, expr, frame) or self.terms.of(expr, frame)
            case Attribute():
                return self.terms.attribute(self._said(expr.value, frame), expr.attr)
            case _:
                return self.terms.of(expr, frame)

    def spelled(self, place: Term, frame: int) -> str:
        """How the function of a frame writes a place, '' where it cannot name it."""
        function = self.frames[frame].function
        for parameter in getattr(function, "parameters", ()):
            if self._shared(self._resolved(self.terms.name(parameter.name, frame), LONGEST_CHAIN)) == place:
                return str(parameter.name)
        match place:
            case ("name", str(name), str(module)) if module == ("" if self.homes[frame] is self.facts else module):
                return name if self.homes[frame].names.bindings(self.homes[frame].module).get(name) else ""
            case ("name", str(name), int(owner)):
                around = (function, *self.homes[frame].index.ancestors(function))
                return name if self.frames[owner].function in around else ""
            case ("attr", tuple() as base, str(name)):
                inner = self.spelled(base, frame)
                return f"{inner}.{name}" if inner else ""
            case _:
                return ""

    def _shared(self, term: Term) -> Term:
        """The term with locals of the same function as one, whichever its activation: they never live side by side."""
        match term:
            case ("name", str(name), int(frame)):
                return ("name", name, self._first_frames[self.frames[frame].function])
            case ("attr" | "item" | "each" as kind, tuple() as base, *rest):
                return (kind, self._shared(base), *rest)
            case _:
                return term

    @cached_property
    def _first_frames(self) -> dict[Owner, int]:
        first: dict[Owner, int] = {}
        for number, frame in enumerate(self.frames):
            first.setdefault(frame.function, number)
        return first

    def _resolved(self, term: Term, budget: int) -> Term:
        match term:
            case ("name", str(name), int(frame)) if budget:
                return self._meant(name, frame, budget) or term
            case ("name", str(name), "") if budget and isinstance(self.frames[0].function, Module):
                return self._meant(name, 0, budget) or term
            case ("attr", tuple() as base, str(name)):
                holder = self._resolved(base, budget)
                return self._handed.inside(self, holder, name) or ("attr", holder, name)
            case ("item", tuple() as base, tuple() as index):
                resolved = self._resolved(base, budget)
                return ("item", resolved, index) if index[0] == "const" else ("each", resolved)
            case ("call", ("attr", tuple() as base, "get"), (("", tuple() as index), *_)):
                return self._resolved(("item", base, index), budget)
            case ("call", ("attr", tuple() as base, str(name)), ()) if name in PASSING_ON:
                return self._resolved(base, budget)
            case ("call", ("name", str(name), _), args) if name in PASSING_ON and args:
                return self._resolved(args[0][1], budget)  # type: ignore[index]
            case _:
                return term

    def _meant(self, name: str, frame: int, budget: int) -> Term | None:
        """What a local name stands for, where it is bound once."""
        function = self.frames[frame].function
        bindings = self.homes[frame].names.bindings(function).get(name) or self._comprised(name, frame)
        # `optimizer = optimizer.optimizer` is still the one that the loop has taken.
        bindings = tuple(b for b in bindings if not _is_part_of(b.value, name)) or bindings
        if not bindings or any(binding.kind != "other" for binding in bindings[1:]):
            return None
        binding = bindings[0]
        if isinstance(binding.value, Name | Attribute | Subscript) or is_lookup(binding.value):
            meant = self._resolved(self.terms.of(binding.value, frame), budget - 1)
            return meant if meant[0] == "each" or is_known_place(meant) else None
        if isinstance(binding.value, Call) and (got := self.getters.place(self, binding.value, frame)) is not None:
            return got
        elements = {self._element(b.node, name, frame, budget) if b.kind == "other" else None for b in bindings}
        if len(elements) == 1 or None in elements:
            return elements.pop() if len(elements) == 1 else None
        return ("each", ("name", name, frame))

    def _comprised(self, name: str, frame: int) -> tuple[Binding, ...]:
        """The bindings of a name in the comprehensions of a function that does not bind it itself."""
        home, function = self.homes[frame], self.frames[frame].function
        scopes = [node for node in own_nodes(function) if type(node) is Comprehension]
        return tuple(binding for scope in scopes for binding in home.names.bindings(scope).get(name, ()))

    def _element(self, target: Node, name: str, frame: int, budget: int) -> Term | None:
        """The collection that a loop target goes through."""
        loop: Node | None = target
        index = self.homes[frame].index
        while loop is not None and not isinstance(loop, For | Generator | FunctionDef | Module):
            loop = index.parents.get(loop)
        if not isinstance(loop, For | Generator):
            return None
        source = loop.iter
        taken = zipped(loop.target, source, name)
        collection = self._resolved(self.terms.of(taken, frame), budget - 1)
        if not is_known_place(collection):
            return ("each", ("name", name, frame))
        element: Term = ("each", collection)
        for part in parts_of(loop.target, source, name) if taken is source else ():
            element = ("item", element, ("const", "int", part))
        return element

    def local_or_foreign(self, origin_facts: "Facts", expr: Expr, frame: int, me: Term | None) -> Term:
        """The term of an expression that may stand in the function of a frame, or in a method outside the graph."""
        home = self.homes[frame]
        if origin_facts is home:
            number = frame
            around = home.index.function(expr)
            while number >= 0:
                function = self.frames[number].function
                if function is around or (around is None and isinstance(function, Module)):
                    return self.place(expr, number)
                number = self.frames[number].parent
        return self.outside.term(origin_facts, expr, me)


def is_lookup(value: Node | None) -> bool:
    """Whether a value is taken out of a dictionary by its key: `optimizers.get(name)`."""
    match value:
        case Call(func=Attribute(attr="get"), args=(_, *_)):
            return True
        case _:
            return False


def _is_part_of(value: Node | None, name: str) -> bool:
    """Whether a value is an attribute of what a name holds, or of what is inside that."""
    if not isinstance(value, Attribute):
        return False
    while isinstance(value, Attribute):
        value = value.value
    return isinstance(value, Name) and value.id == name
