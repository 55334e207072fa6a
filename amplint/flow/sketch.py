"""A graph while it is drawn: open blocks that take steps and edges; knows nothing of statements."""

from msgspec import Struct, field

from amplint.flow.graph import Block, Edge, EdgeKind, Frame, Graph, Owner, Step, StepKind
from amplint.flow.tidy import tidy
from amplint.model.tree import Expr, Node


class OpenBlock(Struct):
    """A block that still takes steps and edges."""

    steps: list[Step] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)


class Sketch:
    """The blocks so far, and the one that takes the next step (None where control cannot come)."""

    def __init__(self) -> None:
        self.blocks: list[OpenBlock] = [OpenBlock()]
        self.current: int | None = 0
        self.exit = self.new()
        self.raised = self.new()

    def new(self) -> int:
        """A new empty block."""
        self.blocks.append(OpenBlock())
        return len(self.blocks) - 1

    def append(self, kind: StepKind, node: Node) -> None:
        """One more step, where control can come."""
        if self.current is not None:
            self.blocks[self.current].steps.append(Step(kind, node))

    def connect(
        self,
        target: int,
        kind: EdgeKind = EdgeKind.FLOW,
        node: Node | None = None,
        is_true: bool = True,
        subject: Expr | None = None,
    ) -> None:
        """An edge from the current block; the block stays current, for it may have further edges."""
        if self.current is not None:
            self.blocks[self.current].edges.append(Edge(target, kind, node, is_true, subject))

    def jump(self, target: int) -> None:
        """Go on in the target block, and leave nothing behind."""
        self.connect(target)
        self.current = None

    def enter(self, block: int) -> None:
        """Make a block current, wherever control was."""
        self.current = block

    def cut(self) -> None:
        """Go on in a new block, because what follows has other ways out."""
        if self.current is not None:
            block = self.new()
            self.jump(block)
            self.enter(block)

    def finish(self, owner: Owner) -> Graph:
        """The graph, without unreachable and empty blocks, numbered in reverse postorder."""
        blocks = tuple(Block(tuple(b.steps), tuple(b.edges)) for b in self.blocks)
        return tidy(Graph(blocks, self.exit, self.raised, (Frame(owner),)))
