"""Runs a program with the real torch on every choice of its conditions, and records what torch raises, and where."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any, NoReturn

import torch

from tests.proof.amp import AmpWriter
from tests.proof.programs import VARIABLES, Program

MOST_TURNS = 3
MOST_CHOICES = 40
MOST_LINES = 400
FILE = "<program>"


class EndlessError(BaseException):
    """A run makes too many choices, or too many turns, to be followed."""


@dataclass
class Choices:
    """The answers of one run: those that are given, then always no; `made` is what a next run can change.

    is_over: the run was stopped, and what a clean-up does after that is none of the program's runs.
    """

    given: tuple[bool, ...]
    made: list[bool] = field(default_factory=list)
    is_over: bool = False

    def __call__(self) -> bool:
        if len(self.made) >= MOST_CHOICES:
            self.stop()
        answer = self.given[len(self.made)] if len(self.made) < len(self.given) else False
        self.made.append(answer)
        return answer

    def stop(self) -> NoReturn:
        """End the run."""
        self.is_over = True
        raise EndlessError


@dataclass
class Witnessed:
    """What the runs of a program showed: (line of the program's text, torch's message); whether all were made.

    stages are those that the scaler holds of the optimizer after the runs that came to their end.
    """

    errors: set[tuple[int, str]] = field(default_factory=set)
    stages: set[str] = field(default_factory=set)
    is_complete: bool = True
    runs: int = 0


def witness(program: Program, most_runs: int = 64) -> Witnessed:
    """Run the program on every combination of choices, depth first, up to a number of runs."""
    code = compile(AmpWriter(program).text, FILE, "exec")
    found = Witnessed()
    pending: list[tuple[bool, ...]] = [()]
    while pending:
        if found.runs >= most_runs:
            found.is_complete = False
            return found
        choices = Choices(pending.pop())
        found.runs += 1
        _run(program, code, choices, found)
        found.is_complete &= not choices.is_over
        made = tuple(choices.made)
        pending.extend((*made[:at], True) for at in range(len(choices.given), len(made)))
    return found


def _run(program: Program, code: CodeType, choose: Choices, found: Witnessed) -> None:
    errors: list[tuple[int, str]] = []
    pretended = _Torch(errors, choose)
    names: dict[str, Any] = {"ask": choose, "context": nullcontext}
    exec(code, names)
    names["torch"] = pretended
    values = {name: choose() for name in VARIABLES}
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        if frame.f_code.co_filename != FILE:
            return None
        lines += 1
        if lines > MOST_LINES:
            choose.stop()
        return trace

    traced = sys.gettrace()
    sys.settrace(trace)
    try:
        if program.is_method:
            trainer = names["Trainer"]()
            vars(trainer).update(values)
            trainer.train(_Items(choose))
        else:
            names["train"](*values.values(), _Items(choose))
        if not errors and not choose.is_over:
            found.stages.add(pretended.stage)
    except (EndlessError, RuntimeError, AssertionError, ValueError, KeyError):
        pass
    finally:
        sys.settrace(traced)
        found.errors.update(errors[:1])  # what a clean-up raises after an error is no error of its own


class _Items:
    """Something to loop over: up to three turns, each with an answer of its own."""

    def __init__(self, choose: Callable[[], bool]) -> None:
        self._choose = choose

    def __iter__(self) -> Iterator[bool]:
        for _ in range(MOST_TURNS):
            if not self._choose():
                return
            yield self._choose()


class _Torch:
    """The torch module with a scaler that notes the errors of its methods, with the line that called them."""

    def __init__(self, errors: list[tuple[int, str]], choices: Choices) -> None:
        self.made: list[torch.amp.GradScaler] = []

        class Scaler(torch.amp.GradScaler):
            def __init__(scaler, *args: Any, **kwargs: Any) -> None:  # noqa: N805
                super().__init__(*args, **kwargs)
                self.made.append(scaler)

        for name in ("unscale_", "step", "update"):
            setattr(Scaler, name, _noting(getattr(torch.amp.GradScaler, name), errors, choices))
        self.amp = type("amp", (), {"GradScaler": Scaler})

    def __getattr__(self, name: str) -> Any:
        return getattr(torch, name)

    @property
    def stage(self) -> str:
        """What the only scaler holds of the only optimizer."""
        states = list(self.made[0]._per_optimizer_states.values())
        return states[0]["stage"].name.lower() if states else "ready"


def _noting(method: Callable[..., Any], errors: list[tuple[int, str]], choices: Choices) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        frame = sys._getframe(1)
        if frame.f_code.co_filename != FILE:
            return method(*args)
        try:
            return method(*args)
        except (RuntimeError, AssertionError) as error:
            if not choices.is_over:
                errors.append((frame.f_lineno, str(error)))
            raise

    return call
