"""The shapes in which people write one training loop: each turns a loop into the files of a program.

Every program has a `main.py` (or `main.ipynb`) that trains when it is run.
"""

import json
import re
from collections.abc import Callable, Iterable
from itertools import count

from tests.gate.loops import Loop, Op

Files = dict[str, bytes]

IMPORT = "import torch"
OBJECTS = {
    "model": "torch.nn.Linear(4, 2).cuda()",
    "criterion": "torch.nn.CrossEntropyLoss()",
    "optimizer": "torch.optim.SGD($model.parameters(), lr=0.1)",
    "accum": "4",
    "use_amp": "torch.cuda.is_available()",
}


def lines_of(ops: Iterable[Op]) -> list[str]:
    return [line for o in ops for line in o.lines] or ["pass"]


def indented(lines: Iterable[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def spelled(lines: Iterable[str], prefix: str = "") -> list[str]:
    """`$name` as the layout spells objects."""
    return [re.sub(r"\$(\w+)", lambda found: prefix + found[1], line) for line in lines]


def setup(loop: Loop) -> list[str]:
    """The lines that make the objects that a loop mentions."""
    makes = dict(OBJECTS)
    if loop.scaler is not None:
        makes["scaler"] = loop.scaler
    if loop.scaler is None or "$use_amp" not in loop.scaler:
        del makes["use_amp"]
    if not loop.is_accumulating:
        del makes["accum"]
    if loop.scaler_in_loop:
        del makes["scaler"]
    order = ("use_amp", "accum", "model", "criterion", "optimizer", "scaler")
    return [f"${name} = {makes[name]}" for name in order if name in makes]


def head(loop: Loop, loader: str = "loader") -> list[str]:
    """The line of the loop, and the scaler where it is made in it."""
    turns = f"for i, (x, y) in enumerate({loader}):" if loop.is_accumulating else f"for x, y in {loader}:"
    return [turns, *([f"    $scaler = {loop.scaler}"] if loop.scaler_in_loop else [])]


def guarded(loop: Loop, lines: list[str]) -> list[str]:
    """Lines that run when a group is complete."""
    return ["if (i + 1) % $accum == 0:", *indented(lines)] if loop.is_accumulating else lines


def whole(loop: Loop) -> list[str]:
    """The loop in one piece."""
    return [*head(loop), *indented([*lines_of(loop.turn), *guarded(loop, lines_of(loop.boundary))])]


def program(*parts: Iterable[str]) -> bytes:
    return ("\n".join(line for part in parts for line in part) + "\n").encode()


LOADER = ["loader = [(torch.randn(8, 4).cuda(), torch.randint(2, (8,)).cuda()) for _ in range(8)]"]


def function(loop: Loop) -> Files:
    body = spelled([*setup(loop), *whole(loop)])
    return {
        "main.py": program(
            [IMPORT, "", ""], ["def train(loader):"], indented(body), ["", ""], LOADER, ["train(loader)"]
        )
    }


def script(loop: Loop) -> Files:
    return {"main.py": program([IMPORT, ""], LOADER, spelled([*setup(loop), "", *whole(loop)]))}


def method(loop: Loop) -> Files:
    """Everything on self; one method trains."""
    init = spelled(setup(loop), "self.")
    body = spelled(whole(loop), "self.")
    return {
        "main.py": program(
            [IMPORT, "", "", "class Trainer:", "    def __init__(self):"],
            indented(init, 2),
            ["", "    def train(self, loader):"],
            indented(body, 2),
            ["", ""],
            LOADER,
            ["Trainer().train(loader)"],
        )
    }


def two_methods(loop: Loop) -> Files:
    """One method for the micro-batch, another for the step."""
    calls = [*head(loop), *indented(["self.micro_batch(x, y)", *guarded(loop, ["self.finish()"])])]
    return {
        "main.py": program(
            [IMPORT, "", "", "class Trainer:", "    def __init__(self):"],
            indented(spelled(setup(loop), "self."), 2),
            ["", "    def micro_batch(self, x, y):"],
            indented(spelled(lines_of(loop.turn), "self."), 2),
            ["", "    def finish(self):"],
            indented(spelled(lines_of(loop.boundary), "self."), 2),
            ["", "    def train(self, loader):"],
            indented(spelled(calls, "self."), 2),
            ["", ""],
            LOADER,
            ["Trainer().train(loader)"],
        )
    }


def subclass(loop: Loop) -> Files:
    """The base class has the loop, the subclass the operations."""
    calls = [*head(loop), *indented(["self.micro_batch(x, y)", *guarded(loop, ["self.finish()"])])]
    return {
        "main.py": program(
            [IMPORT, "", "", "class Base:", "    def train(self, loader):"],
            indented(spelled(calls, "self."), 2),
            ["", "    def finish(self):", "        raise NotImplementedError"],
            ["", "", "class Trainer(Base):", "    def __init__(self):"],
            indented(spelled(setup(loop), "self."), 2),
            ["", "    def micro_batch(self, x, y):"],
            indented(spelled(lines_of(loop.turn), "self."), 2),
            ["", "    def finish(self):"],
            indented(spelled(lines_of(loop.boundary), "self."), 2),
            ["", ""],
            LOADER,
            ["Trainer().train(loader)"],
        )
    }


def nested(loop: Loop) -> Files:
    """A nested function reads the objects of the function around it."""
    return {
        "main.py": program(
            [IMPORT, "", "", "def main(loader):"],
            indented(spelled(setup(loop))),
            ["", "    def train_one_epoch():"],
            indented(spelled(whole(loop)), 2),
            ["", "    train_one_epoch()", "", ""],
            LOADER,
            ["main(loader)"],
        )
    }


def other_file(loop: Loop) -> Files:
    """The step stands in a helper of another file."""
    names = ["model", "optimizer", *(["scaler"] if loop.scaler is not None else [])]
    call = f"finish({', '.join('$' + name for name in names)})"
    body = [*head(loop), *indented([*lines_of(loop.turn), *guarded(loop, [call])])]
    return {
        "engine.py": program(
            [IMPORT, "", "", f"def finish({', '.join(names)}):"], indented(spelled(lines_of(loop.boundary)))
        ),
        "main.py": program(
            [IMPORT, "", "from engine import finish", "", "", "def train(loader):"],
            indented(spelled([*setup(loop), *body])),
            ["", ""],
            LOADER,
            ["train(loader)"],
        ),
    }


def wrapper(loop: Loop) -> Files:
    """A class whose call scales, backpropagates, and steps when it is told to."""
    if loop.scaler is None:
        return function(loop)
    tags = [o.tag for o in loop.turn]
    at = tags.index("backward")
    before, after = loop.turn[:at], loop.turn[at:]
    inner = {"$scaler": "self._scaler", "$model.parameters()": "parameters"}
    ending = [o for o in loop.boundary if o.tag != "zero"] if loop.is_accumulating else list(loop.boundary)
    call = [
        *lines_of(after),
        *(["if need_update:", *indented(lines_of(ending))] if loop.is_accumulating else lines_of(ending)),
    ]
    for old, new in inner.items():
        call = [line.replace(old, new) for line in call]
    flag = ", need_update=(i + 1) % $accum == 0" if loop.is_accumulating else ""
    uses = [*lines_of(before), f"$scaler(loss, $optimizer, $model.parameters(){flag})"]
    if loop.is_accumulating and any(o.tag == "zero" for o in loop.boundary):
        uses += guarded(loop, ["$optimizer.zero_grad()"])
    makes = [line.replace(f"$scaler = {loop.scaler}", "$scaler = NativeScaler()") for line in setup(loop)]
    start = [line.replace(f"$scaler = {loop.scaler}", "$scaler = NativeScaler()") for line in head(loop)]
    scaler = loop.scaler.replace(", enabled=$use_amp", ", enabled=torch.cuda.is_available()")
    return {
        "main.py": program(
            [IMPORT, "", "", "class NativeScaler:", "    def __init__(self):", f"        self._scaler = {scaler}"],
            ["", "    def __call__(self, loss, optimizer, parameters, need_update=True):"],
            indented(spelled(call), 2),
            ["", "", "def train(loader):"],
            indented(spelled([*makes, *start, *indented(uses)])),
            ["", ""],
            LOADER,
            ["train(loader)"],
        )
    }


def correlated(loop: Loop) -> Files:
    """`if use_amp` around what needs the scaler, twice, with the plain way beside it."""
    return _asked(loop, "$use_amp", 'torch.amp.GradScaler("cuda")')


def not_none(loop: Loop) -> Files:
    """The scaler is None without AMP, and everybody asks for it."""
    return _asked(loop, "$scaler is not None", 'torch.amp.GradScaler("cuda") if $use_amp else None')


PLAIN = {
    "backward": ["loss.backward()"],
    "step": ["$optimizer.step()"],
    "unscale": [],
    "update": [],
}


def _asked(loop: Loop, test: str, scaler: str) -> Files:
    if loop.scaler is None:
        return function(loop)

    def lines(ops: Iterable[Op]) -> list[str]:
        found: list[str] = []
        for o in ops:
            if o.tag == "forward":  # without a scaler there must be no float16 either
                found += [line.replace("torch.float16)", "torch.float16, enabled=$use_amp)") for line in o.lines]
            elif "$scaler" in "".join(o.lines):
                found += [f"if {test}:", *indented(o.lines)]
                if PLAIN[o.tag]:
                    found += ["else:", *indented(PLAIN[o.tag])]
            else:
                found += o.lines
        return found or ["pass"]

    makes = [line for line in setup(loop) if not line.startswith(("$scaler", "$use_amp"))]
    if not loop.scaler_in_loop:
        makes.append(f"$scaler = {scaler}")
    start = [head(loop)[0], *([f"    $scaler = {scaler}"] if loop.scaler_in_loop else [])]
    body = [*start, *indented([*lines(loop.turn), *guarded(loop, lines(loop.boundary))])]
    return {
        "main.py": program(
            [IMPORT, "", "", "def train(loader, use_amp):"],
            indented(spelled([*makes, *body])),
            ["", ""],
            LOADER,
            ["train(loader, torch.cuda.is_available())"],
        )
    }


def parallel(loop: Loop) -> Files:
    """Under DistributedDataParallel and torch.compile."""
    makes = [
        line.replace(OBJECTS["model"], f"torch.nn.parallel.DistributedDataParallel(torch.compile({OBJECTS['model']}))")
        for line in setup(loop)
    ]
    return {
        "main.py": program(
            [IMPORT, "", "", "def train(loader):"],
            indented(spelled([*makes, "$model.train()", *whole(loop)])),
            ["", ""],
            LOADER,
            ["train(loader)"],
        )
    }


def notebook(loop: Loop) -> Files:
    """Cells that share their names."""
    cells = [[IMPORT], ["%matplotlib inline", *LOADER], spelled(setup(loop)), spelled(whole(loop))]
    numbers = count()
    content = {
        "cells": [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell{next(numbers)}",
                "metadata": {},
                "outputs": [],
                "source": [line + "\n" for line in cell[:-1]] + [cell[-1]],
            }
            for cell in cells
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return {"main.ipynb": (json.dumps(content, indent=1) + "\n").encode()}


Layout = Callable[[Loop], Files]
LAYOUTS: dict[str, Layout] = {
    "function": function,
    "script": script,
    "method": method,
    "two methods": two_methods,
    "subclass": subclass,
    "nested function": nested,
    "another file": other_file,
    "wrapper scaler": wrapper,
    "if use_amp": correlated,
    "scaler is not None": not_none,
    "parallel and compiled": parallel,
    "notebook": notebook,
}
