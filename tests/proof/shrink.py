"""Makes a failing program as small as it goes, so that a failure shows its cause."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.proof.programs import Ask, Body, Both, For, If, Not, Program, Statement, Test, Try, Var, While, With, bodies


def shrunk(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest program on the way of single cuts that still fails."""
    while True:
        smaller = next((cut for cut in _cuts(program) if fails(cut)), None)
        if smaller is None:
            return program
        program = smaller


def _cuts(program: Program) -> Iterator[Program]:
    for body in _of_body(program.body):
        yield replace(program, body=body)
    for number, helper in enumerate(program.helpers):
        for body in _of_body(helper):
            yield replace(program, helpers=(*program.helpers[:number], body, *program.helpers[number + 1 :]))
    if program.is_method:
        yield replace(program, is_method=False)


def _of_body(body: Body) -> Iterator[Body]:
    for number, statement in enumerate(body):
        before, after = body[:number], body[number + 1 :]
        yield (*before, *after)
        for inner in bodies(statement):
            yield (*before, *inner, *after)
        for cut in _of_statement(statement):
            yield (*before, cut, *after)


def _of_statement(statement: Statement) -> Iterator[Statement]:
    match statement:
        case If() | While():
            yield from (replace(statement, test=test) for test in _of_test(statement.test))
            yield from (replace(statement, body=body) for body in _of_body(statement.body))
            yield from (replace(statement, orelse=body) for body in _of_body(statement.orelse))
        case For():
            if statement.name is not None:
                yield replace(statement, name=None)
            yield from (replace(statement, body=body) for body in _of_body(statement.body))
            yield from (replace(statement, orelse=body) for body in _of_body(statement.orelse))
        case With():
            yield from (replace(statement, body=body) for body in _of_body(statement.body))
        case Try():
            yield from (replace(statement, body=body) for body in _of_body(statement.body))
            yield from (replace(statement, final=body) for body in _of_body(statement.final))
            for number, (name, handler) in enumerate(statement.handlers):
                before, after = statement.handlers[:number], statement.handlers[number + 1 :]
                yield replace(statement, handlers=(*before, *after))
                for body in _of_body(handler):
                    yield replace(statement, handlers=(*before, (name, body), *after))
        case _:
            pass


def _of_test(test: Test) -> Iterator[Test]:
    match test:
        case Not():
            yield test.part
            yield from (Not(part) for part in _of_test(test.part))
        case Both():
            yield test.left
            yield test.right
            yield from (replace(test, left=part) for part in _of_test(test.left))
            yield from (replace(test, right=part) for part in _of_test(test.right))
        case Ask():
            yield Var("c0")
        case _:
            pass
