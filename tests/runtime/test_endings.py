"""However a program ends, the run says so; and recording changes nothing that it does."""

import re
import sys
from pathlib import Path

import pytest

from amplint.runtime.drive import Driver
from amplint.runtime.job import Detail
from amplint.runtime.trace import Ending
from tests.runtime.driving import ALL, BY_NAME, Loop, run
from tests.runtime.planting import planted_in


@pytest.mark.parametrize("loop", ALL, ids=lambda loop: loop.name)
def test_recording_changes_nothing(driver, loop):
    """Losses, parameters and errors are what the loops print: all of it is the same with every hook in place."""
    plain = run(driver, loop, detail=Detail.NOTHING)
    recorded = run(driver, loop, detail=Detail.FULL)
    assert plain.output
    assert recorded.output == plain.output
    assert recorded.trace.outcome == plain.trace.outcome


@pytest.mark.exhaustive
@pytest.mark.parametrize("loop", ALL, ids=lambda loop: loop.name)
def test_recording_changes_nothing_about_mistakes(driver, loop):
    for planted in planted_in(loop.code.read_text()):
        plain = run(driver, loop, planted.text, Detail.NOTHING)
        recorded = run(driver, loop, planted.text, Detail.FULL)
        assert recorded.output == plain.output, planted.mistake
        assert recorded.trace.outcome == plain.trace.outcome, planted.mistake


@pytest.fixture
def script(tmp_path):
    def make(text: str) -> Loop:
        path = tmp_path / "script.py"
        path.write_text(text)
        return Loop("script", path, path)

    return make


def test_a_crash_keeps_its_own_traceback(driver, script):
    text = "def fail():\n    raise ValueError('no such luck')\n\nimport torch\nfail()\n"
    outcome = run(driver, script(text)).trace.outcome
    assert outcome.ending is Ending.RAISED
    assert outcome.error == "ValueError: no such luck"
    assert 'script.py", line 5, in <module>' in outcome.traceback
    assert "amplint/runtime" not in outcome.traceback


@pytest.mark.parametrize(
    ("text", "headline"),
    [
        ("CUDA error\\nCompile with TORCH_USE_CUDA_DSA", "RuntimeError: CUDA error"),
        ("\\n\\nProcess 1 failed:\\nValueError: lost", "RuntimeError: ValueError: lost"),
    ],
)
def test_an_exception_of_many_lines_is_named_in_one(driver, script, text, headline):
    outcome = run(driver, script(f"raise RuntimeError('{text}')\n")).trace.outcome
    assert outcome.error == headline
    assert text.split("\\n")[-1] in outcome.traceback


def test_a_crash_inside_torch_names_the_scripts_line(driver, script):
    outcome = run(driver, script("import torch\ntorch.ones(2) @ torch.ones(3)\n")).trace.outcome
    assert outcome.ending is Ending.RAISED
    assert 'script.py", line 2' in outcome.traceback


@pytest.mark.parametrize(("call", "status"), [("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('bad data')", 1)])
def test_an_exit_is_an_exit(driver, script, call, status):
    outcome = run(driver, script(f"import sys\n{call}\n")).trace.outcome
    assert (outcome.ending, outcome.status) == (Ending.EXITED, status)
    assert outcome.is_clean is (status == 0)


def test_a_script_that_wants_input(driver, script):
    assert run(driver, script("name = input('your name: ')\n")).trace.outcome.ending is Ending.NEEDED_INPUT


def test_a_script_that_vanishes(driver, script):
    outcome = run(driver, script("import os\nos._exit(7)\n")).trace.outcome
    assert (outcome.ending, outcome.status) == (Ending.VANISHED, 7)


def test_a_script_that_does_not_compile(driver, script):
    outcome = run(driver, script("def broken(:\n")).trace.outcome
    assert outcome.ending is Ending.NOT_STARTED
    assert "SyntaxError" in outcome.traceback


def test_a_module_that_does_not_exist(driver, tmp_path):
    from amplint.runtime.job import Job, Program

    program = Program("no.such.module", True, (), str(tmp_path), str(tmp_path))
    outcome = driver.run(Job(program, "", str(tmp_path))).trace.outcome
    assert outcome.ending is Ending.NOT_STARTED


