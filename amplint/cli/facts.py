"""`amplint debug facts FILE`: what amplint takes a file to mean, for those who ask why a rule speaks or is silent.

Shows facts only; judges nothing.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.cli.main import CLEAN
from amplint.config.usage import UsageError

if TYPE_CHECKING:
    from amplint.facts.gather import Facts
    from amplint.facts.protocol.readings import Reading
    from amplint.model.tree import Node


def add_parser(shown: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `facts` to what `debug` can show."""
    parser = shown.add_parser("facts", help="what amplint takes a file to mean: autocast regions, events of scalers")
    parser.add_argument("file", type=Path, help="a Python file or a notebook")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the facts. Raises UsageError where the file cannot be read or parsed."""
    for line in described(options.file):
        print(line)
    return CLEAN


def described(path: Path) -> Iterator[str]:
    """The facts of a file, with those of the files that it imports."""
    # The parser's library takes long to load, and the parser of arguments needs only this module.
    from amplint.config.load import Resolver
    from amplint.engine.session import Project, Session
    from amplint.engine.setup import Setup
    from amplint.source.text import SourceError, read_source
    from amplint.syntax.fault import SyntaxFaultError

    cwd = Path.cwd()
    place = cwd / path
    try:
        source = read_source(place, str(path))
        session = Session(Setup(Resolver({}, cwd), cwd), Project({str(place): str(path)}))
        facts = session.linker.facts_for(place, source)
    except (SourceError, SyntaxFaultError) as error:
        raise UsageError(f"{path}: {error}") from error
    yield f"{path}: module {facts.dotted_name}, for torch {facts.settings.target} or newer"
    yield from _regions(facts)
    for reading in facts.protocol:
        yield from _events(reading)


def _regions(facts: "Facts") -> Iterator[str]:
    for region in facts.regions.all:
        words = [
            "off" if region.is_off else "perhaps no region" if region.is_optional else "",
            f"device {_either(region.devices)}",
            f"dtype {_either(region.dtypes)}",
        ]
        yield f"{_place(region.shown)} autocast region: {', '.join(word for word in words if word)}"


def _events(reading: "Reading") -> Iterator[str]:
    from amplint.knowledge.protocol import EventKind
    from amplint.model.tree import Module

    owner = reading.root.function
    name = "the module" if isinstance(owner, Module) else owner.name
    yield f"{_place(owner)} read from {name}:"
    for step, _ in reading.scene.calls:
        for happening in reading.events.of(step):
            scaler = reading.spelled_scaler(happening.scaler, step) if happening.scaler is not None else ""
            known = happening.optimizers
            if known is not None:
                optimizers = ", ".join(reading.spelled_optimizer(each, step) for each in known)
            else:
                optimizers = "" if happening.kind in (EventKind.SCALE, EventKind.UPDATE) else "?"
            home = reading.scene.homes[step.frame].path
            parts = [f"    {home}:{_place(step.node)}", str(happening.kind or "backward")]
            parts += [f"scaler {scaler}"] if scaler else []
            parts += [f"optimizer {optimizers}"] if optimizers else []
            yield "  ".join(parts)


def _either(values: frozenset[str | None]) -> str:
    return " or ".join(sorted("unknown" if value is None else value for value in values))


def _place(node: "Node") -> str:
    return f"{node.span.line}:{node.span.column + 1}"
