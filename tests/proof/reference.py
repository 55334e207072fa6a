"""Runs a program on every feasible path at once, over the program's own structure: no graph, no worklist.

A configuration is what the conditions are known to be, and the state of an automaton. Unknown conditions are chosen
when they are read. Loops run until no new configuration comes.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass

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

State = Hashable
Values = tuple[bool | None, ...]
Config = tuple[Values, State]
# Ways to end: 'normal', 'break', 'continue', 'return', 'any' (an exception that a call raised), or an exception's name.
Ends = dict[str, set[Config]]
# From a state and an event with its site: the next states (none where the path ends there).
React = Callable[[State, str, int], Iterable[State]]

UNKNOWN: Values = (None,) * len(VARIABLES)
FAMILIES = {"ValueError": {"ValueError", "Exception"}, "KeyError": {"KeyError", "Exception"}}


@dataclass
class Reference:
    """sites names the place of each event statement, by its identity."""

    program: Program
    sites: dict[int, int]
    react: React
    may_raise: bool = True

    def run(self, start: State) -> Ends:
        return self.body(self.program.body, {(UNKNOWN, start)}, 0)

    def body(self, body: Body, configs: set[Config], handlers: int) -> Ends:
        ends: Ends = {}
        for statement in body:
            if not configs:
                break
            found = self.statement(statement, configs, handlers)
            configs = found.pop("normal", set())
            _merge(ends, found)
        _merge(ends, {"normal": configs})
        return ends

    def statement(self, statement: Statement, configs: set[Config], handlers: int) -> Ends:
        match statement:
            case Do():
                return self.event(statement, configs, handlers)
            case Assign():
                return self.assign(statement, configs, handlers)
            case If():
                ends, yes, no = self.split(statement.test, configs, handlers)
                _merge(ends, self.body(statement.body, yes, handlers))
                _merge(ends, self.body(statement.orelse, no, handlers))
                return ends
            case For() | While():
                return self.loop(statement, configs, handlers)
            case Jump():
                return {statement.word: configs}
            case Raise():
                return {statement.name: configs}
            case Try():
                return self.attempt(statement, configs, handlers)
            case With():
                ends = self.body(statement.body, configs, handlers)
                _merge(ends, self.thrown(configs, handlers))
                return ends
            case Call():
                return self.call(statement, configs, handlers)

    def event(self, statement: Do, configs: set[Config], handlers: int) -> Ends:
        site = self.sites[id(statement)]
        after = {(values, new) for values, state in configs for new in self.react(state, statement.event, site)}
        return {"normal": after, **self.thrown(configs, handlers)}

    def thrown(self, configs: set[Config], handlers: int) -> Ends:
        """A call may raise before it is done; that matters where some handler could see it."""
        return {"any": set(configs)} if handlers and self.may_raise else {}

    def assign(self, statement: Assign, configs: set[Config], handlers: int) -> Ends:
        index = VARIABLES.index(statement.name)
        if isinstance(statement.value, Ask):
            return {"normal": {(_set(v, index, None), s) for v, s in configs}, **self.thrown(configs, handlers)}
        ends, yes, no = self.split(statement.value, configs, handlers, is_flag=True)
        normal = {(_set(v, index, True), s) for v, s in yes} | {(_set(v, index, False), s) for v, s in no}
        _merge(ends, {"normal": normal})
        return ends

    def split(
        self, test: Test, configs: set[Config], handlers: int, is_flag: bool = False
    ) -> tuple[Ends, set[Config], set[Config]]:
        """What the test's calls throw, and the configurations in which it is true, and false."""
        match test:
            case Var():
                index = VARIABLES.index(test.name)
                yes = {(_set(v, index, True), s) for v, s in configs if v[index] is not False}
                no = {(_set(v, index, False), s) for v, s in configs if v[index] is not True}
                return {}, yes, no
            case Ask():
                return self.thrown(configs, handlers), set(configs), set(configs)
            case Not():
                ends, yes, no = self.split(test.part, configs, handlers)
                return ends, no, yes
            case Both(op="and"):
                ends, first, no = self.split(test.left, configs, handlers)
                more, yes, other = self.split(test.right, first, handlers)
                _merge(ends, more)
                return ends, yes, no | other
            case Both():
                ends, yes, first = self.split(test.left, configs, handlers)
                more, other, no = self.split(test.right, first, handlers)
                _merge(ends, more)
                return ends, yes | other, no

    def loop(self, loop: For | While, configs: set[Config], handlers: int) -> Ends:
        ends: Ends = {}
        seen: set[Config] = set()
        after: set[Config] = set()
        finished: set[Config] = set()
        while configs - seen:
            new = configs - seen
            seen |= new
            if isinstance(loop, For):
                turning, done = new, new
                if loop.name is not None:
                    index = VARIABLES.index(loop.name)
                    turning = {(_set(v, index, None), s) for v, s in new}
            else:
                thrown, turning, done = self.split(loop.test, new, handlers)
                _merge(ends, thrown)
            finished |= done
            found = self.body(loop.body, turning, handlers)
            after |= found.pop("break", set())
            configs = found.pop("normal", set()) | found.pop("continue", set())
            _merge(ends, found)
        _merge(ends, self.body(loop.orelse, finished, handlers))
        _merge(ends, {"normal": after})
        return ends

    def attempt(self, statement: Try, configs: set[Config], handlers: int) -> Ends:
        inside = handlers + bool(statement.handlers)
        ends = self.body(statement.body, configs, inside)
        caught: Ends = {}
        if statement.handlers:
            for exception in [end for end in ends if end == "any" or end in FAMILIES]:
                raised = ends.pop(exception)
                for name, body in statement.handlers:
                    answer = _catches(name, exception)
                    if answer is not False:
                        _merge(caught, self.body(body, raised, handlers))
                    if answer is True:
                        break
                else:
                    if exception != "any" or handlers:
                        _merge(ends, {exception: raised})
        _merge(ends, caught)
        if not statement.final:
            return ends
        result: Ends = {}
        for end, before in ends.items():
            found = self.body(statement.final, before, handlers)
            passed = found.pop("normal", set())
            _merge(result, {end: passed})
            _merge(result, found)
        return result

    def call(self, call: Call, configs: set[Config], handlers: int) -> Ends:
        body = self.program.helpers[call.helper]
        ends: Ends = {}
        for values, state in configs:
            for end, found in self.body(body, {(values, state)}, handlers).items():
                kept = found if self.program.is_method else self.restored(values, body, state, handlers, end)
                if end in ("normal", "return"):
                    _merge(ends, {"normal": kept})
                elif handlers:
                    _merge(ends, {"any": kept})
        return ends

    def restored(self, values: Values, body: Body, state: State, handlers: int, end: str) -> set[Config]:
        """A helper's assignments are its own, but what it learned of the caller's conditions stays learned."""
        kept: set[Config] = set()
        for chosen in _chosen(values):
            for _, after in self.body(body, {(chosen, state)}, handlers).get(end, ()):
                kept.add((chosen, after))
        return kept


def _catches(name: str, exception: str) -> bool | None:
    if exception == "any":
        return True if name == "Exception" else None
    return name in FAMILIES[exception]


def _set(values: Values, index: int, value: bool | None) -> Values:
    return (*values[:index], value, *values[index + 1 :])


def _chosen(values: Values) -> Iterator[Values]:
    """Every way to choose the unknown conditions."""
    if None not in values:
        yield values
        return
    index = values.index(None)
    for value in (False, True):
        yield from _chosen(_set(values, index, value))


def _merge(into: Ends, found: Ends) -> None:
    for end, configs in found.items():
        if configs:
            into.setdefault(end, set()).update(configs)
