"""The command line's grammar; flags come from the list of options, commands from their own modules."""

import argparse
from collections.abc import Sequence
from importlib import import_module
from itertools import groupby
from typing import Any, NoReturn

from amplint import __version__
from amplint.cli.main import COMMANDS
from amplint.config.option import Kind, Option
from amplint.config.settings import options
from amplint.config.usage import UsageError, did_you_mean

_ALWAYS = ("-h", "--help", "-V", "--version")


def _wide(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, width=1000)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are the user's, in one line, and whose flags are written out.

    An abbreviation that is unique today may be ambiguous tomorrow.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        # Only a person's help is as wide as the terminal, and asking how wide that is loads a module.
        super().__init__(*arguments, **{"allow_abbrev": False, "formatter_class": _wide, **options})

    def format_help(self) -> str:
        """The help, as wide as the terminal."""
        self.formatter_class = argparse.HelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}; see `{self.prog} --help`")


def parse(given: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments, with the command's function in `run`. Without a command it is `check`.

    Raises UsageError.
    """
    first = given[0] if given else ""
    if first not in COMMANDS and first not in _ALWAYS:
        given = ["check", *given]
    parser = Parser(
        prog="amplint",
        description="Find, repair and verify misuse of PyTorch automatic mixed precision (AMP).",
        epilog="`amplint PATHS` is `amplint check PATHS`; `amplint COMMAND --help` says more.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"amplint {__version__}")
    commands = parser.add_subparsers(prog="amplint", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        if name == given[0]:
            import_module(f"amplint.cli.{name}").add_parser(commands)
        else:
            commands.add_parser(name, help=text, add_help=False)
    parsed, unknown = parser.parse_known_args(given)
    if unknown:
        flags = [flag for option in options() for flag in option.flags]
        is_elsewhere = unknown[0].partition("=")[0] in flags
        near = " (a flag of other commands)" if is_elsewhere else did_you_mean(unknown[0], flags)
        raise UsageError(f"unrecognized arguments: {' '.join(unknown)}{near}; see `amplint {given[0]} --help`")
    return parsed


def add_options(parser: argparse.ArgumentParser, *, names: frozenset[str] | None = None) -> None:
    """Add the flags of the options (of these names only, where names are given), under their headings."""
    wanted = [option for option in options() if option.flags and (names is None or option.name in names)]
    wanted.sort(key=lambda option: list(type(option.group)).index(option.group))
    for group, members in groupby(wanted, key=lambda option: option.group):
        heading = parser.add_argument_group(group)
        for option in members:
            _add(heading, option)


def _add(heading: Any, option: Option) -> None:
    text = (option.help[0].lower() + option.help[1:]).removesuffix(".").replace("%", "%%")
    if option.kind is Kind.SWITCH:
        positive = [flag for flag in option.flags if not flag.startswith("--no-") or option.name.startswith("no_")]
        heading.add_argument(*positive, dest=option.name, action="store_const", const=True, help=text)
        for flag in sorted(set(option.flags) - set(positive)):
            opposite = f"the opposite of `{positive[0]}`"
            heading.add_argument(flag, dest=option.name, action="store_const", const=False, help=opposite)
    elif option.kind is Kind.LIST:
        heading.add_argument(
            *option.flags, dest=option.name, action="extend", type=_split, metavar=option.metavar, help=text
        )
    elif option.choices:
        heading.add_argument(*option.flags, dest=option.name, choices=option.choices, help=text)
    else:
        heading.add_argument(*option.flags, dest=option.name, metavar=option.metavar, help=text)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def given_values(parsed: argparse.Namespace) -> dict[str, Any]:
    """The values of options that the command line gave, by name."""
    found = {option.name: getattr(parsed, option.name, None) for option in options()}
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in found.items() if value is not None
    }
