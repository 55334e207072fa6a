"""Which branches of a graph ask the same question, and what a path that answered it once may do after that.

Knows that an answer holds until something that the question reads is assigned; knows no meaning of any question.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product

from amplint.flow.aliases import Aliases
from amplint.flow.choice import Choice
from amplint.flow.consistency import is_consistent
from amplint.flow.formulas import Atom, Formula, Normal, atoms, last_name, value
from amplint.flow.graph import Edge, EdgeKind, Graph, Step, StepKind
from amplint.flow.terms import Term, Terms, is_place, replaced
from amplint.flow.writes import Write, writes
from amplint.model.tree import Constant, Expr, MatchCase, Node

MOST_QUESTIONS = 4

Answers = tuple[bool | None, ...]
IsRelevant = Callable[[Step], bool]


class Questions:
    """The questions of a graph that are worth an answer, and how edges and steps change the answers.

    Answers are a tuple in the order of `asked`; None is a question that the path has not answered, or has forgotten.
    """

    def __init__(
        self,
        graph: Graph,
        is_relevant: IsRelevant = lambda _: True,
        most: int = MOST_QUESTIONS,
        terms: Terms | None = None,
    ) -> None:
        """terms: those of the same graph, where they are at hand."""
        self.graph = graph
        self.terms = Terms(graph) if terms is None else terms
        written = {step: tuple(writes(step, self.terms)) for _, _, step in graph.steps()}
        aliases = Aliases(graph, self.terms, written)
        self._objects = frozenset(map(aliases.resolved, _objects(graph, self.terms)))
        self.normal = Normal(self._objects.__contains__, aliases.resolved)
        self._edges = {id(edge): self._of_edge(edge) for _, edge in graph.edges()}
        self._truths: dict[tuple[int, int], tuple[Expr, Formula]] = {}
        self._writes = {step: aliases.of(changes) for step, changes in written.items()}
        self._adopted: list[Edge] = []
        # Many states ask with the same answers.
        self._along: dict[tuple[int, Answers], tuple[Answers, ...]] = {}
        self._after: dict[tuple[Step, Answers], tuple[Answers, ...]] = {}
        self._by_atom: dict[Answers, dict[Atom, bool | None]] = {}
        self._choice = Choice(graph, self._edges, self._writes)
        self.asked: tuple[Atom, ...] = self._choice.best(is_relevant, most, self._replaced)
        self._changes = {step: tuple(self._of_step(changed)) for step, changed in self._writes.items()}

    @property
    def unanswered(self) -> Answers:
        """No question has an answer."""
        return (None,) * len(self.asked)

    def along(self, edge: Edge, answers: Answers) -> tuple[Answers, ...]:
        """What a path knows after an edge; nothing where it cannot take the edge."""
        formula = self._edges.get(id(edge))
        if formula is None:
            return (answers,)
        key = id(edge), answers
        if key not in self._along:
            completions = self._completions(formula, answers)
            self._along[key] = tuple(new for new, said in completions if said in (edge.is_true, None))
        return self._along[key]

    def after(self, step: Step, answers: Answers) -> tuple[Answers, ...]:
        """What a path knows after a step: an assignment forgets, or answers what follows from its value."""
        changes = self._changes[step]
        if not changes:
            return (answers,)
        key = step, answers
        if key not in self._after:
            self._after[key] = self._changed(changes, answers)
        return self._after[key]

    def _changed(self, changes: tuple[tuple[int, Formula], ...], answers: Answers) -> tuple[Answers, ...]:
        found: dict[Answers, None] = {}
        for before in self._decided([formula for _, formula in changes], answers):
            after, known = list(before), self._named(before)
            for index, formula in changes:
                after[index] = value(formula, known)
            found[tuple(after)] = None
        return tuple(found)

    def either_way(self, terms: Iterable[Term]) -> tuple[Answers, ...]:
        """The answers that say nothing but whether some terms are true: one for each combination."""
        return tuple(self._decided([self.normal.truth(term) for term in terms], self.unanswered))

    def is_changed_by(self, step: Step) -> bool:
        """Whether a step may change an answer."""
        return bool(self._changes[step])

    def says_something(self, edge: Edge) -> bool:
        """Whether an edge has a question that is understood, asked or not."""
        return self._edges.get(id(edge)) is not None

    def is_asked_by(self, edge: Edge) -> bool:
        """Whether taking an edge says something about an answer."""
        formula = self._edges.get(id(edge))
        return isinstance(formula, bool) or any(atom in self.asked for atom in atoms(formula))

    def adopt(self, edge: Edge, like: Edge) -> None:
        """Treat an edge that is not the graph's as one that is."""
        self._adopted.append(edge)
        self._edges[id(edge)] = self._edges[id(like)]

    def truth(self, expr: Expr, frame: int, answers: Answers) -> bool | None:
        """Whether an expression is true on a path with these answers; None where they do not say."""
        key = (id(expr), frame)
        if key not in self._truths:
            self._truths[key] = expr, self.normal.truth(self.terms.of(expr, frame))
        return value(self._truths[key][1], self._named(answers))

    def _named(self, answers: Answers) -> Mapping[Atom, bool | None]:
        known = self._by_atom.get(answers)
        if known is None:
            known = self._by_atom[answers] = dict(zip(self.asked, answers, strict=True))
        return known

    def _decided(self, formulas: list[Formula], answers: Answers) -> Iterator[Answers]:
        """The answers with every open question of some formulas answered either way."""
        wanted = {atom for formula in formulas for atom in atoms(formula)}
        choices = [
            (False, True) if said is None and atom in wanted else (said,)
            for atom, said in zip(self.asked, answers, strict=True)
        ]
        for combination in product(*choices):
            if is_consistent(self._named(combination)):
                yield combination

    def _completions(self, formula: Formula, answers: Answers) -> Iterator[tuple[Answers, bool | None]]:
        for combination in self._decided([formula], answers):
            yield combination, value(formula, self._named(combination))

    def _of_edge(self, edge: Edge) -> Formula:
        if edge.kind is EdgeKind.BRANCH:
            return self.normal.truth(self.terms.of(edge.node, edge.frame))
        if edge.kind is EdgeKind.CASE and isinstance(edge.node, MatchCase):
            pattern = edge.node.pattern
            for wanted in pattern.values:
                if isinstance(wanted, Constant) and wanted.span == pattern.span:  # it is nothing but this value
                    subject = self.terms.of(edge.subject, edge.frame)
                    return self.normal.equal(subject, self.terms.of(wanted, edge.frame))
        return None

    def _of_step(self, changed: tuple[Write, ...]) -> Iterator[tuple[int, Formula]]:
        for index, atom in enumerate(self.asked):
            for place, new in changed:
                if place in self._choice.read(atom):
                    yield index, self._replaced(atom, place, new)
                    break

    def _replaced(self, atom: Atom, place: Term, new: Term | None) -> Formula:
        return None if new is None else self.normal.again(atom, lambda term: replaced(term, place, new))


def _objects(graph: Graph, terms: Terms) -> frozenset[Term]:
    """Places whose methods are called: what stands there is true unless it is None, for numbers have no methods."""
    found: set[Term] = set()
    for _, _, step in graph.steps():
        if step.kind in (StepKind.CALL, StepKind.OPEN):
            func = terms.of(_callee(step.node), step.frame)
            if func[0] == "attr" and last_name(func) not in CONTAINER_METHODS and is_place(func):
                found.add(func[1])  # type: ignore[arg-type]
    return frozenset(found)


# Methods of lists, dicts, strings and sets, which are false when they are empty.
CONTAINER_METHODS = frozenset(
    {
        *("append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"),
        *("add", "get", "items", "keys", "values", "update", "setdefault", "discard", "union"),
        *("endswith", "format", "join", "lower", "replace", "split", "startswith", "strip", "upper"),
        *("item", "any", "all", "is_integer", "bit_length"),
    }
)


def _callee(node: Node) -> Node:
    return getattr(node, "func", node)
