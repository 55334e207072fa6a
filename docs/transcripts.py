"""Runs the commands that documents show, and holds what the documents say comes out: `python -m docs.transcripts`.

A fenced `console` block is run as printed, in a fresh folder that holds docs/examples, one shell for each document. A
line `[...]` stands for any lines. A comment `<!-- not run: why -->` before a block keeps it from being run.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ELISION = "[...]"
# What documents show instead of the fresh folder.
HOME = "/home/you/project"
_BLOCK = re.compile(r"(?P<note><!-- not run: [^>]*-->\n+)?^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_MARK = "<<<amplint transcript>>>"


@dataclass(frozen=True, slots=True)
class Command:
    """A command as its document shows it, as the shell reads it, and the output that the document shows."""

    shown: str
    text: str
    output: str


def documents() -> list[Path]:
    """Every hand-written document that shows a session."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path for path in found if "_build" not in path.parts and _bodies(path.read_text(encoding="utf-8"))]


def commands(body: str) -> list[Command]:
    """The commands of a block. A line after a backslash, and one that starts with `> `, goes on with the command."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        lines = part.splitlines(keepends=True)
        count = 1
        while count < len(lines) and (lines[count - 1].endswith("\\\n") or lines[count].startswith("> ")):
            count += 1
        text = "".join(line.removeprefix("> ") for line in lines[:count])
        found.append(Command("".join(lines[:count]), text, "".join(lines[count:])))
    return found


def with_outputs(text: str, installed: Path | None = None) -> str:
    """A document with the outputs that its commands have now; where the shown one still fits it is kept.

    They run this checkout, or the `amplint` that is installed somewhere.
    """
    shown = [command for body in _bodies(text) for command in commands(body)]
    outputs = iter(_run([command.text for command in shown], installed))

    def renewed(block: re.Match[str]) -> str:
        if block["note"]:
            return block[0]
        parts = [f"$ {c.shown}{_kept(c.output, next(outputs))}" for c in commands(block["body"])]
        return "```console\n" + "".join(parts) + "```"

    return _BLOCK.sub(renewed, text)


def fits(shown: str, real: str) -> bool:
    """Whether a real output is what is shown, `[...]` standing for any lines."""
    parts = (re.escape(part) for part in re.split(rf"^{re.escape(ELISION)}\n", shown, flags=re.MULTILINE))
    return re.fullmatch("(?:.*\n)*?".join(parts), real) is not None


def _kept(shown: str, real: str) -> str:
    return shown if fits(shown, real) else real


def _bodies(text: str) -> list[str]:
    return [block["body"] for block in _BLOCK.finditer(text) if not block["note"]]


def _run(texts: list[str], installed: Path | None) -> list[str]:
    """What each command writes, standard output and error as they come."""
    script = "".join(f"{text}printf '%s\\n' '{_MARK}'\n" for text in texts)
    with tempfile.TemporaryDirectory() as scratch:
        leftovers = shutil.ignore_patterns("__pycache__", ".amplint_cache")
        shutil.copytree(ROOT / "docs" / "examples", Path(scratch, "docs", "examples"), ignore=leftovers)
        command = ["bash", "-c", f"exec 2>&1\n{script}"]
        environment = _environment(Path(scratch), installed)
        done = subprocess.run(command, capture_output=True, text=True, cwd=scratch, env=environment)
    # The last piece follows the last mark and is empty.
    outputs = done.stdout.replace(os.path.realpath(scratch), HOME).replace(scratch, HOME).split(f"{_MARK}\n")
    if len(outputs) != len(texts) + 1:
        raise RuntimeError(f"the session ended early:\n{done.stdout}")
    return outputs[:-1]


def _environment(scratch: Path, installed: Path | None) -> dict[str, str]:
    """Where `amplint` is the one to run, on a wide terminal without colours."""
    commands = scratch / ".commands"
    commands.mkdir()
    own = {"amplint": f'"{sys.executable}" -m amplint', "python": f'"{sys.executable}"'}
    for name, called in (own if installed is None else {"amplint": f'"{installed}"'}).items():
        command = commands / name
        command.write_text(f'#!/bin/sh\nexec {called} "$@"\n')
        command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return {
        **kept,
        "COLUMNS": "100",
        "HOME": str(scratch),
        "NO_COLOR": "1",
        "PATH": f"{commands}{os.pathsep}{os.environ['PATH']}",
        "PYTHONDONTWRITEBYTECODE": "1",
        **({"PYTHONPATH": str(ROOT)} if installed is None else {}),
    }


def main(arguments: list[str]) -> int:
    """Bring the documents up to date, or with --check name those that are not."""
    parser = argparse.ArgumentParser(prog="python -m docs.transcripts", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail where an output differs")
    parser.add_argument("documents", nargs="*", type=Path, help="only these")
    chosen = parser.parse_args(arguments)
    stale = 0
    for path in [path.resolve() for path in chosen.documents] or documents():
        text = path.read_text(encoding="utf-8")
        renewed = with_outputs(text)
        if renewed == text:
            continue
        stale += 1
        print(f"{path.relative_to(ROOT)}: {'shows other outputs' if chosen.check else 'written'}")
        if not chosen.check:
            path.write_text(renewed, encoding="utf-8")
    return 1 if chosen.check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
