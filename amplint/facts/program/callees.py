"""Which function a call runs: by name, on self, on objects whose class is in sight, through `super()` and `__call__`.

Unknown callees stay unknown. Generators are not followed, for their body does not run at the call.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from amplint.facts.program.bound_functions import BoundFunction, bound_function, named_function
from amplint.facts.program.callers import bind
from amplint.facts.program.classes import class_made, lookup_order, method
from amplint.facts.program.escapes import keeps
from amplint.facts.program.held import Choice, Held
from amplint.facts.program.held_functions import HeldFunctions
from amplint.facts.program.origins import Activation, Origins, klass_of
from amplint.flow.graph import Frame, Owner, Step
from amplint.flow.inline import Callee, Ends, Fork
from amplint.knowledge.training_names import SCALER_CLASSES
from amplint.model.tree import Attribute, Call, ClassDef, Constant, Expr, FunctionDef, Lambda, Name, Raise, WithItem
from amplint.model.walks import last_name, own_calls, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

NOT_THERE = "NotImplementedError"
MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})


class Callees:
    """Finds callees in the frames of one graph. klass is the class that the root's self is an instance of.

    homes remembers the module of every function that was found, harmless the calls (with their frame) of functions that
    are seen, have nothing to do with a training step, and hand nothing on that they are given; abstract those of
    methods that only subclasses have a body for; managed the `with` items whose managers are generators in sight.
    """

    def __init__(
        self,
        facts: "Facts",
        klass: "tuple[Facts, ClassDef] | None",
        is_wanted: "Callable[[Facts, FunctionDef | Lambda], bool]",
    ) -> None:
        self._facts = facts
        self._klass = klass
        self._is_wanted = is_wanted
        self.homes: dict[Owner, Facts] = {}
        self.harmless: set[tuple[int, int]] = set()
        self.abstract: set[tuple[int, int]] = set()
        self.managed: set[tuple[int, int]] = set()
        # The last frames that were asked about, for they seldom change from call to call.
        self._frames: tuple[Frame, ...] = ()
        self._homes: tuple[Facts, ...] = ()

    def __call__(self, step: Step, frames: tuple[Frame, ...]) -> Callee | Fork | Ends | None:
        """The callee of a call step, if its function is in sight and wanted; of a `with` item, its manager's maker."""
        if isinstance(step.node, WithItem):
            return self._manager(step.node, step.frame, frames)
        if not isinstance(step.node, Call):
            return None
        found = self._find(step.node, step.frame, frames)
        if found is None:
            return self._held(self._bound(step, frames), step)
        home, function, me = found
        if is_abstract(function):
            self.abstract.add((id(step.node), step.frame))
            return None
        if not self._is_wanted(home, function) and not self._runs_an_argument(step, function, frames):
            if keeps(home, function, step.node, has_self=me is not None):
                self.harmless.add((id(step.node), step.frame))
            return None
        return None if home.index.is_generator(function) else self._called(step.node, home, function, me)

    def _called(self, call: Call, home: "Facts", function: FunctionDef | Lambda, me: Expr | None) -> Callee:
        self.homes[function] = home
        passed = bind(function, call, has_self=me is not None)
        if me is not None and function.parameters:
            passed[function.parameters[0].name] = me
        return Callee(function, tuple(passed.items()), "" if home is self._facts else home.path)

    def _manager(self, item: WithItem, frame: int, frames: tuple[Frame, ...]) -> Callee | Ends | None:
        """The generator whose call is the manager of a `with` item, or the methods of the object that is one."""
        call = item.context
        found = self._find(call, frame, frames) if isinstance(call, Call) else None
        if found is None or not isinstance(call, Call):
            return self._object(item, frame, frames)
        home, function, me = found
        is_maker = any(home.names.canonical(decorator) in MANAGERS for decorator in function.decorators)
        if not is_maker or not self._is_wanted(home, function):
            return None
        self.managed.add((id(item), frame))
        self.harmless.add((id(call), frame))
        return self._called(call, home, function, me)

    def _object(self, item: WithItem, frame: int, frames: tuple[Frame, ...]) -> Ends | None:
        """What an object in sight runs as a manager; one without a name has to hold nothing but what it was handed."""
        klass = self.klass_of(item.context, frame, frames)
        if klass is None or item.target is not None:
            return None
        if isinstance(item.context, Call) and not _is_of_arguments(*klass, self.home(frames, frame), item.context):
            return None
        found = [method(*klass, name) for name in ("__enter__", "__exit__")]
        ways = [way for way in found if way is not None and _takes_self(*way)]
        if len(ways) != len(found) or not any(self._is_wanted(*way) for way in ways):
            return None
        self.managed.add((id(item), frame))
        self.harmless.add((id(item.context), frame))
        enter, leave = (self._run(item.context, *way) for way in ways)
        return Ends(enter, leave)

    def _run(self, me: Expr, home: "Facts", function: FunctionDef) -> Callee:
        """A method of a manager; no exception is handed to it."""
        self.homes[function] = home
        first, *others = function.parameters
        nothing = Constant(me.span, None)
        passed = ((first.name, me), *((each.name, nothing) for each in others if not each.kind.startswith("*")))
        return Callee(function, passed, "" if home is self._facts else home.path)

    def _bound(self, step: Step, frames: tuple[Frame, ...]) -> Held:
        """The function that a partial, a maker, a lambda or a choice gave to what a call calls."""
        assert isinstance(step.node, Call)
        home = self.home(frames, step.frame)
        bound = bound_function(home, step.node.func, frames[step.frame].function)
        if bound is not None:
            return bound
        func = step.node.func
        held = HeldFunctions(self.activation(frames, step.frame)).of(home, func, step.frame)
        if held is not None and isinstance(func, Attribute) and self._may_be_scaler(func.value, step.frame, frames):
            return None
        return held

    def _held(self, held: Held, step: Step) -> Callee | Fork | None:
        """The callee or callees of a call that runs a function which something holds."""
        if isinstance(held, Choice):
            sides = self._held(held.yes, step), self._held(held.no, step)
            return Fork(held.test, held.frame, *sides) if sides != (None, None) else None
        if not isinstance(held, BoundFunction) or not isinstance(step.node, Call):
            return None
        is_generator = held.home.index.is_generator(held.function)
        is_elsewhere = held.me is not None and held.frame != step.frame
        if is_generator or is_elsewhere or not self._is_wanted(held.home, held.function):
            return None
        callee = self._called(held.called(step.node), held.home, held.function, held.me)
        return replace(callee, captured=held.captured, around=held.frame)

    def _runs_an_argument(self, step: Step, function: FunctionDef, frames: tuple[Frame, ...]) -> bool:
        """Whether a function calls a parameter that gets a wanted function: `timed(train_step)`."""
        assert isinstance(step.node, Call)
        given = {name: value for name, value in bind(function, step.node).items() if isinstance(value, Name)}
        if not given:
            return False
        called = {call.func.id for call in own_calls(function) if isinstance(call.func, Name)}
        named = (named_function(self.home(frames, step.frame), given[name]) for name in given.keys() & called)
        return any(found is not None and self._is_wanted(*found) for found in named)

    def function(self, call: Call, number: int, frames: tuple[Frame, ...]) -> "tuple[Facts, FunctionDef] | None":
        """The function in sight that a call of some frame runs, whether or not it is wanted in the graph."""
        found = self._find(call, number, frames)
        return found[:2] if found is not None else None

    def home(self, frames: tuple[Frame, ...], number: int) -> "Facts":
        """The module of a frame's function."""
        return self.homes.get(frames[number].function, self._facts)

    def activation(self, frames: tuple[Frame, ...], number: int) -> Activation:
        """The frame as a place where expressions are evaluated."""
        if frames is not self._frames:
            self._frames, self._homes = frames, tuple(self.home(frames, n) for n in range(len(frames)))
        return Activation(frames, self._homes, number)

    def _find(
        self, call: Call, number: int, frames: tuple[Frame, ...]
    ) -> "tuple[Facts, FunctionDef, Expr | None] | None":
        func, home = call.func, self.home(frames, number)
        if isinstance(func, Attribute):
            found = self._method(func, number, frames)
            if found is not None:
                return found
        named = named_function(home, func)
        if named is not None:
            return (*named, None)
        passed = HeldFunctions(self.activation(frames, number)).of(home, func, number) if type(func) is Name else None
        if isinstance(passed, BoundFunction) and isinstance(passed.function, FunctionDef) and passed.is_bare:
            return passed.home, passed.function, None
        klass = self.klass_of(func, number, frames)
        called = method(*klass, "__call__") if klass is not None else None
        return (*called, func) if called is not None else None

    def _method(
        self, func: Attribute, number: int, frames: tuple[Frame, ...]
    ) -> "tuple[Facts, FunctionDef, Expr | None] | None":
        value, home = func.value, self.home(frames, number)
        if isinstance(value, Call) and isinstance(value.func, Name) and value.func.id == "super":
            klass, me = self.klass_of_self(number, frames), _some_self(frames[number].function)
            here = home.index.klass(func)
            found = method(*klass, func.attr, after=here) if klass is not None and here is not None else None
            return (*found, me) if found is not None else None
        klass = self.klass_of(value, number, frames)
        if klass is None or self._may_be_scaler(value, number, frames):
            return None
        found = method(*klass, func.attr)
        if found is None:
            return None
        is_static = any(isinstance(d, Name) and d.id == "staticmethod" for d in found[1].decorators)
        return (*found, None if is_static else value)

    def _may_be_scaler(self, value: Expr, number: int, frames: tuple[Frame, ...]) -> bool:
        """Whether an object is a torch scaler on some path, so that its class in sight only stands in for one."""
        found = Origins().of(self.home(frames, number), value, self.activation(frames, number))
        calls = ((origin.facts, origin.expr.func) for origin in found if isinstance(origin.expr, Call))
        return any(SCALER_CLASSES.intersection(facts.names.meaning(func).names) for facts, func in calls)

    def klass_of(self, expr: Expr, number: int, frames: tuple[Frame, ...]) -> "tuple[Facts, ClassDef] | None":
        """The class of an object that a frame sees."""
        if isinstance(expr, Name) and is_self(frames[number].function, expr.id):
            klass = self.klass_of_self(number, frames)
            if klass is not None:
                return klass
        return klass_of(self.home(frames, number), expr, self.activation(frames, number))

    def klass_of_self(self, number: int, frames: tuple[Frame, ...]) -> "tuple[Facts, ClassDef] | None":
        """The class of the first parameter of a frame's method."""
        frame, home = frames[number], self.home(frames, number)
        static = home.index.parents.get(frame.function)
        own = (home, static) if isinstance(static, ClassDef) else None
        if number == 0:
            return self._klass or own
        first = frame.function.parameters[:1] if isinstance(frame.function, FunctionDef) else ()
        for passing in frame.passed:
            if first and passing.parameter is first[0] and isinstance(passing.value, Name):
                if is_self(frames[passing.frame].function, passing.value.id):
                    return self.klass_of_self(passing.frame, frames) or own
                return self.klass_of(passing.value, passing.frame, frames) or own
        return own


