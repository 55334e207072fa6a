"""Who calls a function or makes an instance of a class, and with what; only calls by name are known."""

from collections.abc import Collection, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from amplint.facts.program.classes import seen_class
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Lambda, Name
from amplint.model.walks import last_name, own_nodes

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST_CALLERS = 20
DEEPEST_CLASS = 3


def aliases(facts: "Facts") -> dict[str, set[str]]:
    """What a module calls at its own level what has another name elsewhere, by that name."""
    found: dict[str, set[str]] = {}
    for name in facts.names.bindings(facts.module):
        stands_for = (facts.names.module_binding(name) or "").rpartition(".")[2]
        if stands_for and stands_for != name:
            found.setdefault(stands_for, set()).add(name)
    return found


def calls_of(facts: "Facts", target: FunctionDef | ClassDef) -> "tuple[tuple[Facts, Call], ...]":
    """The calls of a function or class of this module, in it and in the modules that import it; of many the first."""
    if target not in facts.callers:
        facts.callers[target] = tuple(islice(_calls_of(facts, target), MOST_CALLERS))
    return facts.callers[target]


def _calls_of(facts: "Facts", target: FunctionDef | ClassDef) -> "Iterator[tuple[Facts, Call]]":
    names = dict.fromkeys((target.name,))
    for home in (facts, *facts.context.importers.naming(names)):
        names.update(dict.fromkeys(sorted(home.aliases.get(target.name, ()))))
    for caller in all_importers(facts, names):
        for call in dict.fromkeys(call for name in names for call in caller.targets.named(name)):
            canonical = caller.names.canonical(call.func)
            found = caller.definition(canonical) if canonical is not None else None
            if found is not None and found[1] is target:
                yield caller, call


def constructions(facts: "Facts", klass: ClassDef, depth: int = DEEPEST_CLASS) -> "Iterator[tuple[Facts, Call]]":
    """The calls that run the constructor of a class of this module: its own, and those of classes made of it.

    A subclass without a constructor is called in its place; one with its own hands on by `super().__init__(…)`.
    """
    yield from calls_of(facts, klass)
    for home, sub in _subclasses(facts, klass) if depth else ():
        own = next((s for s in sub.body if isinstance(s, FunctionDef) and s.name == "__init__"), None)
        if own is None:
            yield from constructions(home, sub, depth - 1)
        else:
            yield from ((home, call) for call in handing_up(own))


def overrides(
    facts: "Facts", klass: ClassDef, name: str, depth: int = DEEPEST_CLASS
) -> "Iterator[tuple[Facts, FunctionDef]]":
    """The methods by which classes in sight that are made of a class of this module replace one of its methods."""
    for home, sub in _subclasses(facts, klass) if depth else ():
        own = [each for each in sub.body if isinstance(each, FunctionDef) and each.name == name]
        if own:
            yield home, own[-1]
        else:
            yield from overrides(home, sub, name, depth - 1)


def _subclasses(facts: "Facts", klass: ClassDef) -> "Iterator[tuple[Facts, ClassDef]]":
    """The classes in sight whose first base is a class of this module, and is called so."""
    for home in all_importers(facts, (klass.name,)):
        for sub in home.index.each(ClassDef):
            if sub is klass or not sub.bases or last_name(sub.bases[0].value) != klass.name:
                continue
            found = seen_class(home, home.names.canonical(sub.bases[0].value))
            if found is not None and found[1] is klass:
                yield home, sub


def handing_up(constructor: FunctionDef) -> Iterator[Call]:
    """The calls `super().__init__(…)` of a constructor."""
    for node in own_nodes(constructor):
        match node:
            case Call(func=Attribute(attr="__init__", value=Call(func=Name(id="super")))):
                yield node
            case _:
                pass


def all_importers(facts: "Facts", names: Collection[str]) -> "tuple[Facts, ...]":
    """The module, those that import it, and those that import it through a package that hands its names on.

    Only those that can hold one of some names.
    """
    found = {facts.path: facts}
    for importer in facts.context.importers.naming(names):
        found.setdefault(importer.path, importer)
        if importer.is_package:
            for other in importer.context.importers.naming(names):
                found.setdefault(other.path, other)
    return tuple(found.values())


def bind(function: FunctionDef | Lambda, call: Call, has_self: bool = False) -> dict[str, Expr | None]:
    """The arguments of a call by the parameters that get them; has_self: the first parameter is not among them.

    A value of None stands for something unknown (behind a `*` or `**` argument).
    """
    positional = [p for p in function.parameters if p.kind in ("positional-only", "positional")]
    if has_self:
        positional = positional[1:]
    by_keyword = {p.name for p in function.parameters if p.kind in ("positional", "keyword")}
    bound: dict[str, Expr | None] = {}
    place = 0
    is_open = False
    for argument in call.args:
        if argument.star == "*" or argument.star == "**":
            is_open = True
        elif argument.name is not None:
            if argument.name in by_keyword:
                bound[argument.name] = argument.value
        elif place < len(positional) and not is_open:
            bound[positional[place].name] = argument.value
            place += 1
    if is_open:
        for parameter in function.parameters:
            bound.setdefault(parameter.name, None)
    return bound
