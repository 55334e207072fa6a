"""What docs/comparison.md says of amplint, each row shown by the installed command in a process of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.adapters.editor import CLIP, Editor, edits_of, session

ROOT = Path(__file__).parent.parent
OLD = "import torch\n\nscaler = torch.cuda.amp.GradScaler()\n"
FLAG = 'import torch\n\n\ndef train(enabled):\n    with torch.autocast("cuda", enabled):\n        pass\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a deprecated name (safe fix) in one file and a misplaced flag in another."""
    (tmp_path / "old.py").write_text(OLD)
    (tmp_path / "flag.py").write_text(FLAG)
    return tmp_path


def call(folder: Path, *arguments: str, stdin: str | None = None, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command as a person would run it."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", "amplint", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, input=stdin, env=environment)


def codes(done: subprocess.CompletedProcess[str]) -> list[str]:
    return re.findall(r"^[^ ]+:\d+: (AMP\d{3}) ", done.stdout, re.MULTILINE)


def concise(folder: Path, *arguments: str) -> list[str]:
    """The codes that a run reports, in order of files."""
    return codes(call(folder, *arguments, "--output-format", "concise", "--quiet"))


def test_one_command(project: Path) -> None:
    assert concise(project) == concise(project, ".") == concise(project, "flag.py", "old.py") == ["AMP103", "AMP101"]
    assert concise(project, "check", "old.py") == ["AMP101"]


def test_exit_codes(project: Path) -> None:
    (project / "clean.py").write_text("import torch\n")
    assert call(project, "clean.py").returncode == 0
    assert call(project, "old.py").returncode == 1
    assert call(project, "--no-such-flag").returncode == 2
    assert call(project, "old.py", "--fix").returncode == 0


def test_missing_path(project: Path) -> None:
    done = call(project, "nowhere", "old.py")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    assert "AMP101" in done.stdout


def test_exit_switches(project: Path) -> None:
    assert call(project, "--exit-zero").returncode == 0
    assert call(project, "old.py", "--fix", "--exit-non-zero-on-fix").returncode == 1


def test_select_by_prefix(project: Path) -> None:
    assert concise(project, "--select", "AMP10") == ["AMP103", "AMP101"]
    assert concise(project, "--ignore", "AMP103") == ["AMP101"]
    assert concise(project, "--select", "AMP2", "--extend-select", "AMP101") == ["AMP101"]
    assert call(project, "--select", "AMP9").returncode == 2


def test_select_by_name(project: Path) -> None:
    assert concise(project, "--select", "deprecated-amp-namespace") == ["AMP101"]


def test_per_file_ignores(project: Path) -> None:
    (project / "amplint.toml").write_text('[per-file-ignores]\n"fl*.py" = ["AMP1"]\n')
    assert concise(project) == ["AMP101"]


def test_fix_policy(project: Path) -> None:
    assert call(project, "old.py", "--fix", "--unfixable", "AMP101").returncode == 1
    (project / "amplint.toml").write_text('extend-unsafe-fixes = ["AMP101"]\n')
    assert call(project, "old.py", "--fix").returncode == 1
    assert call(project, "old.py", "--fix", "--unsafe-fixes").returncode == 0


def test_pyproject(project: Path) -> None:
    (project / "pyproject.toml").write_text('[tool.amplint]\nselect = ["AMP103"]\n')
    assert concise(project) == ["AMP103"]


def test_unknown_key(project: Path) -> None:
    (project / "amplint.toml").write_text('selct = ["AMP103"]\n')
    done = call(project)
    assert done.returncode == 2
    assert "selct" in done.stderr
    assert "select" in done.stderr.replace("selct", "")


def test_isolated_and_config(project: Path) -> None:
    (project / "amplint.toml").write_text('select = ["AMP103"]\n')
    (project / "other.toml").write_text('select = ["AMP101"]\n')
    assert concise(project, "--isolated") == ["AMP103", "AMP101"]
    assert concise(project, "--config", "other.toml") == ["AMP101"]


def test_show_settings(project: Path) -> None:
    (project / "amplint.toml").write_text('select = ["AMP103"]\n')
    shown = call(project, "config", "--show")
    assert shown.returncode == 0
    assert re.search(r"select.*AMP103.*amplint\.toml", shown.stdout)
    for arguments in (["config", "--files"], ["--show-files"]):
        assert call(project, *arguments).stdout.split() == ["flag.py", "old.py"]


def test_schema(project: Path) -> None:
    schema = json.loads(call(project, "config", "--schema").stdout)
    assert schema["properties"]["target-torch"]
    assert json.loads((ROOT / "docs" / "amplint.schema.json").read_text()) == schema


def test_suppression(project: Path) -> None:
    for comment in ("# amplint: ignore[AMP101]", "# amplint: ignore[deprecated-amp-namespace] why", "# noqa: AMP101"):
        (project / "old.py").write_text(OLD.replace("()", f"()  {comment}"))
        assert concise(project, "old.py") == []


def test_file_suppression(project: Path) -> None:
    (project / "old.py").write_text(f"# amplint: file-ignore[AMP101]\n{OLD}")
    assert concise(project, "old.py") == []


