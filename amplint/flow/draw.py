"""Graphs as Mermaid flow charts, for people and for tests; decides nothing."""

from collections.abc import Iterator

from amplint.flow.graph import Edge, EdgeKind, Graph, Step, StepKind
from amplint.model.span import Span
from amplint.model.tree import (
    AnnAssign,
    Assign,
    AugAssign,
    ClassDef,
    ExceptHandler,
    For,
    FunctionDef,
    Generator,
    MatchCase,
    NamedExpr,
    Node,
    WithItem,
)

LONGEST = 60


def mermaid(graph: Graph, program: str) -> str:
    """The graph as a Mermaid flow chart; program is the text that its spans count in."""
    return "\n".join(_lines(graph, _Text(program))) + "\n"


def _lines(graph: Graph, text: "_Text") -> Iterator[str]:
    yield "flowchart TD"
    for number, block in enumerate(graph.blocks):
        if number in (graph.exit, graph.raised):
            yield f"    b{number}([{'exit' if number == graph.exit else 'raised'}])"
        else:
            steps = [_quoted(_step(step, text)) for step in block.steps]
            yield f'    b{number}["{"<br/>".join([str(number), *steps])}"]'
    for number, edge in graph.edges():
        label = _edge(edge, text)
        arrow = "-.->" if edge.kind is EdgeKind.EXCEPTION else "-->"
        yield f"    b{number} {arrow}{f'|{chr(34)}{_quoted(label)}{chr(34)}|' if label else ''} b{edge.target}"


def _step(step: Step, text: "_Text") -> str:
    frame = f"#{step.frame} " if step.frame else ""
    source = _bound(step.node, text) if step.kind is StepKind.BIND else text.of(step.node)
    return frame + (source if source.startswith(step.kind) else f"{step.kind} {source}")


def _bound(node: Node, text: "_Text") -> str:
    match node:
        case Assign():
            return ", ".join(text.of(target) for target in node.targets)
        case AnnAssign() | AugAssign() | NamedExpr() | For() | Generator():
            return text.of(node.target)
        case FunctionDef() | ClassDef():
            return node.name
        case WithItem():
            return text.of(node.target) if node.target is not None else ""
        case ExceptHandler():
            return node.name or ""
        case MatchCase():
            return ", ".join(node.pattern.captures)
        case _:
            return text.of(node)


def _edge(edge: Edge, text: "_Text") -> str:
    answer = "yes" if edge.is_true else "no"
    match edge.kind, edge.node:
        case EdgeKind.FLOW, _:
            return ""
        case EdgeKind.BRANCH, Node() as test:
            return f"{text.of(test)}: {answer}"
        case EdgeKind.CASE, MatchCase() as case:
            return f"case {text.of(case.pattern)}: {answer}"
        case ((EdgeKind.EXCEPTION | EdgeKind.CAUGHT), ExceptHandler() as handler):
            return f"{edge.kind} {text.of(handler.type) if handler.type is not None else ''}".rstrip()
        case ((EdgeKind.TURN | EdgeKind.EXHAUSTED), (For() | Generator()) as loop):
            return f"{text.of(loop.target)}: {edge.kind}"
        case _:
            return str(edge.kind)


def _quoted(label: str) -> str:
    return label.replace("&", "&amp;").replace('"', "#quot;").replace("<", "&lt;").replace(">", "&gt;")


class _Text:
    """The source of nodes, on one line and not too long."""

    def __init__(self, program: str) -> None:
        self.lines = program.split("\n")

    def of(self, node: Node) -> str:
        """What the program says at the node."""
        text = " ".join(" ".join(self._cut(node.span)).split())
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def _cut(self, span: Span) -> list[str]:
        lines = self.lines[span.line - 1 : span.end_line]
        if lines:
            lines[-1] = lines[-1][: span.end_column]
            lines[0] = lines[0][span.column :]
        return lines
