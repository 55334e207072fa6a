"""The repairs of one fix as text edits of one program, or the reason why they cannot be written.

Knows every kind of repair and no rule.
"""

from collections.abc import Sequence

from amplint.model.data import Value
from amplint.model.edit import (
    DedentTail,
    DeleteArgument,
    DeleteStatement,
    Edit,
    InsertAfter,
    InsertArgument,
    InsertBefore,
    KeepLeft,
    MoveImport,
    MoveStatement,
    NameArgument,
    Repair,
    Replace,
    Wrap,
)
from amplint.model.tree import Alias, Call, ImportFrom, Stmt
from amplint.rewrite import arguments, expressions, imports, statements
from amplint.rewrite.page import Page, RefusedError
from amplint.rewrite.spelling import Speller, Spelling


class Refusal(Value):
    """Why repairs were not written; the fix is then for display only."""

    reason: str


def render(page: Page, repairs: Sequence[Repair], speller: Speller) -> tuple[Edit, ...] | Refusal:
    """Edits that make all the repairs together. No two of them overlap or touch."""
    try:
        edits = _Rendering(page, Spelling(speller, page.quote)).edits(repairs)
        return tuple(_joined(page, edits))
    except RefusedError as refused:
        return Refusal(str(refused))


class _Rendering:
    """Collects the repairs of one fix by what they change, so that neighbours are written together."""

    def __init__(self, page: Page, spelling: Spelling) -> None:
        self.page = page
        self.spelling = spelling
        self.found: list[Edit] = []
        self.deleted: list[Stmt] = []
        self.by_call: dict[Call, list[arguments.ArgumentRepair]] = {}
        self.by_import: dict[ImportFrom, list[imports.Move]] = {}

    def edits(self, repairs: Sequence[Repair]) -> list[Edit]:
        for repair in repairs:
            self._take(repair)
        page = self.page
        for call, argument_repairs in self.by_call.items():
            self.found += arguments.revise(page, call, argument_repairs)
        for statement, moves in self.by_import.items():
            self.found += imports.move(page, statement, moves)
        self.found += statements.delete(page, self.deleted)
        for line, at in self.spelling.imports.items():
            self.found += imports.add(page, line, page.offset(at.start), self.deleted)
        return self.found

    def _take(self, repair: Repair) -> None:
        page, spelled = self.page, self.spelling.spelled
        match repair:
            case Replace(span, code):
                self.found.append(expressions.replace(page, span, spelled(code, span)))
            case Wrap(span, before, after):
                self.found += expressions.wrap(page, span, spelled(before, span), spelled(after, span))
            case KeepLeft(span, left):
                self.found.append(expressions.keep_left(page, span, left))
            case InsertBefore(span, code):
                lines = statements.code_lines(page, spelled(code, span))
                self.found += statements.insert_before(page, page.statement(span), lines)
            case InsertAfter(span, code):
                lines = statements.code_lines(page, spelled(code, span))
                self.found += statements.insert_after(page, page.statement(span), lines)
            case MoveStatement(span, anchor, is_before):
                moved, to = page.statement(span), page.statement(anchor)
                self.found += statements.move(page, moved, to, is_before=is_before)
            case DeleteStatement(span):
                self.deleted.append(page.statement(span))
            case DedentTail(span):
                self.found += statements.dedent_tail(page, page.statement(span))
            case InsertArgument(span, value, name):
                written = InsertArgument(span, spelled(value, span), name)
                self.by_call.setdefault(page.call(span), []).append(written)
            case NameArgument() | DeleteArgument():
                self.by_call.setdefault(arguments.call_of(page, repair), []).append(repair)
            case MoveImport(span, target):
                alias = page.find(span, Alias)
                if alias is None:
                    raise RefusedError(f"there is no import of a name at line {span.line}")
                module, _, name = target.rpartition(".")
                self.by_import.setdefault(imports.import_of(page, alias), []).append(imports.Move(alias, module, name))


def _joined(page: Page, edits: Sequence[Edit]) -> list[Edit]:
    """The edits in order, those that touch made one; refuses where two overlap."""
    joined: list[Edit] = []
    ordered = sorted(dict.fromkeys(edits), key=lambda edit: (edit.span.start, edit.span.end))
    for edit in ordered:
        if not joined or joined[-1].span.end < edit.span.start:
            joined.append(edit)
        elif joined[-1].span.end == edit.span.start:
            last = joined.pop()
            joined.append(
                Edit(
                    last.span._replace(end_line=edit.span.end_line, end_column=edit.span.end_column),
                    last.text + edit.text,
                )
            )
        else:
            raise RefusedError("two of its changes overlap")
    return [_fit_for_strings(page, edit) for edit in joined if page.text(edit.span) != edit.text]


def _fit_for_strings(page: Page, edit: Edit) -> Edit:
    """Inside an f-string the other quote is written: before Python 3.12 its own may not stand in its braces."""
    if not any(char in edit.text for char in "'\"\\\n"):
        return edit
    for node in page.joined_strings:
        if node.span.start < edit.span.start and edit.span.end < node.span.end:
            own = page.text(node.span).lstrip("rRbBuUfFtT")[0]
            other = '"' if own == "'" else "'"
            if other in edit.text or "\\" in edit.text or "\n" in edit.text:
                raise RefusedError("the change would put quotes into an f-string")
            return Edit(edit.span, edit.text.replace(own, other))
    return edit
