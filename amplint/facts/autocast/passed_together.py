"""Switches and dtypes that are parameters of one function: which of them its callers pass together.

Refuses to speak where a caller passes something that is not written at the call.
"""

from typing import TYPE_CHECKING

from amplint.facts.autocast.dtypes import dtype_names
from amplint.facts.autocast.regions import Region, truth
from amplint.facts.program.branches import sides
from amplint.facts.program.callers import bind, calls_of
from amplint.facts.program.constructors import Construction
from amplint.model.tree import Expr, FunctionDef, Name, Parameter

if TYPE_CHECKING:
    from amplint.facts.gather import Facts


def fit_at_every_call(facts: "Facts", made: Construction, switch: Expr | None, region: Region) -> bool:
    """Whether each visible call that switches a scaler on passes a dtype for the region that is surely no bfloat16."""
    function = facts.index.function(made.call) if made.facts is facts else None
    if not isinstance(function, FunctionDef) or len(region.autocasts) != 1:
        return False
    dtype = _parameter(function, region.autocasts[0].dtype_expr)
    switches = [switch] if switch is not None else [s.choice.test for s in sides(facts, made.call) if s.is_true]
    known = [parameter for each in switches if (parameter := _parameter(function, each)) is not None]
    calls = list(calls_of(facts, function)) if dtype is not None and known else []
    for caller, call in calls:
        passed = bind(function, call)
        if any(_is_false(caller, passed.get(each.name, each.default)) for each in known):
            continue
        value = passed.get(dtype.name, dtype.default) if dtype is not None else None
        if value is None or not dtype_names(caller, value).isdisjoint({"bfloat16", None}):
            return False
    return bool(calls)


def _parameter(function: FunctionDef, expr: Expr | None) -> Parameter | None:
    """The parameter that an expression is."""
    if not isinstance(expr, Name):
        return None
    return next((each for each in function.parameters if each.name == expr.id), None)


def _is_false(facts: "Facts", value: Expr | None) -> bool:
    return value is not None and truth(facts, value) is False
