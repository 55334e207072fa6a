"""What becomes of an object that a call is given: whether anything in sight hands it on to something unseen.

Goes by mention alone and by the names of methods; which objects are scalers and optimizers is for `roles.py`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from amplint.facts.program.bound_functions import named_function
from amplint.facts.program.callers import bind
from amplint.facts.program.classes import assigned, base_names, method
from amplint.model.tree import Assign, Attribute, Call, ClassDef, FunctionDef, Lambda, Name
from amplint.model.walks import is_none, is_of_self, last_name, own_calls, own_nodes, root_of, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Built-in and library calls that may look at a scaler or an optimizer, but neither step nor unscale.
COLLECTING = frozenset(
    f"builtins.{name}"
    for name in ("zip", "enumerate", "list", "tuple", "set", "dict", "reversed", "sorted", "iter", "next")
)
HARMLESS = frozenset({"print", "isinstance", "len", "id", "type", "getattr", "hasattr", "repr", "str", "bool", "super"})
KEEPING = frozenset({"state_dict", "load_state_dict", "save", "load", "save_checkpoint", "load_checkpoint"})
TELLING = frozenset({"append", "add", "info", "debug", "log", "register", "watch", "format", "add_scalar"})
HARMLESS_METHODS = KEEPING | TELLING | {"save_model", "load_model"}
# How the names of functions begin that write something down, or read it.
SHOWING = ("save_", "log_", "print_", "plot_", "load_", "resume_")
TOUCHING = ("step", "backward", "optim", "update", "scal", "grad", "clip", "train", "apply")
# Methods without a body whose bodies surely leave the step to others.
PREPARING = (
    "loss",
    "forward",
    "predict",
    "criterion",
    "compute",
    "eval",
    "valid",
    "log",
    "save",
    "load",
    "data",
    "build",
)
# What torch's modules do to themselves, under names that would say more of another object.
OF_MODULES = frozenset({"train", "requires_grad_", "apply", "compile"})
MODULES = ("Module", "nn.Sequential", "abc.ABC")
DEEPEST = 3


def is_harmless(home: "Facts", call: Call) -> bool:
    """Whether a call of something unseen does nothing to what it is given, by its name."""
    name = last_name(call.func)
    if name in HARMLESS or name in HARMLESS_METHODS or name[:1].isupper() or name.lstrip("_").startswith(SHOWING):
        return True
    if (name in OF_MODULES and _is_of_module(home, call)) or _is_of_an_object(home, call):
        return True
    canonical = home.names.canonical(call.func)
    is_of_torch = canonical is not None and canonical.startswith("torch.") and "optim" not in canonical
    return is_of_torch or canonical in COLLECTING


def _is_of_module(home: "Facts", call: Call) -> bool:
    """Whether a call is of a method that `self` has from torch's modules, and not from another base."""
    klass = home.index.klass(call)
    if klass is None or not is_of_self(call.func) or method(home, klass, last_name(call.func)) is not None:
        return False
    bases = [base for base in base_names(home, klass) if home.definition(base) is None]
    return bool(bases) and all(base.endswith(MODULES) for base in bases)


def _is_of_an_object(home: "Facts", call: Call) -> bool:
    """Whether what is called is an object that `self` was given, as `self.model_train`: it knows nothing of `self`."""
    func, klass = call.func, home.index.klass(call)
    return klass is not None and isinstance(func, Attribute) and _holds_objects(home, klass, func)


def _holds_objects(home: "Facts", klass: ClassDef, place: Attribute, depth: int = DEEPEST) -> bool:
    """Whether an attribute of `self` holds what calls made that were given neither `self` nor a method of it."""
    if not is_of_self(place) or not depth or method(home, klass, place.attr) is not None:
        return False
    values = [pair for pair in assigned(home, klass, place.attr) if pair[1] is None or not is_none(pair[1])]

    def is_method(name: str) -> bool:
        return method(home, klass, name) is not None

    return bool(values) and all(
        _holds_objects(home, klass, value, depth - 1)
        if isinstance(value, Attribute)
        else isinstance(value, Call) and not _mentions_self(owner, value, is_method)
        for owner, value in values
    )


def _mentions_self(owner: "Facts", made: Call, is_method: Callable[[str], bool]) -> bool:
    """Whether a call is given `self` or a method of it, or a function that may know it."""
    for node in walk(made):
        around = owner.index.parents.get(node)
        if isinstance(node, Lambda):
            return True
        if (
            isinstance(node, Name)
            and node.id == "self"
            and not (isinstance(around, Attribute) and not is_method(around.attr))
        ):
            return True
    return False


def is_touching(method: str, is_abstract: bool) -> bool:
    """Whether a method of something unseen may serve what its object holds, by its name.

    Of one that a subclass has to write nothing is known but its name: it may be the whole step.
    """
    is_named_so = any(part in method for part in TOUCHING)
    return is_named_so or (is_abstract and not any(part in method for part in PREPARING))


def keeps(home: "Facts", function: FunctionDef, call: Call, has_self: bool, depth: int = DEEPEST) -> bool:
    """Whether a function that has nothing to do with a training step hands on nothing that a call of it passes."""
    passed = {name for name, value in bind(function, call, has_self).items() if isinstance(value, Name | Attribute)}
    if not passed:
        return True
    passed |= {
        target.id
        for node in own_nodes(function)
        if type(node) is Assign and isinstance(node.value, Name) and node.value.id in passed
        for target in node.targets
        if isinstance(target, Name)
    }
    return not any(_lets_go(home, call, passed, depth) for call in own_calls(function))


def _lets_go(home: "Facts", call: Call, names: set[str], depth: int) -> bool:
    root = root_of(call.func)
    is_method = isinstance(call.func, Attribute) and root is not None and root.id in names
    if is_method and any(part in last_name(call.func) for part in TOUCHING) and not is_harmless(home, call):
        return True
    if not any(isinstance(argument.value, Name) and argument.value.id in names for argument in call.args):
        return False
    if is_harmless(home, call):
        return False
    own = _own_method(home, call)
    named = own or named_function(home, call.func)
    if named is None or not depth:
        return True
    return not keeps(*named, call, has_self=own is not None, depth=depth - 1)


def _own_method(home: "Facts", call: Call) -> "tuple[Facts, FunctionDef] | None":
    """The method of the class around a call that it calls on `self`."""
    klass = home.index.klass(call)
    return method(home, klass, last_name(call.func)) if klass is not None and is_of_self(call.func) else None
