"""Every option that amplint has, once: command-line flags, configuration keys, their schema and their page follow.

Knows no file and no command line.
"""

from functools import cache
from typing import Any

from amplint.config.option import Group, Kind, Option, list_of, option, switch

DEFAULT_EXCLUDES = (
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache",
    ".ruff_cache", ".svn", ".tox", ".venv", ".vscode", "__pycache__", "__pypackages__", "_build", "buck-out", "build",
    "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip
FORMATS = ("text", "concise", "json", "json-lines", "sarif", "github", "gitlab", "junit")


_SELECTORS = "SELECTORS"


class Settings:
    """All options with their values; their names are the keys with underscores. Nothing changes them."""

    select: tuple[str, ...] | None = list_of(
        Group.RULES,
        "Rules to use instead of the default ones: codes, prefixes, names or ALL.",
        "--select",
        default=None,
        metavar=_SELECTORS,
        example='["AMP1", "clip-of-scaled-gradients"]',
    )
    extend_select: tuple[str, ...] = list_of(
        Group.RULES, "Rules to use beside those.", "--extend-select", metavar=_SELECTORS, example='["AMP405"]'
    )
    ignore: tuple[str, ...] = list_of(
        Group.RULES,
        "Rules not to use; the longest selector that names a rule decides.",
        "--ignore",
        metavar=_SELECTORS,
        example='["AMP105"]',
    )
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = option(
        Kind.TABLE,
        Group.RULES,
        "Rules not to use in files that match a pattern.",
        default=(),
        example='{ "benchmarks/*" = ["AMP2"] }',
    )
    preview: bool = switch(
        Group.RULES,
        "Use the rules in preview beside the default ones; what they report may change in any release.",
        "--preview",
        example="true",
    )
    fix: bool = switch(Group.FIXES, "Apply safe fixes.", "--fix", is_key=False)
    unsafe_fixes: bool = switch(Group.FIXES, "Apply or show unsafe fixes too.", "--unsafe-fixes", is_key=False)
    migrations_only: bool = switch(
        Group.FIXES, "Apply only fixes that keep every number of a run.", "--migrations-only", is_key=False
    )
    diff: bool = switch(
        Group.FIXES, "Show what fixes would change as a diff, and write nothing.", "--diff", is_key=False
    )
    fixable: tuple[str, ...] = list_of(
        Group.FIXES,
        "Rules whose fixes may be applied.",
        "--fixable",
        default=("ALL",),
        metavar=_SELECTORS,
        example='["AMP1"]',
    )
    unfixable: tuple[str, ...] = list_of(
        Group.FIXES,
        "Rules whose fixes may not be applied.",
        "--unfixable",
        metavar=_SELECTORS,
        example='["AMP201"]',
    )
    extend_safe_fixes: tuple[str, ...] = list_of(
        Group.FIXES, "Rules whose unsafe fixes count as safe here.", metavar=_SELECTORS, example='["AMP301"]'
    )
    extend_unsafe_fixes: tuple[str, ...] = list_of(
        Group.FIXES, "Rules whose safe fixes count as unsafe here.", metavar=_SELECTORS, example='["AMP201"]'
    )
    exclude: tuple[str, ...] = list_of(
        Group.FILES,
        "Patterns of files and folders to leave out, instead of the default ones; relative to the configuration file.",
        "--exclude",
        default=DEFAULT_EXCLUDES,
        metavar="PATTERNS",
        example='["third_party"]',
    )
    extend_exclude: tuple[str, ...] = list_of(
        Group.FILES,
        "Patterns to leave out beside those.",
        "--extend-exclude",
        metavar="PATTERNS",
        example='["*_legacy.py"]',
    )
    respect_gitignore: bool = switch(
        Group.FILES,
        "Leave out what git ignores (default).",
        "--respect-gitignore",
        "--no-respect-gitignore",
        default=True,
        example="false",
    )
    force_exclude: bool = switch(
        Group.FILES,
        "Apply the excludes also to files named on the command line.",
        "--force-exclude",
        "--no-force-exclude",
        example="true",
    )
    src: tuple[str, ...] = list_of(
        Group.FILES,
        "Folders from which absolute imports are found, relative to the configuration file.",
        default=(".", "src"),
        example='["src", "lib"]',
    )
    stdin_filename: str | None = option(
        Kind.TEXT,
        Group.FILES,
        "The name that the text from standard input has.",
        "--stdin-filename",
        is_key=False,
        metavar="PATH",
    )
    show_files: bool = switch(
        Group.FILES, "Print the files that would be checked, and stop.", "--show-files", is_key=False
    )
    target_torch: str = option(
        Kind.TEXT,
        Group.MEANING,
        "The lowest torch that the code must run on, as 2.4, or `auto`: the project's own dependency list.",
        "--target-torch",
        default="auto",
        metavar="VERSION",
        example='"2.1"',
    )
    scaler_names: tuple[str, ...] = list_of(
        Group.MEANING,
        "Dotted names of classes that scale losses as torch.amp.GradScaler does.",
        metavar="NAMES",
        example='["mylib.amp.LossScaler"]',
    )
    clip_functions: tuple[str, ...] = list_of(
        Group.MEANING,
        "Dotted names of functions that clip gradients as torch.nn.utils.clip_grad_norm_ does.",
        metavar="NAMES",
        example='["mylib.optim.clip_gradients"]',
    )
    output_format: str = option(
        Kind.TEXT,
        Group.OUTPUT,
        f"How findings are written: {', '.join(FORMATS)}. On the command line also several, as `text,sarif:out.sarif`.",
        "--output-format",
        default="text",
        metavar="FORMAT[:FILE],...",
        example='"concise"',
    )
    output_file: str | None = option(
        Kind.TEXT,
        Group.OUTPUT,
        "The file to write findings to instead of standard output.",
        "--output-file",
        "-o",
        is_key=False,
        metavar="FILE",
    )
    docs_url: str | None = option(
        Kind.TEXT,
        Group.OUTPUT,
        "The address of a built copy of this documentation, which findings then link to.",
        example='"https://docs.example.com/amplint/"',
    )
    color: str = option(
        Kind.TEXT,
        Group.OUTPUT,
        "When to colour.",
        "--color",
        default="auto",
        is_key=False,
        choices=("auto", "always", "never"),
    )
    statistics: bool = switch(
        Group.OUTPUT, "Count findings by rule instead of listing them.", "--statistics", is_key=False
    )
    quiet: bool = switch(Group.OUTPUT, "Write findings and problems only, no summary.", "--quiet", "-q", is_key=False)
    fail_on: str = option(
        Kind.TEXT,
        Group.OUTPUT,
        "The least severity that makes the exit code 1.",
        "--fail-on",
        default="advice",
        choices=("error", "warning", "advice"),
        example='"warning"',
    )
    exit_zero: bool = switch(Group.OUTPUT, "Exit with 0 whatever is found.", "--exit-zero", is_key=False)
    exit_non_zero_on_fix: bool = switch(
        Group.OUTPUT, "Exit with 1 also where every finding was fixed.", "--exit-non-zero-on-fix", is_key=False
    )
    baseline: str | None = option(
        Kind.TEXT,
        Group.ADOPTION,
        "A file of known findings that are neither reported nor fixed, relative to the configuration file.",
        "--baseline",
        metavar="FILE",
        example='"amplint-baseline.json"',
    )
    no_baseline: bool = switch(
        Group.ADOPTION, "Report and fix what the baseline knows, too.", "--no-baseline", is_key=False
    )
    add_ignore: bool = switch(
        Group.ADOPTION,
        "Write a suppression comment for every finding instead of reporting it.",
        "--add-ignore",
        is_key=False,
    )
    diff_base: str | None = option(
        Kind.TEXT,
        Group.ADOPTION,
        "Report and fix only findings on lines changed since this git revision.",
        "--diff-base",
        is_key=False,
        metavar="REVISION",
    )
    config: str | None = option(
        Kind.TEXT,
        Group.RUN,
        "The configuration file to use for every file.",
        "--config",
        is_key=False,
        metavar="FILE",
    )
    isolated: bool = switch(Group.RUN, "Read no configuration and no dependency list.", "--isolated", is_key=False)
    extend: str | None = option(
        Kind.TEXT,
        Group.RUN,
        "A configuration file whose values hold where this one has none; its paths count from this file's folder.",
        example='"../amplint.toml"',
    )
    required_version: str | None = option(
        Kind.TEXT, Group.RUN, "The amplint that this configuration is for.", example='">=0.1"'
    )
    jobs: str = option(
        Kind.TEXT,
        Group.RUN,
        "How many processes to use, or `auto`.",
        "--jobs",
        "-j",
        default="auto",
        is_key=False,
        metavar="N",
    )
    no_cache: bool = switch(Group.RUN, "Neither read nor write the cache.", "--no-cache", is_key=False)
    timing: bool = switch(Group.RUN, "Say on standard error where the time went.", "--timing", is_key=False)

    def __init__(self, **given: Any) -> None:
        values = {option.name: option.default for option in options()}
        vars(self).update(values | given)


@cache
def options() -> tuple[Option, ...]:
    """All options in the order in which help and documentation show them."""
    return tuple(value for value in vars(Settings).values() if isinstance(value, Option))
