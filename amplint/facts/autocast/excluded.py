"""Whether a scaler can be on while a region computes in bfloat16, as far as both hang on the same questions.

Knows what the program writes; refuses to say that two questions of different text ask the same.
"""

from collections.abc import Mapping
from itertools import islice, product
from typing import TYPE_CHECKING

from amplint.facts.autocast.regions import Region
from amplint.facts.autocast.scaler_switch import switch_of
from amplint.facts.program.constructors import Construction
from amplint.facts.program.unfolded import Unfolding
from amplint.flow.consistency import is_consistent
from amplint.flow.formulas import Atom, Formula, Normal, atoms, joined, value
from amplint.flow.terms import Term
from amplint.model.tree import Attribute, BoolOp, Call, Constant, Expr, If, Name, Raise, Subscript

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

BFLOAT16: Term = ("const", "dtype", "bfloat16")
# How many questions are answered in all ways, and how often a formula may ask them.
MOST_QUESTIONS = 8
MOST_MENTIONS = 1000


def is_excluded(made: Construction, scaled: Call, home: "Facts", region: Region, scalers: Mapping[int, Term]) -> bool:
    """Whether no answers make a scaler, switch it on, let it scale a loss, and make the region of the loss bfloat16.

    home is the module of the call that scales; scalers tells its scalers apart, by the identities of the calls that
    make them.
    """
    normal = Normal(lambda _: False)
    here = Unfolding(home, scalers)
    wanted = [
        here.around(scaled),
        Unfolding(region.facts, scalers).around(region.opening),
        Unfolding(made.facts, scalers).around(made.call),
    ]
    switch = switch_of(made)
    if switch is not None:
        wanted.append(Unfolding(switch.facts, scalers).of(switch.node))
    conditions = [normal.truth(term) for term in wanted]
    if isinstance(scaled.func, Attribute):
        conditions.append(normal.equal(here.of(scaled.func.value), scalers[id(made.call)]))
    dtypes = [(autocast.facts, autocast.dtype_expr) for autocast in region.autocasts]
    terms = [Unfolding(facts, scalers).of(dtype) for facts, dtype in dtypes if dtype is not None]
    formulas = [joined("and", (normal.equal(term, BFLOAT16), *conditions)) for term in terms]
    refused = _refused(home)
    return len(terms) == len(dtypes) and not any(_is_possible(formula, refused) for formula in formulas)


def _refused(home: "Facts") -> frozenset[frozenset[str]]:
    """The pairs of switches, by their own names, that a module refuses together: `if use_amp and use_bf16: raise`."""
    found: set[frozenset[str]] = set()
    for statement in home.index.each(If):
        match statement:
            case If(test=BoolOp(op="and", values=(one, other)), body=(*_, Raise())):
                found.add(frozenset((_switch(one), _switch(other))))
            case _:
                pass
    return frozenset(pair for pair in found if len(pair) > 1 and "" not in pair)


def _switch(expr: Expr) -> str:
    match expr:
        case Name():
            return expr.id
        case Attribute():
            return expr.attr
        case Subscript(index=Constant(value=str(key))):
            return key
        case _:
            return ""


def _named(atom: Atom) -> str:
    """The own name of the switch that a question is about."""
    match atom:
        case Atom(kind="true", left=("name", str(name), _) | ("attr", _, str(name))):
            return name
        case Atom(kind="true", left=("item", _, ("const", "str", str(key)))):
            return key
        case _:
            return ""


def _is_possible(formula: Formula, refused: frozenset[frozenset[str]]) -> bool:
    """Whether some answers make a formula true, or may, that turn on no two switches which are refused together."""
    mentions = list(islice(atoms(formula), MOST_MENTIONS + 1))
    asked = list(dict.fromkeys(mentions))
    if len(mentions) > MOST_MENTIONS or len(asked) > MOST_QUESTIONS:
        return True
    answers = (dict(zip(asked, said, strict=True)) for said in product((True, False), repeat=len(asked)))
    return any(
        is_consistent(each) and not _is_refused(each, refused) and value(formula, each, most=0) is not False
        for each in answers
    )


def _is_refused(answers: Mapping[Atom, bool], refused: frozenset[frozenset[str]]) -> bool:
    on = {_named(atom) for atom, said in answers.items() if said}
    return any(pair <= on for pair in refused)
