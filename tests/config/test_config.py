"""Where settings come from, and what is said when they are wrong."""

from pathlib import Path, PureWindowsPath

import jsonschema
import pytest

from amplint.config.globs import Globs
from amplint.config.load import Resolver
from amplint.config.schema import schema
from amplint.config.settings import Settings, options
from amplint.config.torch_version import ProjectTorch, lower_bound, parse_version
from amplint.config.usage import UsageError
from amplint.config.values import check_required_version


def _settings(folder: Path, **given: object) -> Settings:
    return Resolver(given, folder).for_folder(folder).settings


def test_the_nearest_file_decides_alone(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "amplint.toml").write_text('ignore = ["AMP1"]\ntarget-torch = "2.1"\n')
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.amplint]\nselect = ["AMP2"]\n')
    (inner / "pyproject.toml").write_text('[project]\nname = "amplint-user"\n')
    resolver = Resolver({}, tmp_path)
    found = resolver.for_folder(inner)
    assert found.settings.select == ("AMP2",)
    assert found.settings.ignore == ()
    assert found.file == tmp_path / "a" / "pyproject.toml"
    assert resolver.top().settings.target_torch == "2.1"
    assert resolver.top().origins["ignore"] == str(tmp_path / "amplint.toml")


def test_the_command_line_is_laid_over(tmp_path: Path) -> None:
    (tmp_path / "amplint.toml").write_text('target-torch = "2.1"\n')
    found = Resolver({"target_torch": "2.6", "quiet": None}, tmp_path).top()
    assert found.settings.target_torch == "2.6"
    assert found.origins == {"target_torch": "command line"}
    assert _settings(tmp_path, isolated=True).target_torch == "auto"


def test_extend(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text('ignore = ["AMP1"]\nextend-select = ["AMP405"]\n')
    (tmp_path / "amplint.toml").write_text('extend = "base.toml"\nextend-select = ["AMP601"]\nignore = []\n')
    found = _settings(tmp_path)
    assert found.ignore == ()
    assert found.extend_select == ("AMP405", "AMP601")
    (tmp_path / "base.toml").write_text('extend = "amplint.toml"\n')
    with pytest.raises(UsageError, match="extends itself"):
        _settings(tmp_path)
    (tmp_path / "base.toml").unlink()
    with pytest.raises(UsageError, match="does not exist"):
        _settings(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('selct = ["AMP1"]', r"unknown key 'selct' \(did you mean 'select'\?\)"),
        ('select = "AMP1"', "`select` must be a list of strings"),
        ("target-torch = 2.1", "`target-torch` must be a string"),
        ('fail-on = "never"', "one of error, warning, advice"),
        ("fix = true", "'fix' is no key; --fix is for the command line only"),
        ('per-file-ignores = ["a"]', "table of lists"),
        ("respect-gitignore = 1", "true or false"),
        ("x = [", "is not TOML"),
        ('required-version = ">=99"', "requires amplint >=99, this is"),
    ],
)
def test_wrong_files_are_usage_errors(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "amplint.toml").write_text(text + "\n")
    with pytest.raises(UsageError, match=message):
        _settings(tmp_path)


def test_missing_config_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        _settings(tmp_path, config="nope.toml")
    with pytest.raises(UsageError, match="exclude each other"):
        Resolver({"config": "x", "isolated": True}, tmp_path)


def test_every_option_is_described_and_examples_are_valid(tmp_path: Path) -> None:
    keys = [option for option in options() if option.is_key]
    assert all(option.help.endswith(".") for option in options())
    assert all(option.example for option in keys)
    text = "\n".join(
        f"{option.key} = {option.example}" for option in keys if option.name not in ("extend", "required_version")
    )
    (tmp_path / "amplint.toml").write_text(text)
    assert _settings(tmp_path).respect_gitignore is False
    import tomllib

    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(tomllib.loads(text), schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"selct": []}, schema())


@pytest.mark.parametrize(
    ("pattern", "path", "is_match"),
    [
        ("build", "a/build/x.py", True),
        ("*.py", "a/b.py", True),
        ("tests/*", "tests/a/b.py", True),
        ("tests/*", "x/tests/a.py", False),
        ("/a.py", "a.py", True),
        ("/a.py", "b/a.py", False),
        ("**/gen/*.py", "x/y/gen/a.py", True),
        ("a/**/z.py", "a/z.py", True),
        ("a?.py", "ab.py", True),
        ("[!a].py", "a.py", False),
        ("[ab].py", "b.py", True),
        ("./docs/", "docs/conf.py", True),
        ("a.b", "axb", False),
        ("[", "[", True),
        ("[!", "[!", True),
        ("[!]", "[!]", True),
        ("[]a]", "]", True),
        ("[^]]", "]", False),
        ("x[!a]y", "x/y", False),
        ("[x&&y]", "&", True),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        (r"\!a", "!a", True),
        ("/r/a/*.py", "a/b.py", True),
        ("/r/a/*.py", "b/a/b.py", False),
        ("/q/a.py", "q/a.py", True),
    ],
)
def test_globs(pattern: str, path: str, is_match: bool) -> None:
    assert Globs([pattern], Path("/r")).match(Path("/r", path)) is is_match


