"""The same programs written with torch: a linear model, one optimizer, one scaler, all made at the start of `train`."""

from tests.proof.programs import Program, Writer

EVENTS = ("scaled", "plain", "unscale", "clip", "step", "direct", "update", "zero")
# How often each is drawn: mostly loops that nearly are right.
LIKELY = (
    *("scaled",) * 4,
    "plain",
    *("unscale",) * 3,
    *("clip",) * 2,
    *("step",) * 4,
    "direct",
    *("update",) * 4,
    "zero",
)

HEAD = """\
import torch
from torch.nn.utils import clip_grad_norm_


"""
SETUP = (
    "{me}model = torch.nn.Linear(1, 1, bias=False)",
    "{me}optimizer = torch.optim.SGD({me}model.parameters(), lr=0.0)",
    '{me}scaler = torch.amp.GradScaler("cpu", init_scale=4.0, growth_interval=1)',
)
LINES = {
    "scaled": "loss = {me}model(torch.ones(1)).sum()\n{me}scaler.scale(loss).backward()",
    "plain": "loss = {me}model(torch.ones(1)).sum()\nloss.backward()",
    "unscale": "{me}scaler.unscale_({me}optimizer)",
    "clip": "clip_grad_norm_({me}model.parameters(), 1.0)",
    "step": "{me}scaler.step({me}optimizer)",
    "direct": "{me}optimizer.step()",
    "update": "{me}scaler.update()",
    "zero": "{me}optimizer.zero_grad()",
}


class AmpWriter(Writer):
    """Writes a program's events as calls of torch."""

    def __init__(self, program: Program) -> None:
        self.is_setup = False
        super().__init__(program)

    @property
    def text(self) -> str:
        return HEAD + super().text

    @property
    def lines_before(self) -> int:
        """How many lines stand before the first that `sites` counts."""
        return HEAD.count("\n")

    def function(self, depth: int, name: str, body: tuple[object, ...]) -> None:
        self.is_setup = name == "train"
        super().function(depth, name, body)  # type: ignore[arg-type]

    def parameters(self) -> str:
        if self.program.is_method or self.is_setup:
            return super().parameters()
        return super().parameters() + ", model, optimizer, scaler"

    def arguments(self) -> str:
        return super().arguments() + ("" if self.program.is_method else ", model, optimizer, scaler")

    def body(self, depth: int, body: tuple[object, ...]) -> None:
        if self.is_setup:
            self.is_setup = False
            for line in SETUP:
                self.add(depth, line.format(me=self.prefix))
        super().body(depth, body)  # type: ignore[arg-type]

    def event(self, event: str) -> str:
        return LINES[event].format(me=self.prefix)
