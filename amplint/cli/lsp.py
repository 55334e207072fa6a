"""`amplint lsp`: serves one editor on standard input and output."""

import argparse

from amplint.cli.main import CLEAN
from amplint.config.usage import UsageError


def add_parser(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `lsp`."""
    text = "serve an editor by the language server protocol on standard input and output"
    parser = commands.add_parser("lsp", help=text, description=f"{text.capitalize()}.")
    parser.set_defaults(run=run)


def run(_: argparse.Namespace) -> int:
    """Serve until the editor leaves. Raises UsageError where the extra is not installed."""
    try:
        from amplint.adapters.lsp import serve
    except ModuleNotFoundError as error:
        if error.name not in ("pygls", "lsprotocol"):
            raise
        raise UsageError('the language server needs pygls: pip install "amplint[lsp]"') from error
    serve()
    return CLEAN
