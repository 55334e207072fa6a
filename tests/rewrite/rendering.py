"""Renders repairs in small programs, with a speller that is told what is bound."""

from amplint.model.edit import Edit, Repair
from amplint.model.span import Span
from amplint.rewrite.page import Page
from amplint.rewrite.render import Refusal, render
from amplint.syntax.lower import lower


class TableSpeller:
    def __init__(self, known: dict[str, str] | None = None, taken: tuple[str, ...] = ()) -> None:
        self.known = known or {}
        self.taken = taken

    def spell(self, dotted: str, at: Span) -> str | None:
        return self.known.get(dotted)

    def is_free(self, name: str, at: Span) -> bool:
        return name not in self.taken


def span_of(program: str, snippet: str, nth: int = 0) -> Span:
    """The span of the nth occurrence of a snippet."""
    at = -1
    for _ in range(nth + 1):
        at = program.index(snippet, at + 1)
    end = at + len(snippet)
    return Span(*_place(program, at), *_place(program, end))


def _place(program: str, offset: int) -> tuple[int, int]:
    line = program.count("\n", 0, offset) + 1
    return line, offset - (program.rfind("\n", 0, offset) + 1)


def edits_of(program: str, *repairs: Repair, speller: TableSpeller | None = None) -> tuple[Edit, ...] | Refusal:
    return render(Page(program, lower(program)), repairs, speller or TableSpeller())


def rendered(program: str, *repairs: Repair, speller: TableSpeller | None = None) -> str:
    edits = edits_of(program, *repairs, speller=speller)
    assert not isinstance(edits, Refusal), edits.reason
    result = splice(program, edits)
    compile(result, "<result>", "exec")
    return result


def refusal(program: str, *repairs: Repair, speller: TableSpeller | None = None) -> str:
    edits = edits_of(program, *repairs, speller=speller)
    assert isinstance(edits, Refusal), edits
    return edits.reason


def splice(program: str, edits: tuple[Edit, ...]) -> str:
    """The edits made one by one from the last to the first."""
    lines = program.split("\n")
    for edit in sorted(edits, key=lambda edit: edit.span.start, reverse=True):
        span = edit.span
        new = lines[span.line - 1][: span.column] + edit.text + lines[span.end_line - 1][span.end_column :]
        lines[span.line - 1 : span.end_line] = new.split("\n")
    return "\n".join(lines)
