"""One place that gives a name a meaning, and what an expression may mean; knows no scope."""

from amplint.facts.program.index import Scope
from amplint.model.data import Entity, Value
from amplint.model.tree import Expr, Node


class Binding(Entity):
    """One place that gives a name a meaning.

    kind is 'import', 'definition', 'assignment', 'parameter' or 'other' (loop and with targets, except, del, …).
    node is the Alias, the definition, the Name that is assigned or the Parameter; value is what an assignment assigns
    as a whole (not by unpacking); canonical is the dotted name for imports and definitions.
    """

    name: str
    kind: str
    node: Node
    scope: Scope
    value: Expr | None = None
    canonical: str | None = None


class Meaning(Value):
    """The dotted names that an expression may stand for; is_complete says that it stands for nothing else."""

    names: frozenset[str] = frozenset()
    is_complete: bool = False


# What most expressions mean: values, whose names lead nowhere.
UNKNOWN = Meaning()

# What one search for a meaning has found so far, by binding; None while a binding is being followed.
Search = dict[Binding, Meaning | None]
