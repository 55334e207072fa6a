"""`amplint debug facts` shows what is known of a file."""

from pathlib import Path

import pytest

from amplint.cli.facts import described
from amplint.config.usage import UsageError

ENGINE = Path(__file__).parent.parent.parent / "docs" / "examples" / "engine.py"


def test_regions_and_events_of_the_example() -> None:
    lines = [line.replace(str(ENGINE), "engine.py") for line in described(ENGINE)]
    assert lines == [
        "engine.py: module engine, for torch 2.4 or newer",
        "14:14 autocast region: device cuda, dtype float16",
        "30:14 autocast region: device cuda, dtype float16",
        "9:1 read from train_one_epoch:",
        "    engine.py:11:5  zero  optimizer optimizer",
        "    engine.py:16:9  scale  scaler scaler",
        "    engine.py:16:9  backward  optimizer ?",
        "    engine.py:18:13  clip  optimizer optimizer",
        "    engine.py:19:13  step  scaler scaler  optimizer optimizer",
        "    engine.py:20:13  update  scaler scaler",
        "    engine.py:21:13  zero  optimizer optimizer",
    ]


def test_a_file_that_does_not_parse_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.py"
    path.write_text("import torch.cuda.amp\n(")
    with pytest.raises(UsageError, match=r"odd\.py"):
        list(described(path))


HELPERS = """
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), 0.1)
        self.scaler = torch.amp.GradScaler("cuda")

    def limit(self):
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)

    def train(self, batches):
        for batch in batches:
            self.scaler.scale(self.net(batch).mean()).backward()
            self.limit()
            measure(self.optimizer)
            self.scaler.step(self.optimizer)
            self.scaler.update()
            self.optimizer.zero_grad()


def measure(given):
    torch.nn.utils.clip_grad_norm_(given.param_groups[0]["params"], float("inf"))
"""


def test_each_function_calls_things_by_its_own_names(tmp_path: Path) -> None:
    path = tmp_path / "trainer.py"
    path.write_text(HELPERS)
    assert [line.replace(f"{path}:", "") for line in described(path) if line.startswith("    ")] == [
        "    16:13  scale  scaler self.scaler",
        "    16:13  backward  optimizer ?",
        "    12:9  clip  optimizer self.optimizer",
        "    25:5  read  optimizer given",
        "    19:13  step  scaler self.scaler  optimizer self.optimizer",
        "    20:13  update  scaler self.scaler",
        "    21:13  zero  optimizer self.optimizer",
    ]


def test_a_region_that_may_be_none_is_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "chosen.py"
    path.write_text(
        "import contextlib\n\nimport torch\n\n\ndef forward(model, x, is_mixed):\n"
        "    region = torch.cuda.amp.autocast if is_mixed else contextlib.nullcontext\n"
        "    with region():\n        return model(x)\n"
    )
    assert [line for line in described(path) if "autocast region" in line] == [
        "8:10 autocast region: perhaps no region, device cuda, dtype float16"
    ]
