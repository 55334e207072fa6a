import argparse

import pytest

from amplint.cli import debug
from amplint.config.usage import UsageError

PROGRAM = """\
x = 1
class Trainer:
    def step(self):
        def inner():
            pass
        return inner
"""


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    debug.add_parser(parser.add_subparsers())
    options = parser.parse_args(["debug", "graph", *arguments])
    code: int = options.run(options)
    return code


def test_every_function_of_the_file_is_drawn(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text(PROGRAM)
    assert run(str(path)) == 0
    titles = [line for line in capsys.readouterr().out.splitlines() if line.startswith("%%")]
    assert titles == ["%% module", "%% Trainer.step", "%% Trainer.step.inner"]


def test_one_function_is_drawn(tmp_path, capsys):
    path = tmp_path / "a.py"
    path.write_text(PROGRAM)
    run(str(path), "--function", "Trainer.step")
    assert capsys.readouterr().out == (
        '%% Trainer.step\nflowchart TD\n    b0["0<br/>bind inner<br/>return inner"]\n'
        "    b1([exit])\n    b2([raised])\n    b0 --> b1\n"
    )


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (PROGRAM, ("--function", "f"), "has no function f; it has Trainer.step, Trainer.step.inner"),
        ("def f(:\n", (), "a.py"),
        (None, (), "a.py"),
    ],
)
def test_what_cannot_be_drawn_is_a_usage_error(tmp_path, content, arguments, message):
    path = tmp_path / "a.py"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=message):
        run(str(path), *arguments)
