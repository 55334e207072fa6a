"""Random programs, reproducible from a seed, and every program up to a size."""

import random
from collections.abc import Iterator, Sequence
from itertools import product

from tests.proof.programs import (
    VARIABLES,
    Ask,
    Assign,
    Body,
    Both,
    Call,
    Do,
    For,
    If,
    Jump,
    Not,
    Program,
    Raise,
    Statement,
    Test,
    Try,
    Var,
    While,
    With,
)

EXCEPTIONS = ("ValueError", "KeyError")
HANDLED = ("ValueError", "Exception", "KeyError")


class Generator:
    """Draws programs over some events. budget counts the statements that are left to draw.

    has_handlers: some `try` statements handle exceptions; else they only clean up.
    """

    def __init__(self, seed: int, events: Sequence[str], size: int = 12, has_handlers: bool = True) -> None:
        self.kinds = ("if", "if", "if", "for", "for", "while", "finally", "with", *(("try",) if has_handlers else ()))
        self.random = random.Random(seed)
        self.events = events
        self.size = size
        self.budget = 0
        self.helpers = 0

    def program(self) -> Program:
        is_method = self.random.random() < 0.3
        helpers: list[Body] = []
        for number in range(self.random.choice((0, 0, 1, 2))):
            self.helpers, self.budget = number, self.size // 3
            helpers.append(self.body(1, in_loop=False))
        self.helpers = len(helpers)
        self.budget = self.size
        return Program(self.body(0, in_loop=False), tuple(helpers), is_method)

    def body(self, depth: int, in_loop: bool) -> Body:
        found: list[Statement] = []
        for _ in range(self.random.randint(1, 4 if depth < 2 else 2)):
            if self.budget <= 0:
                break
            self.budget -= 1
            found.append(self.statement(depth, in_loop))
        return tuple(found)

    def statement(self, depth: int, in_loop: bool) -> Statement:
        draw = self.random.random()
        if depth >= 4 or draw < 0.45:
            return Do(self.random.choice(self.events))
        if draw < 0.5:
            return self.jump(in_loop)
        if draw < 0.56:
            return Assign(self.random.choice(VARIABLES), self.test(2))
        if draw < 0.6 and self.helpers:
            return Call(self.random.randrange(self.helpers))
        return self.compound(depth, in_loop)

    def jump(self, in_loop: bool) -> Statement:
        if self.random.random() < 0.2:
            return Raise(self.random.choice(EXCEPTIONS))
        word = self.random.choice(("break", "continue", "return") if in_loop else ("return",))
        guarded = Jump(word)
        return guarded if self.random.random() < 0.2 else If(self.test(1), (guarded,))

    def compound(self, depth: int, in_loop: bool) -> Statement:
        kind = self.random.choice(self.kinds)
        below = depth + 1
        match kind:
            case "if":
                return If(self.test(2), self.body(below, in_loop), self.maybe(below, in_loop))
            case "for":
                name = self.random.choice((None, None, *VARIABLES))
                return For(name, self.body(below, True), self.maybe(below, in_loop))
            case "while":
                return While(self.test(1), self.body(below, True), self.maybe(below, in_loop))
            case "with":
                return With(self.body(below, in_loop))
            case "finally":
                return Try(self.body(below, in_loop), (), self.body(below, in_loop))
            case _:
                names = self.random.sample(HANDLED, self.random.randint(1, 2))
                handlers = tuple((name, self.body(below, in_loop)) for name in names)
                return Try(self.body(below, in_loop), handlers, self.maybe(below, in_loop))

    def maybe(self, depth: int, in_loop: bool) -> Body:
        return self.body(depth, in_loop) if self.random.random() < 0.4 else ()

    def test(self, depth: int) -> Test:
        draw = self.random.random()
        if depth and draw < 0.2:
            return Both(self.random.choice(("and", "or")), self.test(depth - 1), self.test(depth - 1))
        if depth and draw < 0.35:
            return Not(self.test(depth - 1))
        return Ask() if draw > 0.85 else Var(self.random.choice(VARIABLES))


def random_programs(
    count: int, events: Sequence[str], *, first: int = 0, size: int = 12, has_handlers: bool = True
) -> Iterator[Program]:
    for seed in range(first, first + count):
        yield Generator(seed, events, size, has_handlers).program()


def all_programs(events: Sequence[str], length: int) -> Iterator[Program]:
    """Every sequence of events of a length in every shape, cut at every place that the shape has."""
    for sequence in product(events, repeat=length):
        body: Body = tuple(map(Do, sequence))
        yield Program(body)
        yield Program((For(None, body),))
        for cut in range(1, length):
            head, tail = body[:cut], body[cut:]
            yield Program((For(None, (*head, If(Ask(), tail))),))
            yield Program((For(None, (*head, If(Ask(), (Jump("break"),)), *tail)),))
            yield Program((For(None, (*head, If(Ask(), (Jump("continue"),)), *tail)),))
            yield Program((For(None, (If(Var("c0"), head, tail),)),))
            yield Program((If(Var("c0"), head), If(Var("c0"), tail)))
            yield Program((For(None, (If(Var("c0"), head), If(Not(Var("c0")), tail))),))
            yield Program((For(None, (Try(head, (), tail),)),))
            yield Program((For(None, head, tail),))
            yield Program((For(None, (Call(0), *tail)),), (head,))