def test_a_script_that_forks_is_watched_in_its_first_process(driver, script):
    text = (
        BY_NAME["mlp"]
        .code.read_text()
        .replace(
            "    main()\n",
            "    import os\n    if os.fork() == 0:\n        main()\n        os._exit(0)\n    os.wait()\n",
        )
    )
    result = run(driver, script(text))
    assert result.trace.outcome.forks == 1
    assert result.trace.steps == []


def test_a_script_that_runs_forever_says_where(script):
    text = "import time\ndef wait():\n    while True:\n        time.sleep(0.05)\nwait()\n"
    with Driver(time_limit=3) as driver:
        outcome = run(driver, script(text)).trace.outcome
    assert outcome.ending is Ending.TIMED_OUT
    assert "in wait" in outcome.traceback
    assert outcome.traceback.splitlines()[-1].endswith('script.py", line 5 in <module>')


def test_a_script_that_ignores_the_end_is_ended(script):
    text = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n    time.sleep(0.1)\n"
    with Driver(time_limit=2) as driver:
        assert run(driver, script(text)).trace.outcome.ending is Ending.TIMED_OUT


@pytest.mark.parametrize("name", ["mlp", "gan", "accumulation", "package", "float32", "two_scalers"])
def test_a_run_can_be_stopped_after_some_steps(driver, name):
    result = run(driver, BY_NAME[name], steps=3)
    optimizers = {step.optimizer for step in result.trace.steps}
    assert result.trace.outcome.ending is Ending.STOPPED
    assert [sum(step.optimizer == each for step in result.trace.steps) for each in optimizers] == [3] * len(optimizers)
    assert result.trace.sightings == []


def test_a_run_is_stopped_where_the_script_catches_everything(driver, script):
    text = BY_NAME["mlp"].code.read_text().replace("        print(loss.item())", "        print(loss.item())")
    text = text.replace(
        "    main()\n", "    while True:\n        try:\n            main()\n        except:\n            pass\n"
    )
    result = run(driver, script(text), steps=2)
    assert len(result.trace.steps) < 8


def test_nothing_is_written_beside_the_script(driver, script, tmp_path):
    (tmp_path / "other.py").write_text("VALUE = 1\n")
    run(driver, script("import other\nprint(other.VALUE)\n"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other.py", "script.py"]


def test_the_script_is_the_main_module(driver, script):
    text = "import sys\nprint(__name__, sys.argv[0] == __file__, sys.modules['__main__'].__dict__ is globals())\n"
    assert run(driver, script(text)).output == "__main__ True True\n"


def test_the_interpreter_is_the_one_that_runs_amplint(driver, script):
    assert run(driver, script("import sys\nprint(sys.executable)\n")).output.strip() == sys.executable


SPAWNS_ONE = """
import torch

def train(rank, steps):
    model = torch.nn.Linear(2, 1).cuda(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(3, 2).cuda(rank)).square().mean().backward()
        optimizer.step()

if __name__ == "__main__":
    torch.multiprocessing.spawn(train, args=(3,), nprocs=torch.cuda.device_count())
"""


def test_the_only_process_of_a_program_is_watched(driver, script):
    trace = run(driver, script(SPAWNS_ONE)).trace
    assert trace.outcome.is_clean, trace.outcome.traceback
    assert len(trace.steps) == 3


def test_processes_that_nobody_watches_are_counted(driver, script):
    text = "import multiprocessing\nprocess = multiprocessing.get_context('fork').Process(target=print)\n"
    assert run(driver, script(text + "process.start()\nprocess.join()\n")).trace.outcome.forks == 1


def test_a_program_that_names_cuda_runs_without_one(driver):
    path = Path(__file__).parent / "cuda_words.py"
    result = run(driver, Loop("cuda_words", path, path))
    assert result.trace.outcome.is_clean, result.trace.outcome.traceback
    assert set(re.findall(r"^def (\w+)", path.read_text(), re.MULTILINE)) <= set(result.output.split())
    assert result.trace.summary["retargeted"]
