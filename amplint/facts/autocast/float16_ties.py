"""Whether a scaler is on for float16 alone: by its own switch, and by the tests around it and around what it scales.

Knows what conditions say of a dtype; which region belongs to which scaler is for `pairing.py`.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.autocast.dtypes import dtype_names
from amplint.facts.autocast.passed_together import fit_at_every_call
from amplint.facts.autocast.regions import truth
from amplint.facts.autocast.scaler_switch import switch_of
from amplint.facts.program.branches import Side, sides
from amplint.facts.program.values import Origin
from amplint.model.tree import (
    Assign,
    Attribute,
    Block,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    FunctionDef,
    IfExp,
    MatchCase,
    Name,
    Node,
    Tuple,
    Unary,
)
from amplint.model.walks import dotted, last_name, walk

if TYPE_CHECKING:
    from amplint.facts.autocast.pairing import Pair
    from amplint.facts.gather import Facts

_FLOAT16 = re.compile(r"fp16|float16|f16|half|^16(-mixed)?$", re.IGNORECASE)
_BFLOAT16 = re.compile(r"bf16|bfloat16", re.IGNORECASE)
_NEGATIONS = ("!=", "is not", "not in")


def is_tied_to_float16(facts: "Facts", pairs: "list[Pair]") -> bool:
    """Whether the scaler of some pairs, which a module scales with, is on for float16 alone."""
    made = pairs[0].made
    switch = switch_of(made)
    if made.has_star and switch is None:
        return True
    if switch is not None and switch.node is not None and truth(switch.facts, switch.node) is False:
        return True
    if all(_is_surely_bfloat16(facts, pair, switch) for pair in pairs):
        return False
    if switch is not None and switch.node is not None:
        written = dotted(switch.node)
        general = [pair.region.autocasts[0].switch for pair in pairs if pair.region.autocasts]
        is_general = written is not None and any(e is not None and dotted(e) == written for e in general)
        if not is_general and tells_float16(switch.facts, switch.node):
            return True
        if _is_off_for_bfloat16(switch.facts, switch.node):
            return True
    given = switch.node if switch is not None else None
    if _is_in_float16_case(made.facts, made.call) or all(
        fit_at_every_call(facts, made, given, pair.region) for pair in pairs
    ):
        return True
    tests = [(made.facts, test) for test in _tests_around(made.facts, made.call)]
    for pair in pairs:
        tests.extend((facts, test) for test in _tests_around(facts, pair.scaled))
        tests.extend((facts, test) for test in _tests_of_receiver(facts, pair.scaled))
    if any(len(pair.region.dtypes) > 1 for pair in pairs) and any(map(_is_another_way, sides(made.facts, made.call))):
        return True
    return any(
        (tells_float16(facts, test) and not _mentions(facts, test, _BFLOAT16))
        or _is_float16_alone(facts, test)
        or _is_off_for_bfloat16(facts, test)
        for facts, test in tests
    )


def _is_surely_bfloat16(facts: "Facts", pair: "Pair", switch: Origin | None) -> bool:
    """Whether a region is bfloat16 in so many words, whatever its flag is called, wherever its loss is scaled."""
    region = pair.region
    if region.dtypes != {"bfloat16"} or region.is_optional or len(region.autocasts) != 1:
        return False
    autocast = region.autocasts[0]
    written = dotted(switch.node) if switch is not None and switch.node is not None else None
    is_on = autocast.is_enabled is True
    is_switched_alike = autocast.switch is not None and written is not None and dotted(autocast.switch) == written
    is_literal = autocast.dtype_expr is not None and dotted(autocast.dtype_expr) == "torch.bfloat16"
    if not is_literal or not (is_on or is_switched_alike):
        return False
    around = {(id(side.choice), side.is_true) for side in sides(facts, pair.scaled)}
    return all((id(side.choice), side.is_true) in around for side in sides(region.facts, region.opening))


def _tests_around(facts: "Facts", node: Node) -> Iterator[Expr]:
    return (side.choice.test for side in sides(facts, node))


def _tests_of_receiver(facts: "Facts", scaled: Call) -> Iterator[Expr]:
    """The tests that decide which scaler a name holds: `scaler = self.scaler if use_scaler else None`."""
    receiver = scaled.func.value if isinstance(scaled.func, Attribute) else None
    for binding in facts.names.lookup(receiver.id, receiver) if isinstance(receiver, Name) else ():
        if isinstance(binding.value, IfExp):
            yield binding.value.test
        yield from _tests_around(facts, binding.node)


def _is_in_float16_case(facts: "Facts", node: Node) -> bool:
    """Whether a `case "fp16":` stands around a node, and nothing in it says bfloat16."""
    for outer in facts.index.ancestors(node):
        if isinstance(outer, FunctionDef):
            return False
        if isinstance(outer, MatchCase) and outer.pattern.values:
            return all(_names_dtype(facts, value, _FLOAT16, "float16") for value in outer.pattern.values)
    return False


def tells_float16(facts: "Facts", expr: Node) -> bool:
    """Whether a condition asks for float16 in particular: a comparison with it, or a name that says so."""
    for home, node in facts.values.closure(expr):
        if isinstance(node, Compare):
            for op, other in zip(node.ops, (*node.comparators,), strict=True):
                sides = (node.left, other)
                if any(_names_dtype(home, side, _FLOAT16, "float16") for side in sides) and op not in _NEGATIONS:
                    return True
                if any(_names_dtype(home, side, _BFLOAT16, "bfloat16") for side in sides) and op in _NEGATIONS:
                    return True
        elif isinstance(node, Unary) and node.op == "not" and _BFLOAT16.search(dotted(node.operand) or ""):
            return True
        elif isinstance(node, Name | Attribute):
            last = node.id if isinstance(node, Name) else node.attr
            if _FLOAT16.search(last) and not _BFLOAT16.search(last):
                return True
    return False


def _is_float16_alone(facts: "Facts", test: Expr) -> bool:
    """`dtype is torch.float16`, also where the dtype may be bfloat16: then the answer is no."""
    match test:
        case Compare(ops=("==" | "is",), comparators=(other,)):
            return any(_names_dtype(facts, side, _FLOAT16, "float16") for side in (test.left, other))
        case BoolOp(op="and"):
            return any(_is_float16_alone(facts, part) for part in test.values)
        case _:
            return False


def _is_another_way(side: Side) -> bool:
    """`if precision == "amp"`: one of several ways, none of which is called bfloat16."""
    match side.choice.test:
        case Compare(ops=("==",), comparators=(Constant(value=str(wanted)),)) if side.is_true:
            return not _BFLOAT16.search(wanted)
        case _:
            return False


def _is_off_for_bfloat16(facts: "Facts", expr: Node) -> bool:
    """Whether a flag is set to False just where the dtype is set to bfloat16, or returned beside it."""
    if any(_is_false_beside_bfloat16(origin) for origin in facts.values.origins(expr)):
        return True
    if not isinstance(expr, Name):
        return False
    for binding in facts.names.lookup(expr.id, expr):
        if isinstance(binding.value, Constant) and binding.value.value is False:
            _, block = facts.index.block(facts.index.statement(binding.node))
            if any(_mentions(facts, value, _BFLOAT16) for value in _assigned(block)):
                return True
    return False


def _is_false_beside_bfloat16(origin: Origin) -> bool:
    """Whether a value is the False of a tuple such as `(torch.bfloat16, False)`."""
    if not isinstance(origin.node, Constant) or origin.node.value is not False:
        return False
    around = origin.facts.index.parents.get(origin.node)
    return isinstance(around, Tuple) and any(_mentions(origin.facts, part, _BFLOAT16) for part in around.elts)


def _assigned(block: Block) -> Iterator[Node]:
    return (statement.value for statement in block if isinstance(statement, Assign))


def _names_dtype(facts: "Facts", expr: Node, pattern: re.Pattern[str], name: str) -> bool:
    if dtype_names(facts, expr) == {name}:
        return True
    texts = [n.value for n in walk(expr) if isinstance(n, Constant) and isinstance(n.value, str)]
    other = _BFLOAT16 if pattern is _FLOAT16 else None
    return any(pattern.search(text) and not (other and other.search(text)) for text in texts)


def _mentions(facts: "Facts", expr: Node, pattern: re.Pattern[str]) -> bool:
    for _, node in facts.values.closure(expr):
        text = last_name(node)
        if isinstance(node, Constant) and isinstance(node.value, str):
            text = node.value
        if pattern.search(text):
            return True
    return False
