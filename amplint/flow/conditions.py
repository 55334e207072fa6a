"""Which branches of a graph ask the same question, and what a path that answered it once may do after that.

Knows that an answer holds until something that the question reads is assigned; knows no meaning of any question.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import product

from amplint.flow.formulas import Atom, Formula, Normal, atoms, last_name, value
from amplint.flow.graph import Edge, EdgeKind, Graph, Step, StepKind
from amplint.flow.influence import comes_again, deciding
from amplint.flow.terms import Term, Terms, contains, is_place, parts, replaced
from amplint.flow.writes import Write, writes
from amplint.model.tree import Constant, Expr, MatchCase, Node

MOST_QUESTIONS = 4
# How many flags may be computed one from the other.
LONGEST_CHAIN = 3

Answers = tuple[bool | None, ...]
IsRelevant = Callable[[Step], bool]


class Questions:
    """The questions of a graph that are worth an answer, and how edges and steps change the answers.

    Answers are a tuple in the order of `asked`; None is a question that the path has not answered, or has forgotten.
    """

    def __init__(self, graph: Graph, is_relevant: IsRelevant = lambda _: True, most: int = MOST_QUESTIONS) -> None:
        self.graph = graph
        self.terms = Terms(graph)
        self._objects = _objects(graph, self.terms)
        self.normal = Normal(self._objects.__contains__)
        self._edges = {id(edge): self._of_edge(edge) for _, edge in graph.edges()}
        self._truths: dict[tuple[int, int], tuple[Expr, Formula]] = {}
        self._writes = {step: tuple(writes(step, self.terms)) for _, _, step in graph.steps()}
        self._adopted: list[Edge] = []
        self._again: dict[tuple[int, frozenset[int]], bool] = {}
        # Many states ask with the same answers.
        self._along: dict[tuple[int, Answers], tuple[Answers, ...]] = {}
        self._after: dict[tuple[Step, Answers], tuple[Answers, ...]] = {}
        self._parts: dict[Atom, frozenset[Term]] = {}
        self.asked: tuple[Atom, ...] = self._choose(is_relevant, most)
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
        return dict(zip(self.asked, answers, strict=True))

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
            if len(pattern.values) == 1 and not pattern.captures and isinstance(pattern.values[0], Constant):
                subject = self.terms.of(edge.subject, edge.frame)
                return self.normal.equal(subject, self.terms.of(pattern.values[0], edge.frame))
        return None

    def _of_step(self, changed: tuple[Write, ...]) -> Iterator[tuple[int, Formula]]:
        for index, atom in enumerate(self.asked):
            for place, new in changed:
                if place in self._read(atom):
                    yield index, self._replaced(atom, place, new)
                    break

    def _replaced(self, atom: Atom, place: Term, new: Term | None) -> Formula:
        return None if new is None else self.normal.again(atom, lambda term: replaced(term, place, new))

    def _choose(self, is_relevant: IsRelevant, most: int) -> tuple[Atom, ...]:
        """The questions that are asked twice or more, once in a loop: those nearest to a relevant step, the most asked.

        A question is near where a relevant step hangs on it and on nothing between.
        """
        counts: Counter[Atom] = Counter()
        near: set[Atom] = set()
        for number, is_near in deciding(self.graph, is_relevant).items():
            block = self.graph.blocks[number]
            for atom in dict.fromkeys(a for edge in block.edges for a in atoms(self._edges[id(edge)])):
                counts[atom] += 1
                counts[atom] += self._comes_again(number, self._changing(atom))
                near.update((atom,) if is_near else ())
        self._count_flags(counts)
        related = {
            atom: sum(counts[other] for other in counts if other.left == atom.left and _excludes(atom, other))
            for atom in counts
        }
        again = (atom for atom in counts if counts[atom] + related[atom] > 1)
        return tuple(sorted(again, key=lambda atom: (atom not in near, -counts[atom]))[:most])

    def _read(self, atom: Atom) -> frozenset[Term]:
        """The terms that a question is made of: its answer depends on what stands at those of them that are places."""
        if atom not in self._parts:
            self._parts[atom] = frozenset((*parts(atom.left), *parts(atom.right)))
        return self._parts[atom]

    def _changing(self, atom: Atom) -> frozenset[int]:
        """The blocks that assign something that a question reads."""
        nowhere: frozenset[int] = frozenset()
        return nowhere.union(*(self._written.get(term, nowhere) for term in self._read(atom)))

    @cached_property
    def _written(self) -> dict[Term, set[int]]:
        """The blocks that assign each place."""
        found: dict[Term, set[int]] = {}
        for number, _, step in self.graph.steps():
            for place, _ in self._writes[step]:
                found.setdefault(place, set()).add(number)
        return found

    def _comes_again(self, number: int, without: frozenset[int]) -> bool:
        key = number, without
        if key not in self._again:
            self._again[key] = comes_again(self.graph, number, without)
        return self._again[key]

    def _count_flags(self, counts: "Counter[Atom]") -> None:
        """A question that decides the value of a flag is asked again where the flag is asked, and by each turn."""
        changes: dict[Term, list[tuple[Term, int]]] = {}
        for number, _, step in self.graph.steps():
            for place, new in self._writes[step]:
                if new is not None:
                    changes.setdefault(place, []).append((new, number))
        pending = list(counts)
        for _ in range(LONGEST_CHAIN):
            further: list[Atom] = []
            concerned = [(a, p, *change) for a in pending for p in self._read(a) for change in changes.get(p, ())]
            for atom, place, new, number in concerned:
                formula = self._replaced(atom, place, new)
                inner = dict.fromkeys(atoms(formula))
                if contains(new, place) and not any(a in counts for a in inner):
                    continue  # a counter counts on: each turn would ask another question
                counts[atom] += formula is not None
                further.extend(a for a in inner if a not in counts)
                for question in inner:
                    counts[question] += 1 + self._comes_again(number, self._changing(question))
            pending = further


def is_consistent(answers: Mapping[Atom, bool | None]) -> bool:
    """Whether some values could give these answers: None is not true, and nothing equals two constants."""
    said = [atom for atom, answer in answers.items() if answer is True]
    for number, one in enumerate(said):
        for other in said[number + 1 :]:
            if one.left == other.left and _excludes(one, other):
                return False
    return True


def _excludes(one: Atom, other: Atom) -> bool:
    kinds = {one.kind, other.kind}
    if kinds == {"null", "true"}:
        return True
    if kinds == {"null", "eq"}:
        return (one if one.kind == "eq" else other).right[0] == "const"
    return kinds == {"eq"} and _is_constant(one.right) and _is_constant(other.right) and one.right != other.right


def _is_constant(term: Term) -> bool:
    """A literal, or a name that programs keep for one value, as `torch.float16`."""
    if term[0] == "const":
        return True
    return term[0] == "attr" and is_place(term) and term[1][:2] == ("name", "torch")  # type: ignore[index]


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
