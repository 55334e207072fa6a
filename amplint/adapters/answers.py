"""Findings as an editor shows them: diagnostics, quick fixes, hover texts. Knows no server and does no checking."""

from collections.abc import Sequence

from lsprotocol import types

from amplint.adapters.desk import Analysis
from amplint.adapters.positions import Sheet
from amplint.engine.ignores import OWN, ignore_edit
from amplint.model.edit import Applicability
from amplint.model.finding import Finding, Note, Severity
from amplint.report.pages import rule_url
from amplint.rules.registry import all_rules

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.ADVICE: types.DiagnosticSeverity.Information,
}


def diagnostics(analysis: Analysis) -> dict[str, list[types.Diagnostic]]:
    """The diagnostics of every document of a file; an empty list takes earlier ones back."""
    found: dict[str, list[types.Diagnostic]] = {uri: [] for uri in analysis.sheet.uris}
    for finding in analysis.findings:
        found[analysis.sheet.place(finding.span).uri].append(_diagnostic(analysis, finding))
    return found


def quick_fixes(analysis: Analysis, uri: str, place: types.Range) -> list[types.CodeAction]:
    """The fix of each finding that meets a range, and a comment that suppresses it."""
    met = [finding for finding in analysis.findings if analysis.sheet.touches(finding.span, uri, place)]
    fixes = [_fix(analysis, finding) for finding in met if finding.fix is not None and analysis.edits.get(finding)]
    return fixes + [_suppression(analysis, finding) for finding in met if not finding.code.startswith(OWN)]


def hover(analysis: Analysis, uri: str, place: types.Range) -> types.Hover | None:
    """The pages of the rules whose findings are at a place."""
    codes = {finding.code for finding in analysis.findings if analysis.sheet.touches(finding.span, uri, place)}
    pages = [
        f"# {registered.rule.code} {registered.rule.name}\n\n{registered.page.strip()}"
        for registered in all_rules()
        if registered.rule.code in codes
    ]
    if not pages:
        return None
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(pages)))


def is_wanted(kind: str, wanted: Sequence[str]) -> bool:
    """Whether a client that restricts itself to some kinds of actions asks for this one."""
    return not wanted or any(kind == item or kind.startswith(f"{item}.") for item in wanted)


def _diagnostic(analysis: Analysis, finding: Finding) -> types.Diagnostic:
    url = rule_url(analysis.docs, finding.code, finding.name)
    return types.Diagnostic(
        range=analysis.sheet.place(finding.span).range,
        message=f"{finding.message} ({finding.name})",
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        code_description=types.CodeDescription(url) if url else None,
        source="amplint",
        related_information=[_related(analysis, note) for note in finding.notes],
    )


def _related(analysis: Analysis, note: Note) -> types.DiagnosticRelatedInformation:
    sheet = analysis.sheet
    if note.path is not None and note.path != sheet.source.path:
        path = analysis.folder / note.path
        text = analysis.texts.get(note.path)
        if text is not None:
            sheet = Sheet(text, (path.as_uri(),), sheet.units)
    return types.DiagnosticRelatedInformation(sheet.place(note.span), note.message)


def _suppression(analysis: Analysis, finding: Finding) -> types.CodeAction:
    edit = ignore_edit(analysis.sheet.source, finding.statement.line, [finding.code])
    uri, text_edit = analysis.sheet.text_edit(edit)
    return types.CodeAction(
        f"amplint: suppress with # amplint: ignore[{finding.code}]",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(analysis, finding)],
        edit=types.WorkspaceEdit(changes={uri: [text_edit]}),
    )


def _fix(analysis: Analysis, finding: Finding) -> types.CodeAction:
    assert finding.fix is not None
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in analysis.edits[finding]:
        uri, text_edit = analysis.sheet.text_edit(edit)
        changes.setdefault(uri, []).append(text_edit)
    is_safe = finding.fix.applicability is Applicability.SAFE
    return types.CodeAction(
        f"amplint: {finding.fix.title}{'' if is_safe else f' ({finding.fix.applicability})'}",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[_diagnostic(analysis, finding)],
        is_preferred=is_safe,
        edit=types.WorkspaceEdit(changes=changes),
    )
