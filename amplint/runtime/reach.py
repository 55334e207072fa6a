"""Whether the code that a fix changes ran at all; knows statements, nothing of what they do."""

from amplint.runtime.laboratory import Laboratory
from amplint.runtime.verdict import Change


def is_reached(lab: Laboratory, change: Change) -> bool:
    """Whether any statement that the fix edits ran before the fix, in its own program.

    Where AMP calls stand in it the trace says so; else one more run looks.
    """
    wanted = set(change.lines)
    for event in lab.trace(lab.original).events:
        if event.site.path == change.path and not wanted.isdisjoint(range(event.site.line, event.site.end_line + 1)):
            return True
    return not wanted.isdisjoint(lab.reached().get(change.path, ()))
