"""How the arguments of a call meet the parameters of an API, and what kind of value each argument visibly is.

Knows nothing of which mismatch is a mistake worth reporting.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct, field

from amplint.facts.program.bindings import Binding
from amplint.knowledge.torch_api import Api, Param
from amplint.model.tree import (
    Argument,
    Assign,
    Attribute,
    Binary,
    BoolOp,
    Call,
    Compare,
    Constant,
    Dict,
    Expr,
    IfExp,
    Name,
    Unary,
)
from amplint.model.walks import dotted, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

_DTYPES = frozenset(
    {"float16", "half", "bfloat16", "float32", "float", "float64", "double", "float8_e4m3fn", "float8_e5m2"}
)
_FLAG_NAME = re.compile(
    r"^(use|enable|is|with|do|has|no)_|enabled?$|^(use)?_?(fp16|amp|half)$|_(fp16|amp)$|^mixed(_precision)?$",
    re.IGNORECASE,
)
_NO_FLAG = re.compile(r"type|dtype|level|mode$|kwargs|context|ctx|config|cfg|scale|device", re.IGNORECASE)


class Form(StrEnum):
    """What kind of value an expression visibly is."""

    TEXT = "string"
    DTYPE = "dtype"
    FLAG = "flag"
    FLAG_BY_NAME = "flag by its name"
    NUMBER = "number"
    DEVICE = "torch.device"
    NONE = "None"
    UNKNOWN = "unknown"


# What holds one of these somewhere is no flag, whatever it is called.
_NO_FLAGS = {Form.TEXT, Form.DTYPE, Form.NUMBER, Form.DEVICE}


class Fit(Struct):
    """The arguments of a call by the parameter that each lands in.

    positional are those given by position, with their parameter; surplus and unknown fit no parameter. is_open says
    that `*` or `**` may bring more; missing names the required parameters that nothing can fill.
    """

    given: dict[str, Argument] = field(default_factory=dict)
    positional: list[tuple[Argument, Param]] = field(default_factory=list)
    surplus: list[Argument] = field(default_factory=list)
    unknown: list[Argument] = field(default_factory=list)
    twice: list[Argument] = field(default_factory=list)
    missing: list[Param] = field(default_factory=list)
    has_star: bool = False
    has_double_star: bool = False

    @property
    def is_open(self) -> bool:
        """Whether arguments may come that are not seen."""
        return self.has_star or self.has_double_star

    @property
    def binds(self) -> bool:
        """Whether Python accepts the call, as far as it is seen."""
        return not (self.surplus or self.unknown or self.twice or self.missing)


def fit(call: Call, api: Api, facts: "Facts") -> Fit:
    """How the call's arguments bind to the signature; a `**name` of a dict that is seen whole is opened."""
    found = Fit()
    slots = iter(api.positional)
    for argument in _opened(call.args, facts):
        if argument.star == "*":
            found.has_star = True
        elif argument.star == "**":
            found.has_double_star = True
        elif argument.name is not None:
            if api.param(argument.name) is None:
                found.unknown.append(argument)
            elif argument.name in found.given:
                found.twice.append(argument)
            else:
                found.given[argument.name] = argument
        elif not found.has_star:
            param = next(slots, None)
            if param is None:
                found.surplus.append(argument)
            else:
                found.positional.append((argument, param))
                found.given[param.name] = argument
    for param in api.params:
        is_filled = param.name in found.given or found.has_double_star
        if param.default is None and not is_filled and not (found.has_star and not param.is_keyword_only):
            found.missing.append(param)
    return found


def _opened(args: tuple[Argument, ...], facts: "Facts") -> Iterator[Argument]:
    for argument in args:
        entries = _entries(argument.value, facts) if argument.star == "**" else None
        if entries is None:
            yield argument
        else:
            for name, value in entries:
                yield Argument(argument.span, value, name, "")


def _entries(value: Expr, facts: "Facts") -> list[tuple[str, Expr]] | None:
    """The items of a dict written out, or of a name that is bound to one and used for nothing but calls."""
    if isinstance(value, Name):
        bindings = facts.names.lookup(value.id, value)
        if len(bindings) != 1 or bindings[0].value is None or not _is_only_spread(bindings[0], facts):
            return None
        value = bindings[0].value
    if isinstance(value, Dict):
        keys = [key.value if isinstance(key, Constant) else None for key in value.keys]
        if all(isinstance(key, str) for key in keys):
            return [(str(key), item) for key, item in zip(keys, value.values, strict=True)]
    is_dict_call = isinstance(value, Call) and facts.names.canonical(value.func) == "builtins.dict"
    if is_dict_call and all(argument.name is not None for argument in value.args):  # type: ignore[union-attr]
        return [(str(argument.name), argument.value) for argument in value.args]  # type: ignore[union-attr]
    return None


