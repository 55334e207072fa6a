"""What the command does not do, because it would destroy something or leave a person in the dark."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from amplint.engine.check import check_module
from amplint.facts.gather import Facts
from amplint.rules.registry import RegisteredRule, all_rules
from amplint.syntax.lower import lower
from tests.cli.running import AMP_CODE, amplint


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(AMP_CODE)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "reason"), [("train.py", "is a program"), ("train", "is one of the checked files, so no report")]
)
@pytest.mark.parametrize("flags", [["--output-file={}"], ["--output-format", "json:../{}/{}", "--fix"]])
def test_a_report_takes_the_place_of_no_checked_file(tree: Path, name: str, reason: str, flags: list[str]) -> None:
    (tree / name).write_text(AMP_CODE)
    given = [flag.replace("../{}", f"../{tree.name}").replace("{}", name) for flag in flags]
    done = amplint("--isolated", *given, name, cwd=tree)
    assert done.returncode == 2
    assert reason in done.stderr
    assert (tree / name).read_text() == AMP_CODE


@pytest.mark.parametrize("beside", [["--fix"], ["--diff"], ["-"]])
def test_suppressions_are_written_by_themselves(tree: Path, beside: list[str]) -> None:
    done = amplint("--isolated", "--add-ignore", "--stdin-filename", "train.py", *beside, cwd=tree)
    assert done.returncode == 2
    assert f"--add-ignore and {beside[0]} cannot be given together" in done.stderr
    assert (tree / "train.py").read_text() == AMP_CODE


def test_add_ignore_says_what_could_not_be_checked(tree: Path) -> None:
    done = amplint("--isolated", "--add-ignore", "train.py", "gone.py", cwd=tree)
    assert done.returncode == 2
    assert "amplint: gone.py: does not exist" in done.stderr
    assert "amplint: ignore[AMP101]" in (tree / "train.py").read_text()


@pytest.mark.parametrize("action", ["write", "prune"])
def test_a_slip_in_a_path_leaves_the_baseline_alone(tree: Path, action: str) -> None:
    assert amplint("baseline", "write", cwd=tree).returncode == 0
    known = (tree / "amplint-baseline.json").read_bytes()
    done = amplint("baseline", action, "gone", cwd=tree)
    assert (done.returncode, done.stderr) == (2, "amplint: gone: does not exist\n")
    assert (tree / "amplint-baseline.json").read_bytes() == known


@pytest.mark.parametrize("name", ["train.py", "notes.toml", "."])
def test_a_baseline_takes_the_place_of_nothing_else(tree: Path, name: str) -> None:
    (tree / "notes.toml").write_text("[tool]\n")
    done = amplint("baseline", "write", "--baseline", name, cwd=tree)
    assert done.returncode == 2
    assert "known now" not in done.stderr
    assert ((tree / "train.py").read_text(), (tree / "notes.toml").read_text()) == (AMP_CODE, "[tool]\n")


def test_a_fault_that_many_rules_meet_is_said_once() -> None:
    def fail(facts: Facts) -> Iterator[object]:
        raise KeyError("gone")

    rules = [RegisteredRule(each.rule, "", fail) for each in all_rules()]  # type: ignore[arg-type]
    _, [problem] = check_module(Facts("a.py", lower("")), rules)
    assert problem.rule == rules[0].rule.code
    assert problem.message.endswith(f"please report it with the file; {len(rules) - 1} more rules failed by it")


@pytest.mark.parametrize(
    ("name", "meant"), [("rules", "'rule'"), ("help", "'--help'"), ("chek", "'check'"), ("src", "")]
)
def test_a_command_that_there_is_not_is_taken_for_a_slip(tree: Path, name: str, meant: str) -> None:
    done = amplint("--isolated", "--quiet", name, cwd=tree)
    near = f" (did you mean {meant}?)" if meant else ""
    assert (done.returncode, done.stderr) == (2, f"amplint: {name}: does not exist{near}\n")
