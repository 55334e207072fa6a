"""What is built for others: wheel and source distribution, and what they say about themselves."""

import email
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import amplint
from amplint.config.settings import FORMATS
from docs import transcripts

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
    parts = {part for name in wheel_names for part in name.split("/")}
    assert not any(part.startswith(("test", "conftest", "__pycache__")) for part in parts)


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


def test_a_plain_install_needs_four_packages(metadata: Message) -> None:
    needed = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert sorted(line.split(">")[0] for line in needed) == ["libcst", "msgspec", "pathspec", "rich"]


def test_extras(metadata: Message) -> None:
    assert set(metadata.get_all("Provides-Extra", [])) == {"torch", "flake8", "lsp", "docs", "dev"}


def test_entry_points(built: Path, wheel_names: list[str]) -> None:
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        name = next(name for name in wheel_names if name.endswith("entry_points.txt"))
        text = archive.read(name).decode()
    assert "amplint = amplint.cli.main:enter" in text
    assert "AMP = amplint.adapters.flake8:Plugin" in text


def test_source_distribution(built: Path) -> None:
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    assert {"README.md", "LICENSE", "pyproject.toml", "amplint/py.typed", "docs/generate.py"} <= names
    assert not any(name.startswith(("tests", ".ci")) for name in names)


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `amplint` command of an empty environment that only the wheel was installed into."""
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder / "venv", with_pip=True)
    scripts = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    install = [scripts / "python", "-m", "pip", "install", "--quiet", next(built.glob("*.whl"))]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return scripts / "amplint"


def call(command: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run([command, *arguments], capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.network
def test_every_command_of_a_plain_install_works_or_says_what_it_needs(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "examples"
    assert call(installed, "--version", folder=folder).stdout == f"amplint {amplint.__version__}\n"
    found = call(installed, folder=folder)
    assert (found.returncode, "AMP201" in found.stdout, "Traceback" in found.stderr) == (1, True, False)
    assert call(installed, "rule", "AMP201", folder=folder).returncode == 0
    assert call(installed, "rule", "--all", folder=folder).returncode == 0
    for what in ("--show", "--files", "--schema"):
        assert call(installed, "config", what, folder=folder).returncode == 0
    assert call(installed, "baseline", "write", folder=folder).returncode == 0
    assert call(installed, "--baseline", "amplint-baseline.json", folder=folder).returncode == 0
    assert call(installed, "baseline", "prune", folder=folder).returncode == 0
    assert "scale" in call(installed, "debug", "facts", "engine.py", folder=folder).stdout
    for format in FORMATS:
        assert call(installed, "--output-format", format, folder=folder).returncode == 1
    assert "+++ engine.py" in call(installed, "--diff", folder=folder).stdout
    assert "flowchart TD" in call(installed, "debug", "graph", "engine.py", folder=folder).stdout
    assert call(installed, "check", "--fix", folder=folder).returncode in (0, 1)
    assert "unscale_" in (folder / "engine.py").read_text()
    for needs, arguments in (("torch", ["run", "train.py"]), ("torch", ["verify", "train.py"]), ("lsp", ["lsp"])):
        refused = call(installed, *arguments, folder=folder)
        assert refused.returncode == 2
        assert f'"amplint[{needs}]"' in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.network
@pytest.mark.parametrize("name", ["README.md", "docs/tutorial.md", "docs/guides/adopting.md"])
def test_a_newcomer_sees_what_the_documents_show(installed: Path, name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    without_torch = text.replace(
        "```console\n$ amplint verify", "<!-- not run: no torch -->\n```console\n$ amplint verify"
    )
    assert transcripts.with_outputs(without_torch, installed) == without_torch


@pytest.mark.network
@pytest.mark.parametrize("runner", [["pipx", "run", "--spec"], ["uv", "tool", "run", "--from"]], ids=["pipx", "uvx"])
def test_it_runs_without_being_installed(built: Path, tmp_path: Path, runner: list[str]) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    scripts = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin")
    subprocess.run([scripts / "python", "-m", "pip", "install", "--quiet", runner[0]], check=True, capture_output=True)
    wheel = next(built.glob("*.whl"))
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    variables |= {"PIPX_HOME": str(tmp_path / "pipx"), "UV_CACHE_DIR": str(tmp_path / "uv")}
    command = [scripts / runner[0], *runner[1:], wheel, "amplint", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=variables)
    assert done.stdout == f"amplint {amplint.__version__}\n", done.stderr
