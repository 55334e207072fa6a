"""Runs a gate program on a stage of its own: a pretended torch whose objects write down what happens to them."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

Events = list[tuple[str, ...]]


class Loss:
    """A number that remembers whether it was multiplied by a scale, and divided by what."""

    def __init__(self, events: Events, scaled: bool = False, divided: str = "") -> None:
        self.events, self.scaled, self.divided = events, scaled, divided

    def __truediv__(self, other: object) -> "Loss":
        return Loss(self.events, self.scaled, f"{self.divided}/{other}")

    def __mul__(self, other: object) -> "Loss":
        return Loss(self.events, self.scaled, f"{self.divided}*{other}")

    def backward(self) -> None:
        self.events.append(("backward", "scaled" if self.scaled else "plain", self.divided))


class Scaler:
    def __init__(self, events: Events, enabled: bool) -> None:
        self.events, self.enabled = events, enabled
        events.append(("scaler", str(enabled)))

    def scale(self, loss: Loss) -> Loss:
        return Loss(loss.events, True, loss.divided) if self.enabled else loss

    def unscale_(self, optimizer: "Optimizer") -> None:
        if self.enabled:
            self.events.append(("unscale_",))

    def step(self, optimizer: "Optimizer") -> None:
        if self.enabled:
            self.events.append(("scaler.step",))
        else:
            optimizer.step()

    def update(self) -> None:
        if self.enabled:
            self.events.append(("update",))

    def is_enabled(self) -> bool:
        return self.enabled


class Optimizer:
    def __init__(self, events: Events) -> None:
        self.events = events

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.events.append(("zero_grad",))

    def step(self) -> None:
        self.events.append(("optimizer.step",))


class Tensor:
    """Anything that is only handed on: every attribute and every call gives such a thing again."""

    def __getattr__(self, name: str) -> "Tensor":
        return self

    def __call__(self, *_: object, **__: object) -> "Tensor":
        return self

    def __iter__(self) -> Iterator["Tensor"]:
        return iter(())


def stage(events: Events, has_cuda: bool) -> dict[str, ModuleType]:
    """The modules of the pretended torch, by name."""

    def grad_scaler(*arguments: object, enabled: bool = True, **_: object) -> Scaler:
        return Scaler(events, bool(enabled))

    @contextmanager
    def autocast(*_: object, dtype: object = None, enabled: bool = True, **__: object) -> Iterator[None]:
        events.append(("enter", str(bool(enabled))))
        yield
        events.append(("leave",))

    def clip(*_: object, **__: object) -> Tensor:
        events.append(("clip",))
        return Tensor()

    anything = Tensor()
    content: dict[str, dict[str, Any]] = {
        "torch": {
            **dict.fromkeys(("randn", "randint", "float16", "bfloat16", "float32"), anything),
            "autocast": autocast,
            "compile": lambda model: model,
        },
        "torch.amp": {"GradScaler": grad_scaler, "autocast": autocast},
        "torch.cuda": {"is_available": lambda: has_cuda},
        "torch.nn": {"Linear": anything, "CrossEntropyLoss": lambda: lambda *_: Loss(events)},
        "torch.nn.utils": {"clip_grad_norm_": clip, "clip_grad_value_": clip},
        "torch.nn.parallel": {"DistributedDataParallel": lambda model: model},
        "torch.optim": {"SGD": lambda *_, **__: Optimizer(events)},
    }
    modules = {name: ModuleType(name) for name in content}
    for name, values in content.items():
        vars(modules[name]).update(values)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(modules[parent], last, modules[name])
    return modules


def source_of(name: str, raw: bytes) -> str:
    """The program of a file; a notebook's magics are left out."""
    if not name.endswith(".ipynb"):
        return raw.decode()
    cells = json.loads(raw)["cells"]
    lines = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code").split("\n")
    return "\n".join(line for line in lines if not line.startswith("%"))


def perform(files: dict[str, bytes], has_cuda: bool = True) -> Events:
    """What happens when the program runs."""
    events: Events = []
    replaced = stage(events, has_cuda)
    main = next(name for name in files if name.startswith("main."))
    saved = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("torch", "engine")}
    try:
        for name in saved:
            del sys.modules[name]
        sys.modules.update(replaced)
        for name in files:
            if name != main:
                module = ModuleType(name.removesuffix(".py"))
                exec(compile(source_of(name, files[name]), name, "exec"), vars(module))
                sys.modules[module.__name__] = module
        exec(compile(source_of(main, files[main]), main, "exec"), {"__name__": "__main__"})
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("torch", "engine")]:
            del sys.modules[name]
        sys.modules.update(saved)
    return events
