"""Discovery finds what git would call the project's own files."""

import os
import subprocess
from pathlib import Path

import pytest

from amplint.config.load import Resolver
from amplint.source.discover import Discovery, Limits, discover


def _write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x = 1\n")


def _discover(root: Path, *paths: str, **given: object) -> Discovery:
    resolver = Resolver(given, root)
    settings = resolver.top().settings
    limits = Limits(
        lambda folder: resolver.for_folder(Path(folder)).excluded_in(folder),
        settings.respect_gitignore,
        settings.force_exclude,
    )
    return discover(paths or (".",), root, limits)


def _names(found: Discovery) -> list[str]:
    return [file.display for file in found.files]


@pytest.fixture(params=["git", "plain"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    if request.param == "git":
        subprocess.run(["git", "init", "-q", tmp_path], check=True)
    _write(tmp_path, "a.py", "pkg/b.py", "pkg/c.pyi", "pkg/n.ipynb", "build/d.py", "out/e.py", "out/keep.py", "x.txt")
    (tmp_path / ".gitignore").write_text("out/*\n!out/keep.py\n")
    return tmp_path


def test_walks_and_honours_gitignore(root: Path) -> None:
    assert _names(_discover(root)) == ["a.py", "out/keep.py", "pkg/b.py", "pkg/n.ipynb"]
    assert _names(_discover(root, respect_gitignore=False)) == [
        "a.py",
        "out/e.py",
        "out/keep.py",
        "pkg/b.py",
        "pkg/n.ipynb",
    ]


@pytest.mark.parametrize(
    "lines",
    ["b\n!c\n", "b/\n!/b\n", "b/c/\n!b/\n", "**/c\n!b\n", "b\n!b/**\n", "*/\n!c\n", "*\n!*/\n!*.py\n", "/b/*\n!c/\n"],
)
def test_a_pattern_fits_a_name_and_not_what_is_below_it_as_in_git(tmp_path: Path, lines: str) -> None:
    for name in ("a.py", "b/a.py", "b/b/a.py", "b/c/a.py", "c/a.py", "c/b/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(lines)
    outside = _names(_discover(tmp_path))
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    assert outside == _names(_discover(tmp_path))


def test_a_line_of_gitignore_that_is_no_pattern_is_passed_over(root: Path) -> None:
    (root / ".gitignore").write_bytes("\ufeffout/\r\n!\r\n[z-a]\n\\\nno\u2028a.py\nbuild/\npkg/\r\n".encode())
    assert _names(_discover(root)) == ["a.py"]


def test_named_paths(root: Path) -> None:
    assert _names(_discover(root, "pkg/", "a.py", "pkg/b.py", "x.txt")) == ["pkg/b.py", "pkg/n.ipynb", "a.py", "x.txt"]
    assert _names(_discover(root, "build")) == ["build/d.py"], "a folder named on purpose is taken"
    assert _names(_discover(root, "build/d.py", force_exclude=True)) == []
    assert _names(_discover(root, str(root / "pkg"))) == [str(root / "pkg/b.py"), str(root / "pkg/n.ipynb")]


def test_excludes(root: Path) -> None:
    assert _names(_discover(root, exclude=("pkg",))) == ["a.py", "build/d.py", "out/keep.py"]
    assert _names(_discover(root, extend_exclude=("pkg/*.py",))) == ["a.py", "out/keep.py", "pkg/n.ipynb"]


def test_missing_paths_are_problems(root: Path) -> None:
    found = _discover(root, "nope", "a.py")
    assert _names(found) == ["a.py"]
    assert [(problem.path, problem.message) for problem in found.problems] == [("nope", "does not exist")]
    os.mkfifo(root / "pipe")
    assert "neither a file nor a folder" in _discover(root, "pipe").problems[0].message


def test_links_stay_in_the_tree(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    _write(other, "z.py")
    (root / "z.py").symlink_to(other / "z.py")
    (root / "dangling.py").symlink_to("nowhere.py")
    (root / "twice.py").symlink_to("a.py")
    (root / "loop").symlink_to(root, target_is_directory=True)
    assert _names(_discover(root)) == ["a.py", "out/keep.py", "pkg/b.py", "pkg/n.ipynb"]
    assert _names(_discover(root, "z.py")) == ["z.py"]


def test_an_ignored_folder_named_on_purpose_is_taken(root: Path) -> None:
    (root / ".gitignore").write_text("pkg/\n")
    assert _names(_discover(root, "pkg")) == ["pkg/b.py", "pkg/n.ipynb"]


def test_repositories_inside_are_entered(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "init", "-q", tmp_path / "inner"], check=True)
    _write(tmp_path, "a.py", "inner/b.py", "inner/skip.py")
    (tmp_path / "inner/.gitignore").write_text("skip.py\n")
    assert _names(_discover(tmp_path)) == ["a.py", "inner/b.py"]


def test_tracked_but_deleted_files_are_passed_over(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    _write(tmp_path, "a.py", "b.py")
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    (tmp_path / "b.py").unlink()
    assert _names(_discover(tmp_path)) == ["a.py"]