def test_unused_suppression(project: Path) -> None:
    (project / "new.py").write_text("import torch  # amplint: ignore[AMP101, AMP999]\n")
    assert concise(project, "new.py") == ["AMP001", "AMP002"]


def test_add_ignore(project: Path) -> None:
    call(project, "--add-ignore")
    assert "# amplint: ignore[AMP101]" in (project / "old.py").read_text()
    assert concise(project) == []


def test_baseline(project: Path) -> None:
    assert call(project, "baseline", "write").returncode == 0
    assert concise(project, "--baseline", "amplint-baseline.json") == []
    (project / "old.py").write_text(f"\n\n{OLD}other = torch.cuda.amp.GradScaler()\n")
    assert concise(project, "--baseline", "amplint-baseline.json") == ["AMP101"]
    (project / "old.py").write_text("import torch\n")
    call(project, "baseline", "prune", "--baseline", "amplint-baseline.json")
    assert "AMP101" not in (project / "amplint-baseline.json").read_text()


def test_fix(project: Path) -> None:
    call(project, "old.py", "--fix")
    assert (project / "old.py").read_text() == OLD.replace(
        "torch.cuda.amp.GradScaler()", 'torch.amp.GradScaler("cuda")'
    )


def test_fix_safety(project: Path) -> None:
    found = json.loads(call(project, "--output-format", "json").stdout)
    assert {item["fix"]["applicability"] for item in found} <= {"safe", "unsafe", "display"}
    done = call(project, "--fix", "--migrations-only")
    assert done.returncode == 1
    assert (project / "flag.py").read_text() == FLAG


def test_fix_converges(project: Path) -> None:
    call(project, "--fix", "--unsafe-fixes")
    fixed = [(project / name).read_text() for name in ("flag.py", "old.py")]
    assert concise(project) == []
    call(project, "--fix", "--unsafe-fixes")
    assert [(project / name).read_text() for name in ("flag.py", "old.py")] == fixed


def test_diff(project: Path) -> None:
    done = call(project, "old.py", "--diff")
    assert '+scaler = torch.amp.GradScaler("cuda")\n' in done.stdout
    assert (project / "old.py").read_text() == OLD


def test_statistics_and_timing(project: Path) -> None:
    assert re.search(r"1\s+AMP101", call(project, "--statistics").stdout)
    assert "AMP101" in call(project, "--timing", "--quiet", "--no-cache").stderr


def test_rule_pages(project: Path) -> None:
    page = call(project, "rule", "AMP101").stdout
    assert page.startswith("AMP101 deprecated-amp-namespace")
    assert "Why it matters" in page
    assert call(project, "rule", "deprecated-amp-namespace").stdout == page
    assert all(item["code"] for item in json.loads(call(project, "rule", "--all", "--output-format", "json").stdout))


def test_text(project: Path) -> None:
    engine = (ROOT / "docs" / "examples" / "engine.py").read_text()
    (project / "engine.py").write_text(engine)
    shown = call(project, "engine.py", "--select", "AMP201").stdout
    lines = [line for line in shown.splitlines() if re.match(r"\d+ \|", line)]
    assert [line.split("|")[1].strip() for line in lines] == [
        "scaler.scale(loss).backward()",
        "clip_grad_norm_(model.parameters(), max_norm)",
        "scaler.step(optimizer)",
    ]


def test_concise(project: Path) -> None:
    lines = call(project, "--output-format", "concise").stdout.splitlines()
    assert re.fullmatch(r"old\.py:3:10: AMP101 .*", lines[1])


def test_json_formats(project: Path) -> None:
    found = json.loads(call(project, "--output-format", "json").stdout)
    lines = [json.loads(line) for line in call(project, "--output-format", "json-lines").stdout.splitlines()]
    assert lines == found
    assert found[1]["fix"]["edits"][0]["location"] == {"row": 3, "column": 10}


def test_sarif(project: Path) -> None:
    log = json.loads(call(project, "--output-format", "sarif").stdout)
    result = log["runs"][0]["results"][1]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "old.py"
    assert result["fixes"]
    assert result["partialFingerprints"]


def test_github(project: Path) -> None:
    lines = call(project, "--output-format", "github").stdout.splitlines()
    assert re.match(r"::(error|warning|notice) (?=.*file=old\.py)(?=.*line=3)", lines[1])


def test_gitlab_and_junit(project: Path) -> None:
    found = json.loads(call(project, "--output-format", "gitlab").stdout)
    assert {item["location"]["path"] for item in found} == {"flag.py", "old.py"}
    assert len({item["fingerprint"] for item in found}) == 2
    report = ElementTree.fromstring(call(project, "--output-format", "junit").stdout)
    assert len(report.findall(".//failure")) == 2


def test_outputs(project: Path) -> None:
    done = call(project, "--output-format", "concise,json:found.json")
    assert codes(done) == ["AMP103", "AMP101"]
    assert len(json.loads((project / "found.json").read_text())) == 2
    call(project, "--output-format", "json", "-o", "again.json")
    assert (project / "again.json").read_text() == (project / "found.json").read_text()


