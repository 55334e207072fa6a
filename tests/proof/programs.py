"""Small programs as plain data, and their Python text."""

from collections.abc import Iterator
from dataclasses import dataclass

VARIABLES = ("c0", "c1", "c2")


@dataclass(frozen=True)
class Var:
    name: str


@dataclass(frozen=True)
class Not:
    part: "Test"


@dataclass(frozen=True)
class Both:
    """op is 'and' or 'or'."""

    op: str
    left: "Test"
    right: "Test"


@dataclass(frozen=True)
class Ask:
    """A question that may be answered differently each time."""


Test = Var | Not | Both | Ask


@dataclass(frozen=True)
class Do:
    event: str


@dataclass(frozen=True)
class Assign:
    name: str
    value: Test


@dataclass(frozen=True)
class If:
    test: Test
    body: "Body"
    orelse: "Body" = ()


@dataclass(frozen=True)
class For:
    """name is the condition that each turn binds anew, or None."""

    name: str | None
    body: "Body"
    orelse: "Body" = ()


@dataclass(frozen=True)
class While:
    test: Test
    body: "Body"
    orelse: "Body" = ()


@dataclass(frozen=True)
class Jump:
    """word is 'break', 'continue' or 'return'."""

    word: str


@dataclass(frozen=True)
class Raise:
    name: str


@dataclass(frozen=True)
class Try:
    """A handler is the class that it names, and its body."""

    body: "Body"
    handlers: tuple[tuple[str, "Body"], ...]
    final: "Body"


@dataclass(frozen=True)
class With:
    body: "Body"


@dataclass(frozen=True)
class Call:
    helper: int


Statement = Do | Assign | If | For | While | Jump | Raise | Try | With | Call
Body = tuple[Statement, ...]


@dataclass(frozen=True)
class Program:
    """A function and its helpers; a helper calls only helpers before it.

    In a program of methods the conditions are attributes of self, so a helper's assignments are seen by its callers.
    """

    body: Body
    helpers: tuple[Body, ...] = ()
    is_method: bool = False


class Writer:
    """Writes programs. sites tells, by the identity of an event's statement, the line that it is written in.

    `event` is the text of an event, whose last line is its site: subclasses write others than bare calls.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sites: dict[int, int] = {}
        self.lines: list[str] = []
        self.prefix = "self." if program.is_method else ""
        depth = 1 if program.is_method else 0
        if program.is_method:
            self.lines.append("class Trainer:")
        for number, helper in enumerate(program.helpers):
            self.function(depth, f"h{number}", helper)
        self.function(depth, "train", program.body)

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"

    def function(self, depth: int, name: str, body: Body) -> None:
        self.add(depth, f"def {name}({self.parameters()}):")
        self.body(depth + 1, body)

    def parameters(self) -> str:
        return "self, xs" if self.program.is_method else ", ".join((*VARIABLES, "xs"))

    def arguments(self) -> str:
        return "xs" if self.program.is_method else ", ".join((*VARIABLES, "xs"))

    def event(self, event: str) -> str:
        return f"{event}()"

    def add(self, depth: int, line: str) -> None:
        self.lines.append("    " * depth + line)

    def body(self, depth: int, body: Body) -> None:
        for statement in body or ():
            self.statement(depth, statement)
        if not body:
            self.add(depth, "pass")

    def statement(self, depth: int, statement: Statement) -> None:
        match statement:
            case Do():
                for line in self.event(statement.event).split("\n"):
                    self.add(depth, line)
                self.sites[id(statement)] = len(self.lines)
            case Assign():
                self.add(depth, f"{self.prefix}{statement.name} = {self.test(statement.value)}")
            case If() | While():
                word = "if" if isinstance(statement, If) else "while"
                self.block(depth, f"{word} {self.test(statement.test)}:", statement.body, statement.orelse)
            case For():
                target = "_" if statement.name is None else self.prefix + statement.name
                self.block(depth, f"for {target} in xs:", statement.body, statement.orelse)
            case Jump():
                self.add(depth, statement.word)
            case Raise():
                self.add(depth, f"raise {statement.name}")
            case Try():
                self.add(depth, "try:")
                self.body(depth + 1, statement.body)
                for name, body in statement.handlers:
                    self.add(depth, f"except {name}:")
                    self.body(depth + 1, body)
                if statement.final or not statement.handlers:
                    self.add(depth, "finally:")
                    self.body(depth + 1, statement.final)
            case With():
                self.add(depth, "with context():")
                self.body(depth + 1, statement.body)
            case Call():
                self.add(depth, f"{self.prefix}h{statement.helper}({self.arguments()})")

    def block(self, depth: int, head: str, body: Body, orelse: Body) -> None:
        self.add(depth, head)
        self.body(depth + 1, body)
        if orelse:
            self.add(depth, "else:")
            self.body(depth + 1, orelse)

    def test(self, test: Test) -> str:
        match test:
            case Var():
                return self.prefix + test.name
            case Not():
                return f"not ({self.test(test.part)})"
            case Both():
                return f"({self.test(test.left)} {test.op} {self.test(test.right)})"
            case Ask():
                return "ask()"


def bodies(statement: Statement) -> tuple[Body, ...]:
    """The blocks of a compound statement."""
    match statement:
        case If() | For() | While():
            return (statement.body, statement.orelse)
        case Try():
            return (statement.body, *(body for _, body in statement.handlers), statement.final)
        case With():
            return (statement.body,)
        case _:
            return ()


def events(body: Body) -> Iterator[str]:
    """The events of a block, as they are written."""
    for statement in body:
        if isinstance(statement, Do):
            yield statement.event
        for inner in bodies(statement):
            yield from events(inner)


def calls(body: Body) -> Iterator[int]:
    """The helpers that a block calls."""
    for statement in body:
        if isinstance(statement, Call):
            yield statement.helper
        for inner in bodies(statement):
            yield from calls(inner)
