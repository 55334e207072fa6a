"""A small protocol as a table, and its two readers: one over flow graphs, one over the structure of programs."""

from collections.abc import Iterable

from amplint.flow.client import Client, Known
from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import explore
from amplint.flow.graph import Frame, Step, StepKind
from amplint.flow.inline import Callee, expand
from amplint.flow.slim import slim
from amplint.flow.statements import build
from amplint.model.tree import Attribute, Call, ClassDef, Expr, FunctionDef, Name
from amplint.model.walks import walk
from amplint.syntax.lower import lower
from tests.proof.programs import Program, Writer
from tests.proof.reference import Reference, State

EVENTS = ("scale", "unscale", "clip", "step", "update")

# (gradients, stage) and event → (gradients, stage), what is wrong, whether the path goes on.
START = ("clean", "ready")
Row = tuple[tuple[str, str], str | None, bool]


def move(state: tuple[str, str], event: str) -> Row:
    gradients, stage = state
    match event, gradients, stage:
        case "scale", "unscaled", _:
            return ("mixed", stage), None, True
        case "scale", _, _:
            return ("scaled" if gradients != "mixed" else "mixed", stage), None, True
        case "unscale", _, "unscaled":
            return state, "unscaled twice", False
        case "unscale", _, "stepped":
            return state, "unscaled after step", False
        case "unscale", _, _:
            return ("unscaled" if gradients == "scaled" else gradients, "unscaled"), None, True
        case "clip", "scaled" | "mixed", _:
            return state, "clipped scaled", True
        case "clip", "clean", _:
            return state, "clipped nothing", True
        case "step", _, "stepped":
            return state, "no update", False
        case "step", "mixed", _:
            return ("clean", "stepped"), "mixed", True
        case "step", _, _:
            return ("clean", "stepped"), None, True
        case "update", _, "ready":
            return state, "nothing to update", False
        case "update", _, _:
            return (gradients, "ready"), None, True
        case _:
            return state, None, True


Findings = set[tuple[int, str]]


def expected(program: Program) -> Findings:
    """What the reference interpreter finds."""
    found: Findings = set()

    def react(state: State, event: str, site: int) -> Iterable[State]:
        assert isinstance(state, tuple)
        after, error, goes_on = move(state, event)
        if error is not None:
            found.add((site, error))
        return (after,) if goes_on else ()

    Reference(program, Writer(program).sites, react).run(START)
    return found


class Toy(Client[tuple[str, str]]):
    unknown = ("unknown", "unknown")

    def step(self, step: Step, state: tuple[str, str], known: Known) -> Iterable[tuple[str, str]]:
        event = event_of(step)
        if event is None:
            return (state,)
        after, _, goes_on = move(state, event)
        return (after,) if goes_on else ()


def event_of(step: Step) -> str | None:
    if step.kind is StepKind.CALL and isinstance(step.node, Call) and isinstance(step.node.func, Name):
        return step.node.func.id if step.node.func.id in EVENTS else None
    return None


def found(program: Program, is_slim: bool = False) -> Findings:
    """What the flow room's fixpoint finds, in the whole graph or in what is left of it for the toy's events."""
    module = lower(Writer(program).text)
    functions = {node.name: node for node in walk(module) if isinstance(node, FunctionDef)}
    is_method = any(isinstance(node, ClassDef) for node in module.body)

    def resolve(step: Step, frames: tuple[Frame, ...]) -> Callee | None:
        if not isinstance(step.node, Call):
            return None  # a manager, which no function of these programs makes
        func = step.node.func
        name = func.attr if isinstance(func, Attribute) else func.id if isinstance(func, Name) else ""
        if name not in functions:
            return None
        values: list[Expr] = [argument.value for argument in step.node.args]
        if is_method:
            assert isinstance(func, Attribute)
            values.insert(0, func.value)
        return Callee(functions[name], tuple(zip((p.name for p in functions[name].parameters), values, strict=True)))

    graph = expand(build(functions["train"]), resolve)
    questions = Questions(graph, most=12)
    if is_slim:
        graph = slim(questions, lambda step: event_of(step) is not None, lambda node, frame: False)
    flow = explore(graph, Toy(), [START], questions, bound=10_000)
    findings: Findings = set()
    for place in flow.places():
        event = event_of(place.step)
        if event is not None:
            _, error, _ = move(place.state, event)
            if error is not None:
                findings.add((place.step.node.span.line, error))
    return findings