def test_stdin(project: Path) -> None:
    done = call(project, "-", "--stdin-filename", "given.py", "--output-format", "concise", stdin=OLD)
    assert done.stdout.startswith("given.py:3:10: AMP101")
    assert call(project, "-", "--fix", stdin=OLD).stdout.endswith('torch.amp.GradScaler("cuda")\n')


def test_notebooks(project: Path) -> None:
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["%time\n", OLD]}]
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    (project / "book.ipynb").write_text(json.dumps(book, indent=1) + "\n")
    found = json.loads(call(project, "book.ipynb", "--output-format", "json").stdout)
    assert (found[0]["code"], found[0]["cell"], found[0]["location"]["row"]) == ("AMP101", 1, 4)
    assert call(project, "book.ipynb", "--fix").returncode == 0
    assert "%time" in (project / "book.ipynb").read_text()


def test_excludes(project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    (project / ".gitignore").write_text("old.py\n")
    assert concise(project) == ["AMP103"]
    assert concise(project, "--no-respect-gitignore", "--extend-exclude", "flag.py") == ["AMP101"]
    assert concise(project, "flag.py", "--extend-exclude", "flag.py") == ["AMP103"]
    assert concise(project, "flag.py", "--extend-exclude", "flag.py", "--force-exclude") == []


def test_processes(project: Path) -> None:
    for number in range(12):
        (project / f"old{number:02}.py").write_text(OLD)
    alone = call(project, "--jobs", "1", "--output-format", "json").stdout
    assert call(project, "--jobs", "2", "--output-format", "json").stdout == alone
    assert len(json.loads(alone)) == 14


def test_colour(project: Path) -> None:
    assert "\x1b[" not in call(project).stdout
    assert "\x1b[" in call(project, FORCE_COLOR="1").stdout
    assert "\x1b[" in call(project, "--color", "always").stdout
    assert "\x1b[" not in call(project, NO_COLOR="1", TERM="xterm").stdout


def test_target_torch(project: Path) -> None:
    assert concise(project, "old.py", "--target-torch", "2.2") == []
    (project / "new.py").write_text('import torch\n\nscaler = torch.amp.GradScaler("cuda")\n')
    (project / "requirements.txt").write_text("torch>=2.1\n")
    assert concise(project, "new.py") == ["AMP106"]
    assert concise(project, "new.py", "--target-torch", "2.4") == []


def test_severity(project: Path) -> None:
    severities = {
        item["code"]: item["severity"] for item in json.loads(call(project, "--output-format", "json").stdout)
    }
    assert severities["AMP103"] == "error"
    assert severities["AMP101"] in ("warning", "advice")
    assert call(project, "old.py", "--fail-on", "error").returncode == 0
    assert call(project, "flag.py", "--fail-on", "error").returncode == 1


def test_pre_commit_hooks() -> None:
    text = (ROOT / ".pre-commit-hooks.yaml").read_text()
    assert re.findall(r"^- id: (.+)$", text, re.MULTILINE) == ["amplint", "amplint-fix"]
    assert "--migrations-only" in text


def test_ci_recipes() -> None:
    action = (ROOT / ".github" / "actions" / "amplint" / "action.yml").read_text()
    guide = (ROOT / "docs" / "guides" / "ci.md").read_text()
    for given in re.findall(r"--output-format \"?([\w:,.$-]+)", action + guide):
        assert {part.split(":")[0] for part in given.split(",")} <= {"github", "sarif", "text", "gitlab", "junit"}


def test_flake8_plugin(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "flake8", "--isolated", "--select", "AMP", "."]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project, env=environment)
    assert sorted(re.findall(r"AMP\d+", done.stdout)) == ["AMP101", "AMP103"]


def test_changed_lines(project: Path) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *command], cwd=project, check=True)
    (project / "old.py").write_text(f"{OLD}other = torch.cuda.amp.GradScaler()\n")
    assert concise(project, "--diff-base", "HEAD") == ["AMP101"]


def test_language_server(project: Path) -> None:
    async def act(editor: Editor) -> None:
        uri = editor.open(project / "train.py", CLIP.format(comment=""))
        assert await editor.codes(uri) == ["AMP201"]
        (diagnostic,) = editor.published[uri]
        assert diagnostic.related_information
        (fix, *_) = await editor.actions(uri, diagnostic.range)
        assert "scaler.unscale_(optimizer)" in edits_of(fix, uri)[0].new_text

    session(project, act)


def test_verify(project: Path) -> None:
    pytest.importorskip("torch")
    shutil.copytree(ROOT / "docs" / "examples", project / "examples")
    done = call(project / "examples", "verify", "--steps", "8", "train.py")
    assert "engine.py:18  AMP201 clip-of-scaled-gradients: confirmed\n" in done.stdout
    assert "AMP301 undivided-accumulation-loss: left" in done.stdout
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)


def test_every_row_names_a_test_that_is_here() -> None:
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in (ROOT / "docs" / "comparison.md").read_text().splitlines()
        if line.startswith("| ")
    ][1:]
    named = {row[-1] for row in rows if row[1].startswith("✔")}
    own = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert "" not in named
    assert named <= own
