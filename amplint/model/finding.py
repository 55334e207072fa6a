"""What a check says: findings about the code, problems about the tool's own work; knows nothing of output formats."""

from enum import StrEnum
from typing import TYPE_CHECKING

from amplint.model.data import Value
from amplint.model.span import Span

if TYPE_CHECKING:
    from amplint.model.edit import Fix


class Severity(StrEnum):
    """error: crashes or trains silently wrong; warning: wrong in some runs; advice: slower or fragile."""

    ERROR = "error"
    WARNING = "warning"
    ADVICE = "advice"


class Note(Value):
    """A second place that explains a finding, in the order in which the program reaches it.

    path is None where the place is in the finding's own file.
    """

    span: Span
    message: str
    path: str | None = None


class Finding(Value):
    """One defect at one place of one file.

    statement is the span whose lines may carry a suppression comment.
    """

    code: str
    name: str
    severity: Severity
    message: str
    path: str
    span: Span
    statement: Span
    notes: tuple[Note, ...] = ()
    fix: "Fix | None" = None


class Problem(Value):
    """The tool could not do a part of its job: an unreadable file, a fault of its own.

    rule names the rule that was running, if one was; is_fatal problems end in exit code 2.
    """

    path: str
    message: str
    rule: str | None = None
    is_fatal: bool = True
