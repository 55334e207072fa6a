"""Which calls give the same object each time: `get_scaler()` of a global or of a cache, `self.get_scaler()`.

Knows functions in sight that return one attribute or global on every path; what makes a new object is none of them.
"""

from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.callees import is_self
from amplint.flow.terms import Term, is_place
from amplint.model.tree import Attribute, Call, Constant, Expr, FunctionDef, Module, Name
from amplint.model.walks import own_returns

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.protocol.scene import Scene

CACHES = frozenset({"functools.lru_cache", "functools.cache"})
OF_CLASSES = frozenset({"builtins.staticmethod", "builtins.classmethod"})


class Getters(Struct):
    """The calls of a scene that were asked about; the scene is lent by who asks, so that neither keeps the other alive.

    givers tells for each place that some of them give which functions give it, each with its module.
    """

    givers: "dict[Term, dict[FunctionDef, Facts]]" = field(default_factory=dict)
    _known: dict[tuple[int, int], Term | None] = field(default_factory=dict)

    def place(self, scene: "Scene", call: Call, frame: int) -> Term | None:
        """The place whose value a call in a frame gives each time; None where that is not known."""
        key = (id(call), frame)
        if key not in self._known:
            self._known[key] = None  # a receiver that is got by the same call is not known
            found = scene.callees.function(call, frame, scene.frames) if not call.args else None
            place = self._given(scene, call, frame, *found) if found is not None else None
            if place is not None and found is not None:
                self.givers.setdefault(place, {})[found[1]] = found[0]
            self._known[key] = place
        return self._known[key]

    def _given(self, scene: "Scene", call: Call, frame: int, home: "Facts", function: FunctionDef) -> Term | None:
        if function.is_async or home.index.is_generator(function):
            return None
        decorators = [_decorator(home, each) for each in function.decorators]
        is_method = home.index.klass(function) is not None
        if len(decorators) == 1 and decorators[0] in CACHES and not is_method:
            return ("name", f"{function.name}()", "" if home is scene.facts else home.path)
        if any(each not in OF_CLASSES for each in decorators):
            return None
        me = scene.place(call.func.value, frame) if is_method and isinstance(call.func, Attribute) else None
        returned = [each.value for each in own_returns(function)]
        given = {_returned(scene, home, function, value, me) for value in returned}
        return given.pop() if len(given) == 1 else None


def _returned(scene: "Scene", home: "Facts", function: FunctionDef, value: Expr | None, me: Term | None) -> Term | None:
    """The place that a function returns: an attribute of its object or class, or a global."""
    root = value
    while isinstance(root, Attribute):
        root = root.value
    if value is None or not isinstance(root, Name):
        return None
    found = home.names.lookup(root.id, root)
    is_global = bool(found) and isinstance(found[0].scope, Module)
    if not is_global and (me is None or value is root or not is_self(function, root.id)):
        return None
    place = scene.outside.term(home, value, me)
    return place if is_place(place) else None


def _decorator(home: "Facts", expr: Expr) -> str | None:
    """The dotted name of a decorator; of a cache that is told to keep nothing, none."""
    if not isinstance(expr, Call):
        return home.names.canonical(expr)
    keeps_nothing = any(isinstance(each.value, Constant) and each.value.value == 0 for each in expr.args)
    return None if keeps_nothing else home.names.canonical(expr.func)
