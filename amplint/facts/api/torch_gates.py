"""What a condition says about the installed torch: its version, or that it has a certain name.

Knows nothing of what stands in the branches. Reads the usual ways to ask: `torch.__version__` compared through any
parser, helpers such as `is_torch_version(">=", "2.4")`, flags such as `TORCH_2_4`, `hasattr(torch.amp, "GradScaler")`.
"""

import re

from msgspec.structs import replace

from amplint.facts.program.bindings import Binding
from amplint.facts.program.names import Names
from amplint.knowledge.torch_api import Version
from amplint.model.data import Value
from amplint.model.tree import (
    Attribute,
    BoolOp,
    Call,
    Compare,
    Constant,
    Expr,
    ImportFrom,
    Name,
    Slice,
    Subscript,
    Try,
    Tuple,
    Unary,
)
from amplint.model.walks import dotted, walk

_VERSION = re.compile(r"(>=|<=|==|!=|>|<)?\s*(\d+)\.(\d+)")
_FLAG_VERSION = re.compile(r"(?:^|_|[A-Za-z])(\d)_(\d{1,2})(?:_\d+)?(?:_|$)")
_TORCH_FLAG = re.compile(r"torch|pytorch|\bpt_?\d|version|legacy_amp|amp_legacy|old_amp|new_amp", re.IGNORECASE)
_OLDER = re.compile(r"less|older|below|before|lower|(^|_)lt(_|$)|(^|_)le(_|$)", re.IGNORECASE)
_SWAPPED = {">=": "<=", "<=": ">=", ">": "<", "<": ">"}
_OPERATORS = {"operator.ge": ">=", "operator.gt": ">", "operator.lt": "<", "operator.le": "<="}
_NEGATED = {">=": "<", "<=": ">", ">": "<=", "<": ">="}


class Arm(Value):
    """What is known of torch where a condition holds: low <= version < high; names that exist and that do not.

    is_lexical marks a comparison that takes 2.10 for older than 2.4.
    """

    low: Version | None = None
    high: Version | None = None
    has: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()
    is_lexical: bool = False

    def both(self, other: "Arm") -> "Arm":
        """What is known where both conditions hold."""
        return Arm(
            max((v for v in (self.low, other.low) if v is not None), default=None),
            min((v for v in (self.high, other.high) if v is not None), default=None),
            self.has | other.has,
            self.lacks | other.lacks,
            self.is_lexical or other.is_lexical,
        )


class Gate(Value):
    """A question about torch: what is known where the answer is yes, and where it is no."""

    yes: Arm = Arm()
    no: Arm = Arm()

    @property
    def negated(self) -> "Gate":
        """The opposite question."""
        return Gate(self.no, self.yes)


def gate(expr: Expr, names: Names) -> Gate | None:
    """The question about torch that a condition asks, or None where it asks none."""
    return _gate(expr, names, 6)


def _gate(expr: Expr, names: Names, budget: int) -> Gate | None:
    if not budget:
        return None
    match expr:
        case Unary(op="not", operand=operand):
            inner = _gate(operand, names, budget - 1)
            return inner.negated if inner is not None else None
        case BoolOp(op=op, values=values):
            return _joined(op, [_gate(value, names, budget - 1) for value in values])
        case Compare(left=left, ops=(op,), comparators=(right,)):
            return _comparison(left, op, right, names, budget)
        case Compare(left=left, ops=ops, comparators=comparators):
            pairs = zip((left, *comparators), ops, comparators, strict=False)
            return _joined("and", [_comparison(a, op, b, names, budget) for a, op, b in pairs])
        case Call():
            return _call(expr, names, budget)
        case Name() | Attribute():
            return _flag(expr, names, budget)
    return None


def _joined(op: str, gates: list[Gate | None]) -> Gate | None:
    known = [g for g in gates if g is not None]
    if not known:
        return None
    yes, no = Arm(), Arm()
    for each in known:
        yes, no = yes.both(each.yes), no.both(each.no)
    # `a and b` being false leaves open which of them is; so does `a or b` being true.
    return Gate(yes, Arm()) if op == "and" else Gate(Arm(), no)


