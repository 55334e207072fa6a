"""What is found in a file hangs on the program alone: not on the files, rules and processes that ran before."""

from itertools import permutations
from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine import work
from amplint.engine.outcome import Outcome, Reading, Wanted
from amplint.engine.session import Project, Session
from amplint.engine.setup import Setup
from amplint.facts.gather import Facts
from amplint.rules.registry import all_rules
from amplint.source.discover import discover
from amplint.source.prefilter import may_concern
from amplint.source.text import read_source
from amplint.syntax.parse import parse

FIXTURES = Path(__file__).parent.parent / "fixtures"
FOLDERS = sorted(path for path in FIXTURES.glob("AMP*") if path.name not in ("AMP000", "AMP001", "AMP002"))
CODES = sorted({item.rule.code for item in all_rules()} - {"AMP000", "AMP001", "AMP002"})

HEAD = "import torch\nfrom torch.amp import GradScaler\n"
TRAIN = """
def train(model, loader, optimizer):
    scaler = GradScaler("cuda")
    for batch in loader:
        scaler.scale(model(batch)).backward()
"""
CLIPS = "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"


def _chain(length: int) -> str:
    first = "def f0(model):\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
    return first + "".join(f"def f{n}(model):\n    f{n - 1}(model)\n" for n in range(1, length))


def _finishing(klass: str) -> str:
    called = f"        finish({klass}(), scaler, optimizer, model)\n"
    return f"{HEAD}from helper import {klass}, finish\n{TRAIN}{called}"


PROGRAMS = {
    "a long way to what concerns a step": {
        "chain.py": HEAD + _chain(8),
        "main.py": f"{HEAD}from chain import f7\n{TRAIN}        f7(model)\n        scaler.step(optimizer)\n",
    },
    "an object that is of another class in another call": {
        "helper.py": f"{HEAD}class Right:\n    def clip(self, scaler, optimizer, model):\n"
        f"        scaler.unscale_(optimizer)\n{CLIPS}"
        f"class Wrong:\n    def clip(self, scaler, optimizer, model):\n{CLIPS}"
        "def finish(clipper, scaler, optimizer, model):\n    clipper.clip(scaler, optimizer, model)\n"
        "    scaler.step(optimizer)\n    scaler.update()\n",
        "one.py": _finishing("Right"),
        "two.py": _finishing("Wrong"),
    },
    "modules that import each other with a star": {
        "one.py": "from two import *\nimport torch\nx = y\nscaler = torch.cuda.amp.GradScaler()\nx(scaler)\n",
        "two.py": "from one import *\nimport torch\ny = x\nregion = torch.cuda.amp.autocast()\ny(region)\n",
    },
}


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def _told(outcomes: list[Outcome]) -> dict[str, list[str]]:
    """What was said while each file was checked, as text."""
    assert not any(outcome.problems for outcome in outcomes)
    return {outcome.shown: sorted(map(repr, outcome.findings)) for outcome in outcomes}


def _setup(folder: Path, *codes: str) -> Setup:
    return Setup(Resolver({"isolated": True, "target_torch": "2.4", "select": codes or ("ALL",)}, folder), folder)


def _readings(folder: Path) -> tuple[Project, list[Reading]]:
    files = discover(["."], folder, _setup(folder).limits()).files
    readings = [Reading(file, len(raw), raw) for file in files if may_concern(raw := file.path.read_bytes())]
    named = {file.place: file.display for file in files}
    return Project(named, (folder,), tuple(reading.file.path for reading in readings)), readings


def _work(folder: Path, project: Project, readings: list[Reading], *codes: str) -> dict[str, list[str]]:
    return _told(work.work(_setup(folder, *codes), project, Wanted(jobs=1), readings))


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_hangs_on_what_ran_before(name: str, tmp_path: Path) -> None:
    _write(tmp_path, PROGRAMS[name])
    project, readings = _readings(tmp_path)
    whole = _work(tmp_path, project, readings)
    assert any(whole.values())
    for order in permutations(readings):
        assert _work(tmp_path, project, list(order)) == whole
    each = [_work(tmp_path, project, [reading]) for reading in readings]
    assert {path: told for part in each for path, told in part.items()} == whole, "a process for each file"
    by_rule = [_work(tmp_path, project, readings, code) for code in CODES]
    assert {path: sorted(told for part in by_rule for told in part[path]) for path in whole} == whole, "rule by rule"


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_fixtures_say_the_same_backwards(folder: Path) -> None:
    project, readings = _readings(folder)
    assert _work(folder, project, readings[::-1]) == _work(folder, project, readings)


def test_a_file_counts_by_its_text_whether_it_was_read_or_not(tmp_path: Path) -> None:
    _write(tmp_path, {"train.py": f"{HEAD}optimizer = 1\n", "use.py": "from train import scaler\nscaler.update()\n"})
    linker = Session(_setup(tmp_path), Project({}, (tmp_path,))).linker
    path, other = tmp_path / "train.py", tmp_path / "use.py"
    for _ in range(2):
        assert linker.importers(path, {"optimizer"}) == []
        assert not linker.may_hold(other, {"optimizer"})
        assert linker.facts_of(other) is not None


def test_a_file_that_is_left_out_counts_where_it_is_named(tmp_path: Path) -> None:
    _write(tmp_path, {"train.py": HEAD, "build/use.py": f"{HEAD}import train\n", "pyproject.toml": ""})
    train, use = tmp_path / "train.py", tmp_path / "build" / "use.py"
    for order in permutations((train, use)):
        session = Session(_setup(tmp_path), Project({}, (), (train, use)))
        for path in order:
            session.check(path, read_source(path, path.name))
            assert session.linker.importer_paths(train) == [use]


def test_calls_that_hang_on_each_other_are_unknown_whichever_is_asked_first() -> None:
    text = """
class Model:
    def to(self, device):
        return self
    def cuda(self):
        return self
def f():
    model = Model()
    while True:
        model = model.to("cuda")
        model = model.cuda()
        model.to("cpu")
"""
    answers = []
    for order in permutations(range(1, 4)):
        facts = Facts("a.py", parse(text))
        calls = facts.index.calls
        found = {number: facts.targets.function(calls[number]) for number in order}
        answers.append([callee is not None and callee[1].name for _, callee in sorted(found.items())])
    assert all(answer == [False, False, "to"] for answer in answers), answers
