"""Calls a function of a fixture with arguments made up from the names of its parameters.

Arguments: the file, the function, `outputs` or `losses` (what models give). Everything is small and on "cuda", which
the run moves to the CPU where there is no GPU.
"""

import ast
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

import torch
from torch import nn

SIZE, BATCHES = 4, 8


class WithLoss(nn.Module):
    """A model that is given a whole batch, or another model's loss, and returns its loss."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *batch: Any, **named: Any) -> torch.Tensor:
        given = next(iter((*batch, *named.values())))
        loss = self.inner(given if given.ndim else given.expand(6, SIZE)).float().square().mean()
        loss.loss = loss
        return loss


def has_pairs(source: str) -> bool:
    """Whether the loops of a fixture take batches apart (`for images, labels in loader`)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.For):
            target: ast.expr = node.target
            if (
                isinstance(node.iter, ast.Call)
                and "enumerate" in ast.unparse(node.iter)
                and isinstance(target, ast.Tuple)
            ):
                target = target.elts[1]
            if isinstance(target, ast.Tuple):
                return True
    return not re.search(r"in (enumerate\()?\w*(loader|batches|data)\b", source)


class Stage:
    """Things that belong together: an optimizer serves the model whose name it carries."""

    def __init__(self, has_pairs: bool, gives_losses: bool) -> None:
        self.has_pairs = has_pairs
        self.gives_losses = gives_losses
        self.models: dict[str, nn.Module] = {}
        self.made: dict[str, Any] = {}

    def model(self, name: str) -> nn.Module:
        if name not in self.models:
            made = nn.Sequential(nn.Linear(SIZE, SIZE), nn.Tanh(), nn.Linear(SIZE, SIZE))
            self.models[name] = (WithLoss(made) if self.gives_losses else made).cuda()
        return self.models[name]

    def parameters_for(self, name: str) -> list[nn.Parameter]:
        parts = set(re.split(r"_|(?<=[a-z])(?=\d)", name)) - {"optimizer", "optim", "opt", "optimizers"}
        owners = [
            key for key in self.models if parts & set(key.split("_")) or any(key.startswith(p) for p in parts if p)
        ]
        models = [self.models[key] for key in owners] or list(self.models.values()) or [self.model("model")]
        return [parameter for model in models for parameter in model.parameters()]


def _loader(name: str, stage: Stage) -> list[Any]:
    pairs = _batches()
    return pairs if stage.has_pairs else [inputs for inputs, _ in pairs]


def _batches() -> list[tuple[torch.Tensor, torch.Tensor]]:
    # Targets are probabilities: mean squared error, cross entropy and binary cross entropy all take them.
    return [(torch.randn(6, SIZE).cuda(), torch.rand(6, SIZE).softmax(1).cuda()) for _ in range(BATCHES)]


def _value(name: str, stage: Stage) -> Any:
    for pattern, make in MAKERS:
        if re.search(pattern, name):
            if name not in stage.made:
                stage.made[name] = make(name, stage)
            return stage.made[name]
    raise SystemExit(f"no argument for {name}")


def _optimizer(name: str, stage: Stage) -> Any:
    if name.endswith("s"):
        return [_optimizer(name[:-1], stage)]
    return torch.optim.SGD(stage.parameters_for(name), lr=0.01)


def _scheduler(name: str, stage: Stage) -> Any:
    optimizers = [each for each in stage.made.values() if isinstance(each, torch.optim.Optimizer)]
    optimizer = optimizers[0] if optimizers else _value("optimizer", stage)
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)


def _namespace(name: str, stage: Stage) -> Any:
    return types.SimpleNamespace(
        amp=True, use_amp=True, fp16=True, clip=1.0, max_norm=1.0, clip_grad=1.0, grad_clip=1.0, epochs=1, accum=2
    )


MAKERS: list[tuple[str, Any]] = [
    (r"scaler", lambda name, stage: torch.amp.GradScaler("cuda", init_scale=256.0)),
    (r"schedul", _scheduler),
    (r"optim|^opts?$|opt_|_opt", _optimizer),
    (r"accum|every|^n$|steps$|parts", lambda name, stage: 2),
    (r"epoch", lambda name, stage: 1),
    (r"norm|clip|threshold|bound|limit", lambda name, stage: 1.0),
    (r"criterion|loss_f|objective|loss$", lambda name, stage: nn.MSELoss()),
    (r"device$|^dev", lambda name, stage: torch.device("cuda")),
    (r"amp$|fp16|half|enabled|^use_", lambda name, stage: True),
    (r"loader|batches|data$|dataset|stream|samples", _loader),
    (r"^args$|cfg|config|opts$|hparams", _namespace),
    (r"label|target|^ys?$", lambda name, stage: _batches()[0][1]),
    (r"image|input|noise|real|^xs?$|batch|token", lambda name, stage: _batches()[0][0]),
    (r"param", lambda name, stage: stage.parameters_for(name)),
    (r"model|net|critic|generator|discriminator|head|encoder|decoder|teacher|student|ema", lambda n, s: s.model(n)),
    (r"dtype", lambda name, stage: torch.float16),
    (r"log|writer|callback|hook", lambda name, stage: lambda *args, **kwargs: None),
]


def main() -> None:
    path, name = Path(sys.argv[1]), sys.argv[2]
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, name)
    stage = Stage(has_pairs(path.read_text()), sys.argv[3] == "losses")
    parameters = inspect.signature(function).parameters.values()
    needed = [each for each in parameters if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    # Models first: optimizers look for them.
    needed.sort(key=lambda each: (bool(re.search("schedul", each.name)), bool(re.search("opt|param", each.name))))
    values = {each.name: _value(each.name, stage) for each in needed}
    calls = BATCHES if not any(re.search("loader|batches|data", each.name) for each in needed) else 1
    for _ in range(calls):
        outcome = function(**values)
        if inspect.isgenerator(outcome):
            for _ in outcome:
                pass


main()
