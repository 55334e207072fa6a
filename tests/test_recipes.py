"""The recipes for CI, run as far as a machine without the service can."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION = ROOT / ".github" / "actions" / "amplint" / "action.yml"
GUIDE = ROOT / "docs" / "guides" / "ci.md"


def recipe(start: str) -> Any:
    """The YAML block of the guide that starts with a line."""
    blocks = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    (text,) = [text for text in blocks if text.startswith(start)]
    return yaml.safe_load(text)


@pytest.mark.network
def test_the_steps_of_the_action_check_and_write_sarif(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "examples")
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    defaults = {name: value["default"] for name, value in action["inputs"].items()}
    exported = tmp_path / "exported"
    variables = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "GITHUB_ENV": str(exported),
        "RUNNER_TEMP": str(tmp_path),
        "PYTHON": sys.executable,
        "REQUIREMENT": str(ROOT),
        "PATHS": defaults["paths"],
        "ARGUMENTS": defaults["arguments"],
        "SARIF": defaults["sarif-file"],
    }
    install, check = (step for step in action["runs"]["steps"] if "run" in step)
    assert set(install["env"]) | set(check["env"]) <= set(variables)
    subprocess.run(["bash", "-e", "-c", install["run"]], check=True, env=variables, cwd=tmp_path / "examples")
    name, _, command = exported.read_text().strip().partition("=")
    done = subprocess.run(
        ["bash", "-e", "-c", check["run"]],
        env={**variables, name: command},
        cwd=tmp_path / "examples",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stderr
    assert re.search(r"^::error .*file=engine\.py", done.stdout, re.MULTILINE)
    log = json.loads((tmp_path / "examples" / defaults["sarif-file"]).read_text())
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in log["runs"][0]["results"]
    }
    assert "engine.py" in uris


def test_the_recipes_are_what_their_services_publish_schemas_for(tmp_path: Path) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    recipes = {"github-actions": ACTION}
    for schema, start in (("github-workflows", "# .github/workflows/"), ("gitlab-ci", "# .gitlab-ci.yml")):
        recipes[schema] = tmp_path / f"{schema}.yml"
        recipes[schema].write_text(next(text for text in blocks if text.startswith(start)), encoding="utf-8")
    for schema, file in recipes.items():
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", str(file)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_the_workflow_uploads_what_the_action_writes() -> None:
    steps = recipe("# .github/workflows/amplint.yml")["jobs"]["amplint"]["steps"]
    action = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    own = next(step for step in steps if ".github/actions/amplint" in step["uses"])
    upload = next(step for step in steps if "upload-sarif" in step["uses"])
    assert set(own["with"]) <= set(action["inputs"])
    assert upload["with"]["sarif_file"] == action["inputs"]["sarif-file"]["default"]


def test_the_gitlab_recipe_keeps_what_it_writes(tmp_path: Path) -> None:
    job = recipe("# .gitlab-ci.yml")["amplint"]
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "src")
    command = job["script"][-1].split()
    assert command[0] == "amplint"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", *command], cwd=tmp_path, env=environment, capture_output=True)
    assert done.returncode == 1
    for report in job["artifacts"]["reports"].values():
        assert (tmp_path / report).stat().st_size


def test_the_hooks_of_the_recipes_exist() -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    (repo,) = recipe("# .pre-commit-config.yaml")["repos"]
    assert {hook["id"] for hook in repo["hooks"]} == hooks
