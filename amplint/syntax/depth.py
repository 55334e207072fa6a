"""Whether a program is nested so deeply that a parser would exhaust the stack on it; parses nothing.

LibCST's native parser recurses for every level, and a stack that overflows there ends the whole process. What is
found here is ten times deeper than any program that people write, and more than the visitors behind it could follow.
"""

import re

_OPENING, _CLOSING = b"([{", b")]}"
_NO_BRACKETS = bytes(set(range(256)) - set(_OPENING + _CLOSING))
_MOST_BRACKETS = 400
_MOST_BRANCHES = 2000
_MOST_IN_A_ROW = 800

_PREFIXES = re.compile(r"(?:(?:\bnot\b|\blambda\b[^:\n]{0,80}:|[-+~])\s*+){800}")
_OPERATORS = re.compile(r"(?:[\w.'\"]++\s*+(?:[-+*/|&@%<>]{1,2}|and\b|or\b|if\b|else\b)\s*+){800}")
_TRAILERS = re.compile(r"(?:\.\w++|\([^()\n]{0,80}\)|\[[^\[\]\n]{0,80}\]){800}")
_WORDS = (" and", " or", " if", " else", "not ", "lambda")
_NO_OPERATORS = bytes(set(range(256)) - set(b"+-*/|&@%<>~"))


def is_too_deep(program: str) -> bool:
    """Whether brackets, operators, attributes or branches follow each other too far to be parsed safely.

    The cheap counts come first: nearly every program ends there.
    """
    if program.count("elif") > _MOST_BRANCHES:
        return True
    raw = program.encode("utf-8", "surrogatepass")
    operators = len(raw.translate(None, _NO_OPERATORS))
    has_many = operators + sum([program.count(word) for word in _WORDS]) >= _MOST_IN_A_ROW
    if has_many and (_PREFIXES.search(program) or _OPERATORS.search(program)):
        return True
    if max(map(len, program.split("\n"))) >= 2 * _MOST_IN_A_ROW and _TRAILERS.search(program):
        return True
    return _has_deep_brackets(raw)


def _has_deep_brackets(raw: bytes) -> bool:
    """Whether so many brackets are open at once. Those in strings and comments count too, and may stay unmatched."""
    left = raw.translate(None, _NO_BRACKETS)
    for _ in range(_MOST_BRACKETS):
        before = len(left)
        left = left.replace(b"()", b"").replace(b"[]", b"").replace(b"{}", b"")
        if len(left) <= _MOST_BRACKETS or len(left) == before:
            break
    depth = 0
    for sign in left:
        depth = depth + 1 if sign in _OPENING else 0
        if depth > _MOST_BRACKETS:
            return True
    return False
