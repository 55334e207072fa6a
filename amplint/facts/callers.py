"""Who calls a function or makes an instance of a class, and with what; only calls by name are known."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.model.tree import Call, ClassDef, Expr, FunctionDef

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

MOST_CALLERS = 20


def callsites(facts: "Facts") -> dict[FunctionDef | ClassDef, list[Call]]:
    """The calls of a module, by the function or class that they name."""
    found: dict[FunctionDef | ClassDef, list[Call]] = {}
    for call in facts.index.calls:
        name = facts.names.canonical(call.func)
        target = facts.definition(name) if name is not None else None
        if target is not None:
            found.setdefault(target[1], []).append(call)
    return found


def calls_of(facts: "Facts", target: FunctionDef | ClassDef) -> "Iterator[tuple[Facts, Call]]":
    """The calls of a function or class of this module, in it and in the modules that import it."""
    count = 0
    for caller in all_importers(facts):
        for call in caller.callsites.get(target, ()):
            count += 1
            if count > MOST_CALLERS:
                return
            yield caller, call


def all_importers(facts: "Facts") -> "tuple[Facts, ...]":
    """The module, those that import it, and those that import it through a package that hands its names on."""
    found = {facts.path: facts}
    for importer in facts.context.importers:
        found.setdefault(importer.path, importer)
        if importer.is_package:
            found.update({other.path: other for other in importer.context.importers if other.path not in found})
    return tuple(found.values())


def bind(function: FunctionDef, call: Call, has_self: bool = False) -> dict[str, Expr | None]:
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
