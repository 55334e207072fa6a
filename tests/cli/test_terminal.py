"""What a person sees: width, colour, links."""

import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.cli.running import amplint
from tests.cli.terminal import on_a_terminal

ESCAPE = re.compile(r"\x1b\[[0-9;]*m|\x1b\]8;[^\x1b]*\x1b\\")
PENALTY = "0.001 * sum(parameter.square().sum() for parameter in model.parameters() if parameter.requires_grad)"
PARAMETERS = '[parameter for group in optimizer.param_groups for parameter in group["params"]]'
CLIP = f"""\
import torch
from torch.nn.utils import clip_grad_norm_


def train(model, optimizer, loader, loss):
    scaler = torch.amp.GradScaler("cuda")
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            found = loss(model(x), y)
        scaler.scale(found + {PENALTY}).backward()
        clip_grad_norm_({PARAMETERS}, max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(CLIP)
    return tmp_path


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_findings_fit_the_terminal(tree: Path, columns: int) -> None:
    shown = ESCAPE.sub("", on_a_terminal("--quiet", cwd=tree, columns=columns))
    assert "AMP201" in shown
    assert max(map(len, shown.splitlines())) <= columns
    rows = [line.split(" | ", 1)[1] for line in shown.splitlines() if " | " in line]
    source, marks = next(pair for pair in pairwise(rows) if "^" in pair[1])
    assert source[marks.index("^") :].startswith("clip_grad_norm_(")
    assert sum("scaled here" in row for row in rows) == 1


def test_a_person_gets_colours_unless_they_want_none(tree: Path) -> None:
    assert "\x1b[" in on_a_terminal(cwd=tree)
    for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_a_terminal(cwd=tree, environment=environment)
    assert "\x1b" not in on_a_terminal("--color", "never", cwd=tree)


def test_codes_link_to_their_pages_where_the_documentation_is_somewhere(tree: Path) -> None:
    page = "https://docs.example.com/amplint/rules/AMP201-clip-of-scaled-gradients.html"
    assert "\x1b]8;" not in on_a_terminal(cwd=tree)
    assert "amplint rule AMP201" in on_a_terminal(cwd=tree)
    (tree / "amplint.toml").write_text('docs-url = "https://docs.example.com/amplint"\n')
    for flags in ((), ("--output-format", "concise"), ("--statistics",)):
        shown = on_a_terminal(*flags, cwd=tree)
        assert re.search(rf"\x1b\]8;[^;]*;{re.escape(page)}\x1b\\(\x1b\[[0-9;]*m)*AMP201", shown)
        assert "amplint rule" not in shown
    assert "]8;" not in amplint("--color", "always", cwd=tree).stdout, "a file has no links"
