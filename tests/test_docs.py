"""Code, rule pages, README and fixtures say the same."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from amplint.config.schema import schema
from amplint.knowledge.protocol import Gradients
from amplint.rules.registry import RegisteredRule, all_rules
from amplint.rules.rule import FixAvailability
from docs import generate, pictures, transcripts

ROOT = Path(__file__).parent.parent
ALWAYS = ["What it does", "Why it matters", "Where it reports", "Example", "References"]
OF_A_FIX = ["Fix", "Fix safety"]
ORDER = ["What it does", "Why it matters", "Where it reports", "Example", "Fix", "Fix safety", "References"]
rules = pytest.mark.parametrize("registered", all_rules(), ids=lambda r: r.rule.code)


def test_generated_files_are_fresh() -> None:
    pages = generate.generated()
    stale = [str(path.relative_to(ROOT)) for path, text in pages.items() if generate.is_stale(path, text)]
    assert stale == [], "run `python -m docs.generate`"
    assert generate.left_over(pages) == []


@pytest.mark.parametrize("document", transcripts.documents(), ids=lambda path: path.name)
def test_documents_show_what_commands_say(document: Path) -> None:
    if document.name == "command-line.md" and sys.version_info[:2] != (3, 11):
        pytest.skip("argparse words its help differently in every version of Python")
    text = document.read_text(encoding="utf-8")
    assert transcripts.with_outputs(text) == text, "run `python -m docs.transcripts`"


def test_stale_files_are_named_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    page = tmp_path / "deep" / "page.md"
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "generated", lambda: {page: "text\n"})
    monkeypatch.setattr(generate, "left_over", lambda pages: [])
    assert generate.main(["--check"]) == 1
    assert not page.exists()
    assert "deep/page.md: stale" in capsys.readouterr().out
    assert generate.main([]) == 0
    assert page.read_text() == "text\n"
    assert generate.main(["--check"]) == 0


@rules
def test_a_page_has_its_headings(registered: RegisteredRule) -> None:
    found = re.findall(r"^## (.+)$", registered.page, re.MULTILINE)
    has_fix = registered.rule.fix is not FixAvailability.NONE
    wanted = [heading for heading in ORDER if heading in ALWAYS or has_fix]
    assert [heading for heading in found if heading in ORDER] == wanted


@rules
def test_a_page_starts_with_one_sentence(registered: RegisteredRule) -> None:
    first = registered.page.strip().split("\n\n")[0]
    assert first.endswith("."), first
    assert not first.startswith("#")


@rules
def test_the_snippets_of_a_page_parse(registered: RegisteredRule) -> None:
    snippets = re.findall(r"^```python\n(.*?)^```", registered.page, re.MULTILINE | re.DOTALL)
    assert snippets, "an example is missing"
    for snippet in snippets:
        ast.parse(snippet)


@rules
def test_a_page_names_references(registered: RegisteredRule) -> None:
    references = registered.page.split("## References")[-1]
    assert "https://" in references


@rules
def test_a_rule_has_good_and_bad_fixtures(registered: RegisteredRule) -> None:
    folder = ROOT / "tests" / "fixtures" / registered.rule.code
    names = [path.name for path in folder.glob("*")]
    assert any(name.startswith("bad_") for name in names), folder
    assert any(name.startswith("good_") for name in names), folder


@rules
def test_a_name_says_the_bad_thing(registered: RegisteredRule) -> None:
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", registered.rule.name)
    assert not registered.rule.name.startswith(("no-", "must-", "disallow-", "avoid-"))


def test_every_fixture_folder_belongs_to_a_rule() -> None:
    codes = {registered.rule.code for registered in all_rules()}
    folders = {path.name for path in (ROOT / "tests" / "fixtures").glob("AMP*")}
    assert folders <= codes


def test_every_state_of_gradients_has_a_place_in_the_picture() -> None:
    assert set(pictures.PLACES) == set(Gradients) - {Gradients.UNKNOWN, Gradients.DROPPED}


def test_an_output_fits_what_a_document_shows() -> None:
    assert transcripts.fits("a\n[...]\nd\n", "a\nb\nc\nd\n")
    assert transcripts.fits("[...]\n", "")
    assert not transcripts.fits("a\n[...]\n", "b\n")


def test_a_document_gets_the_outputs_of_its_commands() -> None:
    shown = "```console\n$ cd docs/examples; ls \\\n  engine.py\nold\n$ cat <<E >x\n> y\n> E\n$ false\n```\n"
    text = f"{shown}\n<!-- not run: why -->\n```console\n$ x\n```\n"
    expected = text.replace("old\n", "engine.py\n")
    assert transcripts.with_outputs(text) == expected


def blocks(language: str) -> list[tuple[str, str]]:
    """The fenced blocks of a language in all documents, each with its document."""
    pattern = re.compile(rf"^```{language}\n(.*?)^```", re.MULTILINE | re.DOTALL)
    paths = [path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if "_build" not in path.parts]
    return [(path.name, text) for path in sorted(paths) for text in pattern.findall(path.read_text(encoding="utf-8"))]


def test_python_in_documents_parses() -> None:
    for name, text in blocks("python"):
        try:
            ast.parse(text)
        except SyntaxError as error:
            pytest.fail(f"{name}: {error}\n{text}")


def test_settings_in_documents_are_settings() -> None:
    validator = Draft202012Validator(schema())
    found = blocks("toml")
    assert len(found) > 20
    for name, text in found:
        table = tomllib.loads(text)
        for part in ("tool", "amplint"):
            table = table.get(part, {})
        assert list(validator.iter_errors(table)) == [], name


def test_other_blocks_in_documents_parse() -> None:
    for _, text in blocks("json"):
        json.loads(text)
    for name, text in blocks("yaml"):
        assert yaml.safe_load(text), name


def test_links_in_the_readme_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [link for link in re.findall(r"\]\(([^)#:]+)[^):]*\)", text) if not (ROOT / link).exists()]
    assert missing == []


@pytest.mark.network
def test_the_readme_sets_up_and_runs_amplint_with_one_command(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"<!-- command: try -->\n```bash\n(.*?)\n```", readme, re.DOTALL)
    assert found is not None
    for part in ("amplint", "docs"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
    for part in ("README.md", "LICENSE", "pyproject.toml"):
        shutil.copy(ROOT / part, tmp_path)
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = ["bash", "-c", found[1].replace("python3 ", f"{sys.executable} ")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "docs/examples/engine.py" in done.stdout
