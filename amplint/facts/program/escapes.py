"""What becomes of an object that a call is given: whether anything in sight hands it on to something unseen.

Goes by mention alone and by the names of methods; which objects are scalers and optimizers is for `roles.py`.
"""

from typing import TYPE_CHECKING

from amplint.facts.program.bound_functions import named_function
from amplint.facts.program.callers import bind
from amplint.model.tree import Assign, Attribute, Call, FunctionDef, Name
from amplint.model.walks import last_name, own_nodes, root_of

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

# Built-in and library calls that may look at a scaler or an optimizer, but neither step nor unscale.
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
DEEPEST = 3


def is_harmless(home: "Facts", call: Call) -> bool:
    """Whether a call of something unseen does nothing to what it is given, by its name."""
    name = last_name(call.func)
    if name in HARMLESS or name in HARMLESS_METHODS or name[:1].isupper() or name.lstrip("_").startswith(SHOWING):
        return True
    canonical = home.names.canonical(call.func)
    return canonical is not None and canonical.startswith("torch.") and "optim" not in canonical


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
    nodes = list(own_nodes(function))
    passed |= {
        target.id
        for node in nodes
        if isinstance(node, Assign) and isinstance(node.value, Name) and node.value.id in passed
        for target in node.targets
        if isinstance(target, Name)
    }
    return not any(isinstance(node, Call) and _lets_go(home, node, passed, depth) for node in nodes)


def _lets_go(home: "Facts", call: Call, names: set[str], depth: int) -> bool:
    root = root_of(call.func)
    is_method = isinstance(call.func, Attribute) and root is not None and root.id in names
    if is_method and any(part in last_name(call.func) for part in TOUCHING):
        return True
    if not any(isinstance(argument.value, Name) and argument.value.id in names for argument in call.args):
        return False
    if is_harmless(home, call):
        return False
    named = named_function(home, call.func)
    if named is None or not depth:
        return True
    return not keeps(*named, call, has_self=False, depth=depth - 1)
