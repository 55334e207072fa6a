"""`amplint config`: shows the settings of a folder, who set them, and which files they choose; checks nothing."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from amplint.cli.main import CLEAN
from amplint.cli.parser import add_options, given_values
from amplint.config.load import Resolved, Resolver
from amplint.config.option import Kind, Option
from amplint.config.settings import options as all_options
from amplint.config.usage import UsageError
from amplint.report.visible import visible

_FLAGS = frozenset({"config", "isolated", "exclude", "extend_exclude", "respect_gitignore", "force_exclude"})


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `config` and its flags."""
    text = "show what would be used here, and which file set it"
    usage = "amplint config [--show | --files | --schema] [FLAGS] [PATHS ...]"
    parser = commands.add_parser("config", help=text, usage=usage, description=f"{text.capitalize()}.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--show", dest="what", action="store_const", const="show", help="the settings (default)")
    what.add_argument("--files", dest="what", action="store_const", const="files", help="the files to check")
    what.add_argument("--schema", dest="what", action="store_const", const="schema", help="the schema of the file")
    parser.add_argument("paths", nargs="*", metavar="PATHS", help="a file or a folder (default: .)")
    add_options(parser, names=_FLAGS)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what was asked for. Raises UsageError where the configuration is wrong."""
    if options.what == "schema":
        from amplint.config.schema import schema

        json.dump(schema(), sys.stdout, indent=2)
        print()
        return CLEAN
    cwd = Path.cwd()
    resolver = Resolver(given_values(options), cwd)
    paths = options.paths or ["."]
    if options.what == "files":
        show_files(paths, resolver, cwd)
    else:
        for path in paths:
            show(resolver, Path(os.path.normpath(cwd / path)))
    return CLEAN


def show_files(paths: list[str], resolver: Resolver, cwd: Path) -> None:
    """Print the files that paths lead to, one a line. Raises UsageError for a path that does not exist."""
    from amplint.engine.setup import Setup
    from amplint.source.discover import discover

    found = discover(paths, cwd, Setup(resolver, cwd).limits())
    for problem in found.problems:
        raise UsageError(f"{problem.path} {problem.message}")
    for file in found.files:
        print(visible(file.display))


def show(resolver: Resolver, path: Path) -> None:
    """Print the settings that hold at a path, as TOML, with their origin. Raises UsageError where there is none."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    found = resolver.for_folder(path if path.is_dir() else path.parent)
    print(f"# {path}: {found.file or 'no configuration file'}")
    for option in all_options():
        if option.is_key:
            print(_line(option, found))


def _line(option: Option, found: Resolved) -> str:
    value = getattr(found.settings, option.name)
    origin = found.origins.get(option.name, "default")
    if value is None:
        return f"# {option.key} is not set"
    return f"{option.key} = {_toml(option, value)}  # {origin}"


def _toml(option: Option, value: Any) -> str:
    if option.kind is Kind.TABLE:
        pairs = ", ".join(f"{json.dumps(key)} = {json.dumps(list(items))}" for key, items in value)
        return f"{{ {pairs} }}" if pairs else "{}"
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)