def _comparison(left: Expr, op: str, right: Expr, names: Names, budget: int) -> Gate | None:
    if op in ("is", "is not", "==", "!=") and isinstance(right, Constant) and right.value in (None, False, True):
        inner = _gate(left, names, budget - 1)
        is_same = (op in ("is", "==")) == (right.value is True)
        return inner if inner is None or is_same else inner.negated
    if op in ("in", "not in") and (name := _listed(left, right, names)) is not None:
        found = Gate(Arm(has=frozenset({name})), Arm(lacks=frozenset({name})))
        return found if op == "in" else found.negated
    if not _asks_version(left, names):
        if not _asks_version(right, names):
            return None
        left, right, op = right, left, _SWAPPED.get(op, op)
    limit = _literal(right, names)
    if limit is None:
        return Gate()
    found = _range(op, limit)
    # "2.10"[:3] is "2.1": only limits above that go wrong.
    if op in _NEGATED and limit > (2, 1) and limit[0] == 2 and _is_lexical(left):
        found = Gate(replace(found.yes, is_lexical=True), replace(found.no, is_lexical=True))
    return found


def _call(call: Call, names: Names, budget: int) -> Gate | None:
    function = names.canonical(call.func) or dotted(call.func) or ""
    if function in ("builtins.hasattr", "builtins.getattr") and len(call.args) >= 2:
        owner, wanted = names.canonical(call.args[0].value), call.args[1].value
        if owner is None or owner.partition(".")[0] != "torch" or not isinstance(wanted, Constant):
            return None
        name = frozenset({f"{owner}.{wanted.value}"})
        return Gate(Arm(has=name), Arm(lacks=name))
    if function in ("builtins.bool", "builtins.all", "builtins.any") and len(call.args) == 1:
        return _gate(call.args[0].value, names, budget - 1)
    last = function.rpartition(".")[2]
    values = [argument.value for argument in call.args]
    is_about_torch = _TORCH_FLAG.search(last) is not None or any(_asks_version(value, names) for value in values)
    if not is_about_torch or not isinstance(call.func, Name | Attribute):
        return None
    texts = [v.value for v in values if isinstance(v, Constant) and isinstance(v.value, str)]
    operator = next((t.strip() for t in texts if t.strip() in _NEGATED), None)
    functions = (_OPERATORS.get(names.canonical(value) or "") for value in values)
    operator = operator or next(filter(None, functions), None)
    for value in values:
        limit = _literal(value, names)
        if limit is not None:
            written = (
                _VERSION.search(value.value) if isinstance(value, Constant) and isinstance(value.value, str) else None
            )
            op = (written[1] if written else None) or operator or ("<" if _OLDER.search(last) else ">=")
            return _range(op, limit)
    if "torch" in function.lower() and "version" in last.lower():
        return Gate()
    return _named(last)


def _flag(expr: Expr, names: Names, budget: int) -> Gate | None:
    path = dotted(expr)
    if path is None:
        return None
    if isinstance(expr, Name):
        bindings = names.lookup(expr.id, expr)
        values = [b.value for b in bindings if b.value is not None]
        asked = [found for value in values if (found := _gate(value, names, budget - 1)) is not None]
        if asked:
            return asked[0] if len(bindings) == 1 else Gate()
        if any(b.kind == "parameter" for b in bindings):
            return None
        if any(_notes_an_import(b, names) for b in bindings):
            return Gate()
    canonical = names.canonical(expr)
    if canonical is not None and canonical.startswith("torch."):
        return None
    return _named(path.rpartition(".")[2])


def _notes_an_import(binding: Binding, names: Names) -> bool:
    """Whether a flag is set beside an import of torch that is tried: `from torch.amp import …; HAS_NEW = True`."""
    if not isinstance(binding.value, Constant) or not isinstance(binding.value.value, bool):
        return False
    attempt = next((outer for outer in names.index.ancestors(binding.node) if isinstance(outer, Try)), None)
    return attempt is not None and any(
        isinstance(statement, ImportFrom) and statement.module.partition(".")[0] == "torch"
        for statement in attempt.body
    )


