"""What is built for others: wheel and source distribution, and what they say about themselves."""

import email
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import amplint

ROOT = Path(__file__).parent.parent
PARTS = ("amplint", "docs", "README.md", "LICENSE", "pyproject.toml", ".gitignore")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution of a clean copy."""
    copy = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, copy / part, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copy(source, copy / part)
    (copy / "tests").mkdir()
    (copy / "tests" / "test_nothing.py").write_text("")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=copy)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


@pytest.fixture(scope="module")
def wheel_names(built: Path) -> list[str]:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return archive.namelist()


@pytest.fixture(scope="module")
def metadata(built: Path, wheel_names: list[str]) -> Message:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        name = next(name for name in wheel_names if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def test_wheel_holds_the_package_alone(wheel_names: list[str]) -> None:
    tops = {name.split("/")[0] for name in wheel_names}
    assert tops == {"amplint", f"amplint-{amplint.__version__}.dist-info"}
    assert "amplint/py.typed" in wheel_names
    assert not any("test" in name or "__pycache__" in name for name in wheel_names)


def test_wheel_holds_every_module(wheel_names: list[str]) -> None:
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "amplint").rglob("*.py")}
    assert modules <= set(wheel_names)


def test_metadata(metadata: Message) -> None:
    assert metadata["Name"] == "amplint"
    assert metadata["Version"] == amplint.__version__
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().startswith("# amplint")


def test_a_plain_install_needs_three_packages(metadata: Message) -> None:
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(line.split(">")[0] for line in needed) == ["libcst", "pathspec", "rich"]


def test_extras(metadata: Message) -> None:
    assert set(metadata.get_all("Provides-Extra", [])) == {"torch", "flake8", "lsp", "docs", "dev"}


def test_entry_points(built: Path, wheel_names: list[str]) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        name = next(name for name in wheel_names if name.endswith("entry_points.txt"))
        text = archive.read(name).decode()
    assert "amplint = amplint.cli.main:main" in text
    assert "AMP = amplint.adapters.flake8:Plugin" in text


def test_source_distribution(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"README.md", "LICENSE", "pyproject.toml", "amplint/py.typed", "docs/generate.py"} <= names
    assert not any(name.startswith(("tests", ".ci")) for name in names)
