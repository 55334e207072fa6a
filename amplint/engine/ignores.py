"""Writes suppression comments for findings into the text of their files; touches no disk."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from amplint.model.edit import Edit
from amplint.model.finding import Finding, Problem
from amplint.model.span import Span
from amplint.source.text import Source, SourceError, source_from_bytes

# The tool's own findings are about comments, or about files in which no comment is found.
OWN = "AMP0"


def with_ignores(findings: Iterable[Finding], sources: Mapping[str, Source]) -> tuple[dict[str, Source], list[Problem]]:
    """The changed files by path: above each finding's statement a comment that names the rules found there.

    A file that cannot hold the comment is a problem.
    """
    codes: defaultdict[str, defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for finding in findings:
        if not finding.code.startswith(OWN):
            codes[finding.path][finding.statement.line].add(finding.code)
    changed: dict[str, Source] = {}
    problems: list[Problem] = []
    for path, by_line in codes.items():
        try:
            changed[path] = _changed(sources[path], by_line)
        except (SourceError, ValueError) as error:
            problems.append(Problem(path, f"not changed: {error}"))
    return changed, problems


def ignore_edit(source: Source, line: int, codes: Iterable[str]) -> Edit:
    """The edit that puts a comment for some rules above the statement that starts in a line."""
    text = source.lines[line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    return Edit(Span(line, 0, line, 0), f"{indent}# amplint: ignore[{', '.join(sorted(codes))}]\n")


def _changed(source: Source, by_line: Mapping[int, set[str]]) -> Source:
    edits = [ignore_edit(source, line, codes) for line, codes in by_line.items()]
    return source_from_bytes(source.splice(edits), source.path)
