"""Tests in normal form: truth values, `and`, `or`, `not` over atoms that are questions of their own.

Knows when two tests must have the same answer; what is not a question of places and constants is unknown.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from amplint.flow.terms import OPAQUE, Term, contains, is_place
from amplint.model.data import Value

# Calls whose answer depends on nothing but what they are given, as long as that is not assigned.
PURE = frozenset(
    {
        *("callable", "getattr", "hasattr", "isfinite", "isinf", "isinstance", "isnan", "issubclass", "len"),
        *("get_rank", "is_available", "is_bf16_supported", "is_enabled", "is_initialized", "is_main_process"),
    }
)
# Functions of one's own, as `exists(scaler)` and `is_main(args)`, are taken to answer alike as long as what they are
# asked about is not assigned; these do not, nor do those whose name says that they draw or do something.
TURNING = frozenset({"eval", "input", "iter", "next", "open", "print"})
DRAWING = ("rand", "sample", "choice", "coin", "draw", "bernoulli")
# Containers whose constructor gives an empty, hence false, object.
EMPTY = frozenset({"Counter", "OrderedDict", "Queue"})
# How many open questions of a formula are tried both ways, to see whether they matter.
MOST_CASES = 4


class Atom(Value, cache_hash=True):
    """One question: kind is 'true' (is it true), 'null' (is it None), 'eq', 'lt' or 'in' of two terms."""

    kind: str
    left: Term
    right: Term = ()


class Join(Value):
    """op is 'and', 'or' or 'not'."""

    op: str
    parts: "tuple[Formula, ...]"


# None is a truth that nothing is known of.
Formula = Atom | Join | bool | None
IsObject = Callable[[Term], bool]


class Normal:
    """Makes formulas of terms. is_object says of a place that it holds an object which is true unless it is None.

    resolved gives a term without the names that stand for something else.
    """

    def __init__(self, is_object: IsObject, resolved: Callable[[Term], Term] = lambda term: term) -> None:
        self.is_object = is_object
        self._resolved = resolved

    def truth(self, term: Term) -> Formula:
        """When a term is true."""
        return self._truth(self._resolved(term))

    def _truth(self, term: Term) -> Formula:
        match term:
            case ("const", _, value):
                return bool(value)
            case ("not", part):
                return negated(self._truth(part))  # type: ignore[arg-type]
            case ("and" | "or" as op, tuple() as parts):
                return joined(op, tuple(self._truth(part) for part in parts))
            case ("if", test, yes, no):
                return self._choice(test, self._truth(yes), self._truth(no))  # type: ignore[arg-type]
            case ("cmp", str() as op, left, right):
                return self._comparison(op, left, right)  # type: ignore[arg-type]
            case ("call", func, args):
                return self._call(term, func, args)  # type: ignore[arg-type]
            case ("op", "%", _):
                return negated(self._equal(term, ("const", "int", 0)))
            case ("name" | "attr" | "item", *_):
                return negated(Atom("null", term)) if self.is_object(term) else _atom("true", term)
            case ("display", *elements):
                return bool(elements)
            case _:
                return None

    def null(self, term: Term) -> Formula:
        """When a term is None."""
        return self._null(self._resolved(term))

    def _null(self, term: Term) -> Formula:
        match term:
            case ("const", _, value):
                return value is None
            case ("if", test, yes, no):
                return self._choice(test, self._null(yes), self._null(no))  # type: ignore[arg-type]
            case ("call", func, _):
                return False if is_constructor(func) else None  # type: ignore[arg-type]
            case ("name" | "attr" | "item", *_):
                return _atom("null", term)
            case ("display" | "cmp" | "not", *_):
                return False
            case _:
                return None

    def equal(self, left: Term, right: Term) -> Formula:
        """When two terms are equal."""
        return self._equal(self._resolved(left), self._resolved(right))

    def _equal(self, left: Term, right: Term) -> Formula:
        if left[0] == "const" and right[0] == "const":
            return left[2] == right[2]
        if left[0] == "const":
            left, right = right, left
        if left[0] == "if":
            return self._choice(left[1], self._equal(left[2], right), self._equal(left[3], right))  # type: ignore[arg-type]
        match right:
            case ("const", "NoneType", _):
                return self._null(left)
            case ("const", "bool", answer):
                return self._truth(left) if answer else negated(self._truth(left))
            case _:
                return _atom("eq", *_shifted(left, right))

    def again(self, atom: Atom, change: Callable[[Term], Term]) -> Formula:
        """The question anew, of changed terms."""
        left, right = change(atom.left), change(atom.right)
        match atom.kind:
            case "true":
                return self._truth(left)
            case "null":
                return self._null(left)
            case "eq":
                return self._equal(left, right)
            case kind:
                return _atom(kind, left, right)

    def _choice(self, test: Term, yes: Formula, no: Formula) -> Formula:
        chosen = self._truth(test)
        return joined("or", (joined("and", (chosen, yes)), joined("and", (negated(chosen), no))))

    def _comparison(self, op: str, left: Term, right: Term) -> Formula:
        match op:
            case "==" | "is":
                return self._equal(left, right)
            case "!=" | "is not":
                return negated(self._equal(left, right))
            case "<":
                return _less(left, right)
            case ">":
                return _less(right, left)
            case ">=":
                return negated(_less(left, right))
            case "<=":
                return negated(_less(right, left))
            case "in":
                return _atom("in", left, right)
            case _:
                return negated(_atom("in", left, right))

    def _call(self, term: Term, func: Term, args: tuple[Term, ...]) -> Formula:
        name = last_name(func)
        if name == "bool" and len(args) == 1:
            return self._truth(args[0][1])  # type: ignore[arg-type]
        if name == "is_enabled" and func[0] == "attr" and func[1][0] == "call":  # type: ignore[index]
            return self._enabled(func[1][2])  # type: ignore[index]
        if answers_alike(term):
            return _atom("true", term)
        return True if is_constructor(func) and name not in EMPTY else None

    def _enabled(self, args: tuple[Term, ...]) -> Formula:
        """What `is_enabled()` says of an object that was made with these arguments."""
        for name, value in args:
            if name == "enabled":
                return self._truth(value)  # type: ignore[arg-type]
        return None if any(name == "**" for name, _ in args) or len(args) > 1 else True


def _less(left: Term, right: Term) -> Formula:
    """When a term is less than another. What is held against whole numbers is taken to be one: `< 1` is `not > 0`."""
    match right:
        case ("const", "int", int(number)):
            return negated(_atom("lt", ("const", "int", number - 1), left))
        case _:
            return _atom("lt", left, right)


def _atom(kind: str, left: Term, right: Term = ()) -> Formula:
    atom = Atom(kind, left, right)
    return None if contains((left, right), OPAQUE) or calls_out(left) or calls_out(right) else atom


def calls_out(term: object) -> bool:
    """Whether a call in a term may answer differently each time."""
    if not isinstance(term, tuple) or not term:
        return False
    if term[0] == "call" and not answers_alike(term):
        return True
    return any(calls_out(piece) for piece in term if type(piece) is tuple)


def answers_alike(call: Term) -> bool:
    """Whether a call gives the same answer until something that it is asked about is assigned."""
    func: Term = call[1]  # type: ignore[assignment]
    name = last_name(func)
    if name in PURE:
        return True
    given: tuple[tuple[str, Term], ...] = call[2]  # type: ignore[assignment]
    is_asked = func[0] == "name" and not is_constructor(func) and any(is_place(term) for _, term in given)
    is_plain = all(is_place(term) or term[0] == "const" for _, term in given)
    return is_asked and is_plain and name not in TURNING and not any(part in name.lower() for part in DRAWING)


def last_name(func: Term) -> str:
    """`c` of a callee `a.b.c`."""
    return str(func[2]) if func[0] == "attr" else str(func[1]) if func[0] == "name" else ""


def is_constructor(func: Term) -> bool:
    """Whether a callee is written as a class is: `Counter`."""
    return last_name(func)[:1].isupper()


def _shifted(left: Term, right: Term) -> tuple[Term, Term]:
    """`i % n == n - 1` asks what `(i + 1) % n == 0` asks."""
    match left, right:
        case ("op", "%", (counter, period)), ("op", "-", (minuend, ("const", "int", 1))) if minuend == period:
            one: Term = ("const", "int", 1)
            return ("op", "%", (("op", "+", (counter, one)), period)), ("const", "int", 0)
        case _:
            return left, right


def negated(formula: Formula) -> Formula:
    """Not."""
    if formula is None or isinstance(formula, bool):
        return None if formula is None else not formula
    return Join("not", (formula,))


def joined(op: str, parts: tuple[Formula, ...]) -> Formula:
    """And, or; decided parts are taken away."""
    decisive = op == "or"
    rest = tuple(dict.fromkeys(part for part in parts if part is not (not decisive)))
    if decisive in [part for part in rest if isinstance(part, bool)]:
        return decisive
    if not rest:
        return not decisive
    return rest[0] if len(rest) == 1 else Join(op, rest)


def atoms(formula: Formula) -> Iterator[Atom]:
    """The questions in a formula."""
    if isinstance(formula, Atom):
        yield formula
    elif isinstance(formula, Join):
        for part in formula.parts:
            yield from atoms(part)


def value(formula: Formula, answers: Mapping[Atom, bool | None], most: int = MOST_CASES) -> bool | None:
    """What a formula says under some answers, whatever the others are; None where they do not decide it."""
    said = _said(formula, answers)
    if said is not None or not isinstance(formula, Join) or not most:
        return said
    # `p or not p` holds without anybody knowing p.
    for atom, times in Counter(atoms(formula)).items():
        if times > 1 and answers.get(atom) is None:
            no = value(formula, {**answers, atom: False}, most - 1)
            return no if no is not None and no is value(formula, {**answers, atom: True}, most - 1) else None
    return None


def _said(formula: Formula, answers: Mapping[Atom, bool | None]) -> bool | None:
    """What a formula says where each of its parts counts for itself."""
    if isinstance(formula, Atom):
        return answers.get(formula)
    if not isinstance(formula, Join):
        return formula
    values = [_said(part, answers) for part in formula.parts]
    if formula.op == "not":
        return None if values[0] is None else not values[0]
    decisive = formula.op == "or"
    if decisive in values:
        return decisive
    return None if None in values else not decisive
