"""Machine formats, held to the rules that their consumers publish."""

import io
import json
import os
import re
import xml.etree.ElementTree as ElementTree
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import sarif_pydantic
from junitparser import JUnitXml

from amplint.config.settings import FORMATS
from amplint.report.fingerprint import fingerprints
from amplint.report.look import Look
from amplint.report.report import Report
from tests.report.sample import PROGRAM, sample
from tests.report.sarif_schema import SARIF


def _written(name: str, report: Report | None = None) -> str:
    stream = io.StringIO()
    import_module(f"amplint.report.{name.replace('-', '_')}").write(report or sample(), stream, Look())
    return stream.getvalue()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_copes_with_nothing(name: str) -> None:
    _written(name, Report())


def _applied(program: str, edits: list[tuple[int, int, int, int, str]]) -> str:
    """Edits (line and column from 1, end exclusive) made by nothing but string slices."""
    lines = program.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
    for line, column, end_line, end_column, content in sorted(edits, reverse=True):
        start, end = starts[line - 1] + column - 1, starts[end_line - 1] + end_column - 1
        program = program[:start] + content + program[end:]
    return program


FIXED = PROGRAM.replace("    clip", "    scaler.unscale_(optimizer)\n    clip")


def test_json() -> None:
    clipped, stepped = json.loads(_written("json"))
    assert (clipped["cell"], clipped["location"], clipped["end_location"]) == (
        None,
        {"row": 3, "column": 5},
        {"row": 3, "column": 20},
    )
    assert clipped["filename"] == "/work place/a,b/tr:ain.py"
    fix = clipped["fix"]
    assert (fix["applicability"], fix["kind"]) == ("safe", "repair")
    edits = [(*edit["location"].values(), *edit["end_location"].values(), edit["content"]) for edit in fix["edits"]]
    assert _applied(PROGRAM, edits) == FIXED
    assert [note["message"] for note in clipped["notes"]] == ["scaled here", "clipped here", "unscaled only here"]
    assert (stepped["cell"], stepped["location"]) == (2, {"row": 2, "column": 1})
    assert [(note["cell"], note["location"]["row"]) for note in stepped["notes"]] == [(3, 1), (None, 1)]
    assert [json.loads(line) for line in _written("json-lines").splitlines()] == [clipped, stepped]


def test_sarif_is_valid() -> None:
    log = json.loads(_written("sarif"))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    published = os.environ.get("AMPLINT_SARIF_SCHEMA")
    if published:
        schema = json.loads(Path(published).read_text())
        jsonschema.validators.validator_for(schema)(schema).validate(log)


def test_a_reader_of_sarif_reads_it() -> None:
    (run,) = sarif_pydantic.Sarif.model_validate_json(_written("sarif")).runs
    assert [result.rule_id for result in run.results or ()] == ["AMP201", "AMP202"]


def test_sarif_says_everything() -> None:
    (run,) = json.loads(_written("sarif"))["runs"]
    clipped, stepped = run["results"]
    assert run["originalUriBaseIds"] == {"SRCROOT": {"uri": "file:///work%20place/"}}
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["AMP201", "AMP202"]
    assert (clipped["ruleIndex"], clipped["level"], stepped["level"]) == (0, "error", "note")
    place = clipped["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "a,b/tr%3Aain.py", "uriBaseId": "SRCROOT"}
    (flow,) = clipped["codeFlows"]
    steps = flow["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [
        "scaled here",
        "clipped here",
        "unscaled only here",
    ]
    (change,) = clipped["fixes"][0]["artifactChanges"]
    edits = [(*item["deletedRegion"].values(), item["insertedContent"]["text"]) for item in change["replacements"]]
    assert _applied(PROGRAM, edits) == FIXED
    assert "fixes" not in stepped
    assert "region" not in stepped["locations"][0]["physicalLocation"], "lines of cells are not lines of the file"
    assert run["invocations"][0]["executionSuccessful"] is False


COMMAND = re.compile(r"::(?P<level>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")


def test_github() -> None:
    lines = _written("github").splitlines()
    found = [COMMAND.fullmatch(line) for line in lines]
    assert all(found)
    clipped, stepped = (match for match in found if match)
    properties = dict(item.split("=", 1) for item in clipped["properties"].split(","))
    assert properties == {
        "title": "AMP201 clip-of-scaled-gradients",
        "file": "a%2Cb/tr%3Aain.py",
        "line": "3",
        "endLine": "3",
        "col": "5",
        "endColumn": "20",
    }
    assert "100%25, <now>%0Ascaled here: line 2%0A" in clipped["message"]
    assert stepped["level"] == "notice"
    assert stepped["message"].startswith("cell 2, line 2: no update")


GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "fingerprint": {"type": "string", "minLength": 1},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/]"},
                    "lines": {"type": "object", "required": ["begin"]},
                },
            },
        },
    },
}


def test_gitlab() -> None:
    records: list[dict[str, Any]] = json.loads(_written("gitlab"))
    jsonschema.validate(records, GITLAB)
    assert len({record["fingerprint"] for record in records}) == len(records)
    assert records[1]["description"] == "AMP202 step-without-update: cell 2: no update"


def test_junit() -> None:
    root = ElementTree.fromstring(_written("junit"))
    assert root.tag == "testsuites"
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("3", "2", "1")
    for suite in root:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases)
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
        assert int(suite.get("errors", "")) == len(suite.findall("testcase/error"))
        assert all(case.get("name") and case.get("classname") for case in cases)
    failure = root.find("testsuite/testcase/failure")
    assert failure is not None
    assert "<now>" in (failure.get("message") or "")
    assert "tr:ain.py:2:5: scaled here" in (failure.text or "")
    clean = ElementTree.fromstring(_written("junit", Report()))
    assert (clean.get("tests"), clean.get("failures")) == ("1", "0")


def test_a_reader_of_junit_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "found.xml"
    file.write_text(_written("junit"), encoding="utf-8")
    report = JUnitXml.fromfile(str(file))
    assert (report.tests, report.failures, report.errors) == (3, 2, 1)
    names = [case.name for suite in report for case in suite]
    assert names == ["AMP201 clip-of-scaled-gradients", "AMP202 step-without-update", "check"]


def test_findings_link_to_the_pages_of_a_built_documentation() -> None:
    report = sample()
    assert json.loads(_written("json", report))[0]["url"] is None
    report.docs = "https://docs.example.com/amplint/"
    url = "https://docs.example.com/amplint/rules/AMP201-clip-of-scaled-gradients.html"
    assert json.loads(_written("json", report))[0]["url"] == url
    log = json.loads(_written("sarif", report))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    assert log["runs"][0]["tool"]["driver"]["rules"][0]["helpUri"] == url


def test_fingerprints_stay_while_lines_move(tmp_path: Path) -> None:
    report = sample(tmp_path)
    twice = [report.findings[0], report.findings[0]]
    first, second = fingerprints(report, twice)
    assert (first.number, second.number) == (0, 1)
    assert first.digest != second.digest
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    report.folder = tmp_path / "sub"
    assert fingerprints(report, twice)[0].path == "sub/a,b/tr:ain.py"