def _is_only_spread(binding: Binding, facts: "Facts") -> bool:
    for node in facts.index.each(Name):
        if node.id == binding.name and node is not binding.node:
            parent = facts.index.parents[node]
            if not isinstance(parent, Argument) or parent.star != "**":
                return False
    return True


def form(expr: Expr, facts: "Facts") -> Form:
    """What kind of value an expression is, by its own shape or by the one assignment that its name has."""
    return _form(expr, facts, 4)


def _form(expr: Expr, facts: "Facts", budget: int) -> Form:
    if isinstance(expr, Constant):
        return _form_of_constant(expr.value)
    if isinstance(expr, Compare) or (isinstance(expr, Unary) and expr.op == "not"):
        return Form.FLAG
    if isinstance(expr, BoolOp):
        return _agreed({_form(value, facts, budget) for value in expr.values})
    if isinstance(expr, IfExp):
        return _agreed({_form(value, facts, budget) for value in (expr.body, expr.orelse)})
    if isinstance(expr, Unary):
        return _form(expr.operand, facts, budget)
    if isinstance(expr, Binary):
        sides = {_form(expr.left, facts, budget), _form(expr.right, facts, budget)}
        return Form.NUMBER if sides == {Form.NUMBER} else Form.UNKNOWN
    if isinstance(expr, Call):
        return _form_of_call(facts.names.canonical(expr.func))
    canonical = facts.names.canonical(expr)
    if canonical is not None and canonical.startswith("torch."):
        return Form.DTYPE if canonical.removeprefix("torch.") in _DTYPES else Form.UNKNOWN
    forms: set[Form] = set()
    if isinstance(expr, Name) and budget:
        forms = _forms_of_name(expr, facts, budget)
    elif isinstance(expr, Attribute) and budget:
        forms = _forms_of_attribute(expr, facts, budget)
    seen = _agreed(forms)
    if seen is not Form.UNKNOWN or forms & _NO_FLAGS:
        return seen
    path = dotted(expr)
    if path is not None:
        last = path.rpartition(".")[2]
        if _FLAG_NAME.search(last) and not _NO_FLAG.search(last):
            return Form.FLAG_BY_NAME
    return Form.UNKNOWN


def _form_of_constant(value: object) -> Form:
    if isinstance(value, bool):
        return Form.FLAG
    if isinstance(value, str):
        return Form.TEXT
    if isinstance(value, int | float):
        return Form.NUMBER
    return Form.NONE if value is None else Form.UNKNOWN


def _form_of_call(function: str | None) -> Form:
    if function == "torch.device":
        return Form.DEVICE
    if function in ("builtins.bool", "builtins.isinstance", "builtins.hasattr", "torch.cuda.is_available"):
        return Form.FLAG
    if function in ("builtins.float", "builtins.int"):
        return Form.NUMBER
    return Form.TEXT if function == "builtins.str" else Form.UNKNOWN


def _agreed(forms: set[Form]) -> Form:
    return next(iter(forms)) if len(forms) == 1 else Form.UNKNOWN


def _forms_of_name(name: Name, facts: "Facts", budget: int) -> set[Form]:
    """The forms that the bindings of a name have; a parameter counts by its annotation or default."""
    forms: set[Form] = set()
    for binding in facts.names.lookup(name.id, name):
        if binding.value is not None:
            forms.add(_form(binding.value, facts, budget - 1))
        elif binding.kind == "parameter":
            forms.add(_form_of_parameter(binding, facts))
        else:
            forms.add(Form.UNKNOWN)
    return forms


def _forms_of_attribute(expr: Attribute, facts: "Facts", budget: int) -> set[Form]:
    """The forms that the assignments to `self.name` in the class have."""
    owner = facts.index.klass(expr)
    if owner is None or not isinstance(expr.value, Name):
        return set()
    path = dotted(expr)
    values = [
        node.value
        for node in walk(owner)
        if isinstance(node, Assign) and any(dotted(target) == path for target in node.targets)
    ]
    return {_form(value, facts, budget - 1) for value in values}


def _form_of_parameter(binding: Binding, facts: "Facts") -> Form:
    annotation = getattr(binding.node, "annotation", None)
    default = getattr(binding.node, "default", None)
    if isinstance(annotation, Name | Attribute):
        meaning = facts.names.canonical(annotation)
        known = {"builtins.bool": Form.FLAG, "torch.device": Form.DEVICE, "torch.dtype": Form.DTYPE}
        if meaning in known:
            # `device: torch.device = "cuda"` gets a string where nothing is passed.
            is_other = isinstance(default, Constant) and isinstance(default.value, str)
            return Form.UNKNOWN if is_other else known[meaning]
    if isinstance(default, Constant) and isinstance(default.value, bool):
        return Form.FLAG
    return Form.UNKNOWN
