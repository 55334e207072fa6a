"""A file looked at alone, by itself with its context, or in a whole run: the wider view never takes anything back."""

from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.engine.alone import check_alone
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run
from amplint.model.finding import Finding
from amplint.source.text import read_source

FIXTURES = Path(__file__).parent.parent / "fixtures"
FOLDERS = sorted(path for path in FIXTURES.glob("AMP*") if path.name not in ("AMP000", "AMP001", "AMP002"))
SETTINGS = {"isolated": True, "target_torch": "2.4"}

Place = tuple[str, int, int]


def _places(findings: list[Finding], path: str) -> set[Place]:
    own = (finding for finding in findings if finding.path == path and not finding.code.startswith("AMP0"))
    return {(finding.code, finding.span.line, finding.span.column) for finding in own}


def _run(folder: Path, *paths: str) -> list[Finding]:
    report = run(paths, Resolver(SETTINGS, folder), folder, Wanted(jobs=1)).report
    assert not report.problems
    return report.findings


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_wider_view_keeps_what_a_narrow_one_sees(folder: Path) -> None:
    whole = _run(folder, ".")
    for path in sorted(folder.rglob("*.py")):
        shown = str(path.relative_to(folder))
        by_itself = _places(_run(folder, shown), shown)
        assert by_itself == _places(whole, shown), f"{shown}: named alone or with the others"
        alone = check_alone(str(path), read_source(path, shown).program, (), "2.4")
        assert _places(alone, str(path)) <= by_itself, f"{shown}: as flake8 sees it"
