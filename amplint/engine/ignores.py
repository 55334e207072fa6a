"""Writes suppression comments for findings into the text of their files; touches no disk."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from amplint.model.edit import Edit
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.source.text import Source, SourceError, source_from_bytes

# The tool's own findings are about comments, or about files in which no comment is found.
OWN = "AMP0"


def with_ignores(findings: Iterable[Finding], sources: Mapping[str, Source]) -> dict[str, Source]:
    """The changed files by path: above each finding's statement a comment that names the rules found there.

    Raises SourceError where a file cannot hold the comment.
    """
    codes: defaultdict[str, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for finding in findings:
        if not finding.code.startswith(OWN):
            codes[finding.path][finding.statement.line].add(finding.code)
    return {path: _changed(sources[path], by_line) for path, by_line in codes.items()}


def ignore_edit(source: Source, line: int, codes: Iterable[str]) -> Edit:
    """The edit that puts a comment for some rules above the statement that starts in a line."""
    text = source.lines[line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    return Edit(Span(line, 0, line, 0), f"{indent}# amplint: ignore[{', '.join(sorted(codes))}]\n")


def _changed(source: Source, by_line: Mapping[int, set[str]]) -> Source:
    edits = [ignore_edit(source, line, codes) for line, codes in by_line.items()]
    try:
        return source_from_bytes(source.splice(edits), source.path)
    except ValueError as error:
        raise SourceError(str(error)) from error