def _takes_self(home: "Facts", function: FunctionDef) -> bool:
    """Whether a function of a class runs as a method of its objects, at the call."""
    return bool(function.parameters) and not function.decorators and not home.index.is_generator(function)


def _is_of_arguments(owner: "Facts", klass: ClassDef, home: "Facts", made: Call) -> bool:
    """Whether a call makes an object of a class that holds what it is handed, and numbers or texts."""
    found = class_made(home, made)
    values = (value for home, known in lookup_order(owner, klass) for value in _given(home, known))
    return found is not None and found[1] is klass and all(isinstance(value, Name | Constant) for value in values)


def _given(home: "Facts", klass: ClassDef) -> "Iterator[Expr | None]":
    return (value for values in home.attributes(klass).values() for value in values)


def is_abstract(function: FunctionDef) -> bool:
    """Whether a method is there to be overridden: marked so, or raising NotImplementedError."""
    if any(last_name(decorator) == "abstractmethod" for decorator in function.decorators):
        return True
    last = function.body[-1] if function.body else None
    raised = last.exc if isinstance(last, Raise) else None
    return raised is not None and last_name(raised.func if isinstance(raised, Call) else raised) == NOT_THERE


def is_self(function: Owner, name: str) -> bool:
    """Whether a name is that of the first parameter of a function."""
    return isinstance(function, FunctionDef) and bool(function.parameters) and function.parameters[0].name == name


def _some_self(function: Owner) -> Expr | None:
    """An expression for self in a method: any mention of it."""
    if not isinstance(function, FunctionDef) or not function.parameters:
        return None
    me = function.parameters[0].name
    return next((node for node in walk(function) if isinstance(node, Name) and node.id == me), None)