def _named(name: str) -> Gate | None:
    """What the name of a flag or helper says by itself."""
    if _TORCH_FLAG.search(name) is None or name.lower() in ("torch", "pytorch"):
        return None
    found = _FLAG_VERSION.search(name)
    if found is None:
        has_comparison = re.search(r"version|legacy|old|new|_ge|_gt|_lt|_le|greater|less|least", name, re.IGNORECASE)
        return Gate() if has_comparison else None
    limit = (int(found[1]), int(found[2]))
    return _range("<" if _OLDER.search(name) else ">=", limit)


def _range(op: str, limit: Version) -> Gate:
    after = (limit[0], limit[1] + 1)
    match op:
        case ">=":
            return Gate(Arm(low=limit), Arm(high=limit))
        case "<":
            return Gate(Arm(high=limit), Arm(low=limit))
        case ">":  # `> 2.3` is meant for 2.4, though 2.3.1 passes too
            return Gate(Arm(low=limit), Arm(high=after))
        case "<=":
            return Gate(Arm(high=after), Arm(low=limit))
        case "==":
            return Gate(Arm(low=limit, high=after), Arm())
    return Gate()


def _asks_version(expr: Expr, names: Names) -> bool:
    """Whether the expression is made from the version of torch."""
    for node in walk(expr):
        if isinstance(node, Name | Attribute):
            path = names.canonical(node) or dotted(node) or ""
            if path in ("torch.__version__", "torch.version.__version__", "torch.torch_version.__version__"):
                return True
            last = path.rpartition(".")[2].lower()
            if "torch" in last and ("version" in last or last.endswith("_ver")):
                return True
            if isinstance(node, Name):
                values = [b.value for b in names.lookup(node.id, node) if b.value is not None]
                if any(_is_version_itself(value, names) for value in values):
                    return True
    return False


def _is_version_itself(value: Expr, names: Names) -> bool:
    return any(
        isinstance(node, Attribute) and node.attr == "__version__" and names.canonical(node.value) == "torch"
        for node in walk(value)
    ) and not any(isinstance(node, Compare) for node in walk(value))


def _literal(expr: Expr, names: Names) -> Version | None:
    """A version written out: "2.4.0", (2, 4), 2.4, or one of these given to a parser."""
    if isinstance(expr, Name):
        values = [b.value for b in names.lookup(expr.id, expr)]
        if len(values) == 1 and values[0] is not None and not isinstance(values[0], Name):
            return _literal(values[0], names)
    for node in walk(expr):
        if isinstance(node, Constant) and isinstance(node.value, str) and (found := _VERSION.search(node.value)):
            return int(found[2]), int(found[3])
        if isinstance(node, Constant) and isinstance(node.value, float):
            major, _, minor = str(node.value).partition(".")
            return int(major), int(minor)
        if isinstance(node, Tuple):
            numbers = [e.value for e in node.elts if isinstance(e, Constant) and type(e.value) is int]
            if len(numbers) == len(node.elts) and len(numbers) >= 2:
                return int(numbers[0]), int(numbers[1])
    return None


def _is_lexical(expr: Expr) -> bool:
    """Whether the first characters of the version string are compared, so that 2.10 counts as 2.1."""
    return any(
        isinstance(node, Subscript)
        and isinstance(node.value, Attribute)
        and node.value.attr == "__version__"
        and isinstance(node.index, Slice)
        and isinstance(node.index.upper, Constant)
        and node.index.upper.value == 3
        for node in walk(expr)
    )


def _listed(left: Expr, right: Expr, names: Names) -> str | None:
    """`"GradScaler" in dir(torch.amp)`: the name that is looked for."""
    if not isinstance(left, Constant) or not isinstance(right, Call) or len(right.args) != 1:
        return None
    owner = names.canonical(right.args[0].value)
    is_listing = names.canonical(right.func) in ("builtins.dir", "builtins.vars")
    return f"{owner}.{left.value}" if is_listing and owner and owner.startswith("torch") else None