@pytest.mark.parametrize("pattern", [r"a\b", r"a\*.py", "a/b", r"C:\r\a\b", "C:/r/a", r"**\c.py"])
def test_globs_where_a_backslash_separates(pattern: str) -> None:
    root = PureWindowsPath("C:/r")
    assert Globs([pattern], root).match(root / "a" / "b" / "c.py") is (pattern != r"a\*.py")


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (r"a\b", r"pattern 'a\\b': write `/` between folders"),
        ("a\\", "write `/` between folders"),
        ("!a", "pattern '!a': there are no exceptions"),
        ("../a", "leads out of its folder"),
        ("[z-a].py", "cannot be read: bad character range z-a"),
    ],
)
@pytest.mark.parametrize("key", ["exclude", "extend-exclude", "per-file-ignores"])
def test_patterns_that_cannot_be_meant(tmp_path: Path, key: str, pattern: str, message: str) -> None:
    value = f"{{ '{pattern}' = ['AMP1'] }}" if key == "per-file-ignores" else f"['{pattern}']"
    (tmp_path / "amplint.toml").write_text(f"{key} = {value}")
    with pytest.raises(UsageError) as failure:
        Resolver({}, tmp_path).top().per_file()
    assert str(failure.value).startswith(f"{tmp_path / 'amplint.toml'}: ")
    assert message in str(failure.value)


@pytest.mark.parametrize(
    ("line", "bound"),
    [
        ("torch>=2.1", (2, 1)),
        ("torch", None),
        ("torch==1.13.1+cu117", (1, 13)),
        ("torch~=2.3", (2, 3)),
        ("torch >= 1.8, < 3", (1, 8)),
        ("torch[opt] >=2.0; python_version<'3.12'", (2, 0)),
        ("torch<2", (1, 6)),
        ("torch==1.*", (1, 0)),
        ("torchvision>=0.9", None),
        ("torch-geometric>=2.9", None),
        ("  - pytorch=1.9", (1, 9)),
        ("- pytorch::pytorch=2.0=cuda", (2, 0)),
        ("torch (>=1.4)", (1, 4)),
        ("torch!=2.0", None),
        ("# torch>=1.0", None),
    ],
)
def test_lower_bound(line: str, bound: tuple[int, int] | None) -> None:
    assert lower_bound(line) == bound


def test_project_torch_looks_up_to_the_project_s_root(tmp_path: Path) -> None:
    inner = tmp_path / "proj" / "pkg"
    inner.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("torch>=1.0\n")
    (tmp_path / "proj" / "setup.cfg").write_text("[options]\ninstall_requires =\n    torch>=1.9\n")
    assert ProjectTorch().of(inner) == (1, 9)
    (tmp_path / "proj" / "requirements-dev.txt").write_text("numpy\ntorch>=2.2\n")
    assert ProjectTorch().of(inner) == (2, 2)
    pyproject = tmp_path / "proj" / "pyproject.toml"
    pyproject.write_text('[project]\ndependencies=["torch>=2.3"]\n[project.optional-dependencies]\na=["torch>=2.5"]\n')
    assert ProjectTorch().of(inner) == (2, 3)
    for name in ("setup.cfg", "requirements-dev.txt"):
        (tmp_path / "proj" / name).unlink()
    pyproject.write_text("[project]\n")
    assert ProjectTorch().of(inner) is None


@pytest.mark.parametrize(
    ("name", "text", "bound"),
    [
        ("setup.py", 'setup(install_requires=["numpy", "torch>=1.8,<3"])\n', (1, 8)),
        ("setup.py", 'DEPS = {"torch": "torch>=1.4; python_version>\'3.6\'"}\n', (1, 4)),
        ("setup.py", '# "torch>=1.0"\nHELP = "torch>=1.2 is what this was tried with"\n', None),
        ("setup.py", 'import torch\nprint "torch>=1.0"\n', None),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "^1.9.1"\n', (1, 9)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = {version = "~2.1", source = "wheels"}\n', (2, 1)),
        ("pyproject.toml", '[tool.poetry.group.train.dependencies]\ntorch = "2.0.1+cu118"\n', (2, 0)),
        ("pyproject.toml", '[tool.poetry.dependencies]\ntorch = "*"\n', None),
        ("pyproject.toml", '[dependency-groups]\ntrain = ["torch>=2.2", {include-group = "dev"}]\n', (2, 2)),
        ("pyproject.toml", "tool = 1\n[dependency-groups]\n", None),
    ],
)
def test_project_torch_of_other_lists(tmp_path: Path, name: str, text: str, bound: tuple[int, int] | None) -> None:
    (tmp_path / name).write_text(text)
    assert ProjectTorch().of(tmp_path) == bound


@pytest.mark.parametrize("text", ["2", "two", "", "2.x"])
def test_bad_versions(text: str) -> None:
    with pytest.raises(UsageError, match="no version"):
        parse_version(text)
    assert parse_version("2.4.1+cpu") == (2, 4)


@pytest.mark.parametrize(
    ("required", "is_met"), [("0.1.0", True), (">=0.1", True), (">=0.1,<0.2", True), ("<0.1", False), ("==0.1", True)]
)
def test_required_version(required: str, is_met: bool) -> None:
    if is_met:
        check_required_version(required, "0.1.0", "x")
    else:
        with pytest.raises(UsageError):
            check_required_version(required, "0.1.0", "x")
