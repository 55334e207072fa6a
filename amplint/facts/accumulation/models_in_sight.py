"""Which class a model is an instance of, through what moves, wraps or compiles it; which of transformers' models it is.

Refuses to choose: where a model may be one of several classes, or something that is not seen, it is unknown.
"""

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from amplint.facts.program.callees import is_abstract
from amplint.facts.program.callers import overrides
from amplint.facts.program.classes import class_of_self, method
from amplint.facts.program.origins import NOWHERE, Activation, Origins
from amplint.knowledge.training_api import MEAN_HEADS, SAME_MODULE_METHODS, WRAPPERS_OF_MODULES
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Lambda, Name, Parameter
from amplint.model.walks import is_none

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MADE_BY_HEADS = frozenset({"from_pretrained", "from_config"})
MOST = 12
MOST_HOPS = 4


def definition(home: "Facts", canonical: str) -> "tuple[Facts, FunctionDef | ClassDef] | None":
    """What a dotted name stands for, also in files that have no say in a training step but make a loss."""
    found = home.definition(canonical)
    for _ in range(MOST_HOPS if found is None else 0):
        module, _, name = canonical.rpartition(".")
        owner = home.context.modules.making_loss(module)
        if owner is None:
            return None
        local = owner.index.definitions.get(name)
        if local is not None:
            return owner, local
        target = owner.names.module_binding(name)
        if target is None or target == canonical:
            return None
        home, canonical = owner, target
    return found


def forward_of(home: "Facts", model: Expr, where: Activation = NOWHERE) -> "tuple[Facts, FunctionDef] | None":
    """The `forward` (or `__call__`) that calling a model runs, where it can be no other."""
    found = class_of_self(home, model) if isinstance(model, Name) else None
    if found is None:
        classes = [_class_of(*maker) for maker in _all_makers(home, model, where)]
        if not classes or any(klass is None or klass[1] is not classes[0][1] for klass in classes):  # type: ignore[index]
            return None
        found = classes[0]
    return None if found is None else method(*found, "forward") or method(*found, "__call__")


def written(home: "Facts", function: FunctionDef) -> "Iterator[tuple[Facts, FunctionDef]]":
    """A function, or where it is there to be overridden, the methods in sight that do."""
    klass = home.index.klass(function)
    if klass is None or not is_abstract(function):
        yield home, function
    else:
        yield from islice(overrides(home, klass, function.name), MOST)


def lambdas(home: "Facts", func: Expr, where: Activation) -> "Iterator[tuple[Facts, Lambda]]":
    """The lambdas that what is called may be."""
    if isinstance(func, Name):
        yield from ((facts, made) for facts, made in makers(home, func, where)[0] if isinstance(made, Lambda))


def is_mean_head(home: "Facts", model: Expr, where: Activation = NOWHERE) -> bool:
    """Whether a model is one of transformers' whose documented loss is a mean over the batch."""
    found = _all_makers(home, model, where)
    return bool(found) and all(isinstance(made, Call) and _makes_head(facts, made) for facts, made in found)


def makers(home: "Facts", module: Expr, where: Activation) -> "tuple[list[tuple[Facts, Expr | Parameter]], bool]":
    """What a module may be made by, without what hands the same one on, and whether that is all that it may be."""
    found: list[tuple[Facts, Expr | Parameter]] = []
    pending = [(home, module, where)]
    seen: set[Expr] = set()
    is_all = True
    while pending and len(seen) <= MOST:
        asked = pending.pop()
        if asked[1] in seen:
            continue
        seen.add(asked[1])
        search = Origins()
        origins = list(search.of(*asked))
        is_all = is_all and (search.is_complete or all(isinstance(origin.expr, Parameter) for origin in origins))
        for origin in origins:
            inner = _wrapped(origin.facts, origin.expr) if isinstance(origin.expr, Call) else None
            if inner is not None:
                pending.append((origin.facts, inner, NOWHERE))
            elif not is_none(origin.expr):
                found.append((origin.facts, origin.expr))
    return found, is_all and not pending


def _all_makers(home: "Facts", model: Expr, where: Activation) -> "list[tuple[Facts, Expr | Parameter]]":
    found, is_all = makers(home, model, where)
    return found if is_all else []


def _wrapped(facts: "Facts", call: Call) -> Expr | None:
    """The module that a call gives back, moved, cast, wrapped or compiled."""
    if isinstance(call.func, Attribute) and call.func.attr in SAME_MODULE_METHODS:
        return call.func.value
    is_wrapper = facts.names.canonical(call.func) in WRAPPERS_OF_MODULES
    return call.args[0].value if is_wrapper and call.args else None


def _class_of(facts: "Facts", made: Expr | Parameter) -> "tuple[Facts, ClassDef] | None":
    """The class whose call something is, or which a parameter's annotation names."""
    named = made.func if isinstance(made, Call) else made.annotation if isinstance(made, Parameter) else None
    canonical = facts.names.canonical(named) if named is not None else None
    target = definition(facts, canonical) if canonical is not None else None
    return (target[0], target[1]) if target is not None and isinstance(target[1], ClassDef) else None


def _makes_head(facts: "Facts", call: Call) -> bool:
    name = facts.names.canonical(call.func)
    if name is None or not name.startswith("transformers."):
        return False
    owner, _, last = name.rpartition(".")
    head = owner.rpartition(".")[2] if last in MADE_BY_HEADS else last
    return head.endswith(MEAN_HEADS)
