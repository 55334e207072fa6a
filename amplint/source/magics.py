"""IPython's additions to Python, blanked out of a cell with its lines kept; knows nothing of JSON."""

import re

# What can hide the start of a statement: strings, comments, brackets, joined lines.
_TOKEN = re.compile(
    r"""(?P<triple>[rRbBuUfFtT]{0,2}('''|\"\"\"))|(?P<single>'(?:\\.|[^'\\\n])*'?|"(?:\\.|[^"\\\n])*"?)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<join>\\\n)|(?P<newline>\n)""",
    re.VERBOSE | re.DOTALL,
)
_LINE_MAGIC = re.compile(r"[ \t]*(?:[%!?][^=\n]|%%?\w|!!|[/,;]\w)")
_HELP = re.compile(r"[ \t]*[\w.\[\]%]+\?{1,2}[ \t]*(?:#.*)?$")
# IPython runs these without their `%`; no Python statement starts with two names or with a name and a path.
_AUTOMAGIC = re.compile(
    r"(?:cd|ls|ll|cp|mv|rm|mkdir|rmdir|cat|less|more|man|pip|conda|mamba|env|alias|who|whos)[ \t]+"
    r"(?!(?:in|is|and|or|if|not[ \t]+in)\b)(?:[\w~/.\"'$]|-{1,2}\w)"
)
_ASSIGNED = re.compile(r"[ \t]*[\w.,\[\]'\" \t]+?(?<![=!<>])=[ \t]*(?P<magic>[%!](?=[\w(~./]))")
_INDENT = re.compile(r"[ \t]*")
_PYTHON_CELLS = frozenset(
    {"time", "timeit", "capture", "prun", "python", "python3", "memit", "mprun", "wandb", "debug"}
)


def python_of(cell: str) -> tuple[str, frozenset[int]]:
    """The Python of a cell's text, and the lines (from 1) that were blanked out or replaced.

    Text has line feeds. A magic or shell line becomes `pass`, an assigned one `name = ...`, a `%%` cell in another
    language empty lines. A cell that starts indented is shifted to the left, as IPython does, and counts as replaced.
    The number of lines stays.
    """
    lines = cell.split("\n")
    first = next((index for index, line in enumerate(lines) if line.strip()), None)
    if first is None:
        return cell, frozenset()
    replaced: set[int] = set()
    indent = _indent(lines[first])
    if indent:
        lines = [line.removeprefix(indent) for line in lines]
        replaced.update(range(1, len(lines) + 1))
    # Colab takes the title of a form, a comment, from the cell before it looks for a magic.
    magic = next((index for index, line in enumerate(lines) if line.strip() and not line.startswith("#")), first)
    if lines[magic].startswith("%%"):
        name = re.match(r"%%(\w*)", lines[magic])
        if name is None or name.group(1) not in _PYTHON_CELLS:
            return "\n" * (len(lines) - 1), frozenset(range(1, len(lines) + 1))
        lines[magic] = ""
        replaced.add(magic + 1)
    if any(sign in cell for sign in "%!?/,;") or any(_AUTOMAGIC.match(line) for line in lines):
        _blank_magics(lines, replaced)
    return "\n".join(lines), frozenset(replaced)


def _blank_magics(lines: list[str], replaced: set[int]) -> None:
    """Replace the magic lines, statement start by statement start; what follows a magic is read anew."""
    index = 0
    while index < len(lines):
        line = lines[index]
        assigned = _ASSIGNED.match(line)
        if _LINE_MAGIC.match(line) or _AUTOMAGIC.match(line) or _HELP.match(line):
            lines[index] = _indent(line) + "pass"
        elif assigned:
            lines[index] = line[: assigned.start("magic")] + "..."
        else:
            index = _end_of_statement(lines, index)
            continue
        replaced.add(index + 1)
        while line.endswith("\\") and index + 1 < len(lines):
            index += 1
            line, lines[index] = lines[index], ""
            replaced.add(index + 1)
        index += 1


def _indent(line: str) -> str:
    match = _INDENT.match(line)
    return match.group() if match else ""


def _end_of_statement(lines: list[str], index: int) -> int:
    """The index of the first line behind the logical line that starts at an index."""
    depth = 0
    closing: str | None = None
    while index < len(lines):
        text = lines[index] + "\n"
        at = 0
        is_joined = False
        while at < len(text):
            if closing is not None:
                at, closing = _leave_string(text, at, closing)
                continue
            match = _TOKEN.search(text, at)
            if match is None:
                break
            at = match.end()
            if match.group("triple"):
                closing = match.group(2)
            elif match.group("open"):
                depth += 1
            elif match.group("close"):
                depth = max(depth - 1, 0)
            elif match.group("join") or match.group().endswith("\\\n"):
                is_joined = True
        index += 1
        if closing is None and not depth and not is_joined:
            break
    return index


def _leave_string(text: str, at: int, closing: str) -> tuple[int, str | None]:
    """Where a triple-quoted string ends in a line, and None; or the line's end and the string still open."""
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text.startswith(closing, at):
            return at + 3, None
        else:
            at += 1
    return len(text), closing
