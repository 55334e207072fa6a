"""The work of an analysis is bounded: states at a point, steps by the length of a file. It is counted, not timed."""

import sys
from collections import Counter
from unittest.mock import patch

import pytest

from amplint.engine.check import check_module
from amplint.facts.gather import Facts
from amplint.facts.protocol import readings as protocol
from amplint.flow.fixpoint import Flow
from amplint.rules.registry import all_rules
from amplint.syntax.lower import lower

ONE = """
def train_{0}(model, optimizer, loader, steps, amp):
    scaler = torch.amp.GradScaler("cuda", enabled=amp)
    for i, (images, labels) in enumerate(loader):
        with torch.autocast("cuda", enabled=amp):
            loss = F.cross_entropy(model(images), labels) / steps
        scaler.scale(loss).backward()
        if (i + 1) % steps == 0:
            bound_{0}(model, scaler, optimizer, amp)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def bound_{0}(model, scaler, optimizer, amp):
    if amp:
        scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
"""
# A function with many paths that all differ: each optimizer is stepped or not, in its own loop over its own question.
MANY_PATHS = """
import torch


def train(model, optimizers, loader):
    first, second, third, fourth = optimizers
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
{0}        scaler.update()
"""


def many_functions(count: int) -> str:
    head = "import torch\nimport torch.nn.functional as F\n\n"
    return head + "\n".join(ONE.format(number) for number in range(count))


def calls_made(text: str) -> int:
    """How many Python functions are called to check a program with all rules."""
    facts = Facts("program.py", lower(text))
    count = 0

    def tell(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(tell)
    try:
        findings, problems = check_module(facts, all_rules())
    finally:
        sys.setprofile(None)
    assert problems == []
    assert not any(finding.code < "AMP3" for finding in findings)
    return count


def test_work_grows_as_the_file_does():
    calls_made(many_functions(1))  # what is remembered for good is made once
    small, large = (calls_made(many_functions(count)) for count in (100, 200))
    assert large < 2.2 * small


@pytest.mark.parametrize("questions", [2, 8])
def test_states_at_a_point_are_bounded(questions):
    """At most MOST_STATES states stand at the start of a block, and the one of which nothing is known."""
    steps = "".join(
        f"        if model.asks({number}):\n            scaler.{act}({name})\n"
        for number, (act, name) in enumerate(
            (act, name) for name in ("first", "second", "third", "fourth") for act in ("unscale_", "step")
        )
        if number < questions
    )
    flows: list[Flow[object]] = []

    def explored(*arguments, **named):
        flows.append(explore(*arguments, **named))
        return flows[-1]

    explore = protocol.explore
    with patch.object(protocol, "explore", explored):
        assert Facts("program.py", lower(MANY_PATHS.format(steps))).protocol
    counts = Counter(arrival.block for flow in flows for arrival in flow.came)
    assert max(counts.values()) <= protocol.MOST_STATES + 1
    assert any(flow.bounded for flow in flows) is (questions == 8)
