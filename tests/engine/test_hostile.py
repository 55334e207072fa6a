"""Programs made to be slow: time stays within bounds, and near to linear in what people could write."""

import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine.alone import check_alone
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run
from amplint.facts.accumulation.unjudged import unjudged
from amplint.facts.gather import Facts
from amplint.facts.settings import CheckSettings
from amplint.flow import fixpoint
from amplint.report import junit
from amplint.report.look import Look
from amplint.syntax.parse import parse
from tests.benchmarks.growth import exponent
from tests.benchmarks.programs import program

HEAD = "import torch\nfrom torch.cuda.amp import GradScaler, autocast\n"
TRAIN = """
def f(m, o, s, loader):
    for x in loader:
        s.scale(m(x)).backward()
        torch.nn.utils.clip_grad_norm_(m.parameters(), 1.0)
        s.step(o)
        s.update()
"""


def _doubling(depth: int) -> str:
    first = "def f0(s, o, l):\n    s.scale(l).backward()\n    s.step(o)\n    s.update()\n"
    return first + "".join(
        f"def f{n}(s, o, l):\n    f{n - 1}(s, o, l)\n    f{n - 1}(s, o, l)\n" for n in range(1, depth)
    )


def _branches(count: int) -> str:
    asked = (f"    if a.x{n}:\n        s.unscale_(o)\n    if a.x{n}:\n        s.step(o)\n" for n in range(count))
    return "def f(m, o, s, a):\n" + "".join(asked)


def _rounds(count: int) -> str:
    parts = (f"    s.scale(m({n})).backward()\n    if m({n}):\n        s.step(o)\n" for n in range(count))
    return "def f(m, o, s):\n" + "".join(parts)


def _mutual(count: int) -> str:
    return "".join(
        f"def g{n}(s, o, l):\n    s.scale(l).backward()\n    g{(n + 1) % count}(s, o, l)\n"
        f"    g{(n * 3 + 2) % count}(s, o, l)\n    s.step(o)\n"
        for n in range(count)
    )


def _switched(setup: str) -> str:
    """A loop whose dtype and scaler hang on `x`."""
    return (
        f"def f(m, o, loader, a):\n{setup}    d = torch.bfloat16 if x else torch.float16\n"
        "    s = torch.amp.GradScaler('cuda', enabled=x)\n    for b in loader:\n"
        "        with torch.autocast('cuda', dtype=d):\n            loss = m(b).mean()\n"
        "        s.scale(loss).backward()\n        s.step(o)\n        s.update()\n        o.zero_grad()\n"
    )


def _names_of_names(count: int) -> str:
    names = (f"    x{n + 1} = {' and '.join([f'x{n}'] * 8)}\n" for n in range(count))
    return _switched("    x0 = a.b\n" + "".join(names) + f"    x = x{count}\n")


def _names_for_each_other(count: int) -> str:
    return (
        TRAIN + "".join(f"x{n} = x{m}\n" for n in range(count) for m in range(count) if n != m) + "x0(GradScaler())\n"
    )


def _turned_again(count: int) -> str:
    return _switched("    x = a.b\n" + "".join(f"    if x and a.c{n}:\n        x = not x\n" for n in range(count)))


def _pairs(count: int) -> str:
    pairs = (f"        x{n + 1} = x{n} + y{n}\n        y{n + 1} = x{n} - y{n}\n" for n in range(count))
    return TRAIN + "        x0 = x.cpu()\n        y0 = x.cpu()\n" + "".join(pairs) + f"        print(x{count}.item())\n"


SMALL = {
    "scalers": lambda: "".join(f"s{n} = GradScaler()\n" for n in range(500)),
    "calls that double": lambda: _doubling(30),
    "branches": lambda: _branches(40),
    "rounds": lambda: _rounds(60),
    "functions that call each other": lambda: _mutual(40),
    "names of names": lambda: _names_of_names(7),
    "names that stand for each other": lambda: _names_for_each_other(20),
    "a name that is turned again and again": lambda: _turned_again(40),
    "values of pairs of values": lambda: _pairs(25),
    "nested calls": lambda: "x = " + "f(" * 150 + "GradScaler()" + ")" * 150 + "\n",
}
BIG = {
    "10,000 scalers": lambda: "".join(f"s{n} = GradScaler()\n" for n in range(10_000)),
    "100,000 lines": lambda: TRAIN + "".join(f"x{n} = y{n}.a(b={n})\n" for n in range(100_000)),
    "5 MB": lambda: TRAIN + "x = '''" + "a#b\n" * 1_250_000 + "'''\n",
    "branches": lambda: _branches(200),
    "rounds": lambda: _rounds(1000),
}


@pytest.mark.parametrize("name", SMALL)
def test_hostile_programs_take_seconds(name: str) -> None:
    assert _seconds(SMALL[name]) < 5


def test_what_is_too_much_to_judge_is_said_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HEAD + _doubling(30))
    (tmp_path / "b.py").write_text(HEAD + "s = GradScaler()\n")
    report = run(["."], Resolver({"isolated": True}, tmp_path), tmp_path, Wanted(jobs=1)).report
    assert [(problem.path, problem.is_fatal) for problem in report.problems] == [("a.py", False)]
    assert "has too many backward passes and steps" in report.problems[0].message
    assert {finding.path for finding in report.findings} == {"a.py", "b.py"}
    written = StringIO()
    junit.write(report, written, Look())
    assert ' errors="0"' in written.getvalue()
    assert "<skipped message=" in written.getvalue()


def test_too_many_states_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixpoint, "MOST_ARRIVALS", 20)
    facts = Facts("a.py", parse(HEAD + _branches(40)), CheckSettings())
    assert list(unjudged(facts)) == [], "nobody asked"
    assert facts.protocol
    assert list(unjudged(facts)) == [
        "`f` in line 3 has too many paths to follow them all: mistakes in the order of its steps may be missed"
    ]


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", BIG)
def test_big_hostile_programs_take_less_than_a_minute(name: str) -> None:
    assert _seconds(BIG[name]) < 60


def test_time_grows_with_the_number_of_functions_and_not_with_its_square() -> None:
    assert exponent((20, 40, 80), lambda size: program(size, branches=2, wrong=size)) < 1.6


def _seconds(make: Callable[[], str]) -> float:
    start = time.process_time()
    check_alone("a.py", HEAD + make(), ["AMP"], None)
    return time.process_time() - start
