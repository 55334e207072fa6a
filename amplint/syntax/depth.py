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
_SIGNS = b"+-*/|&@%<>~"
_SPACES = bytes((*range(9, 14), *range(28, 33)))
_LETTERS = bytes(sign for sign in range(128) if chr(sign).isalnum())


def _allowing(signs: bytes) -> bytes:
    """A table that makes one letter of some signs, and of what is not ASCII, and a space of all others."""
    return bytes(ord("a") if sign in signs or sign > 127 else ord(" ") for sign in range(256))


# What a row of prefixes holds but for lambdas, and what a row of operators holds.
_PREFIXING = _allowing(b"-+~not" + _SPACES)
_OPERATING = _allowing(_SIGNS + _SPACES + _LETTERS + b"_.'\"")


def is_too_deep(program: str) -> bool:
    """Whether brackets, operators, attributes or branches follow each other too far to be parsed safely.

    The cheap searches come first: nearly every program ends there.
    """
    if program.count("elif") > _MOST_BRANCHES:
        return True
    raw = program.encode("utf-8", "surrogatepass")
    if _may_have_prefixes(raw) and _PREFIXES.search(program):
        return True
    if _may_have_operators(raw) and _OPERATORS.search(program):
        return True
    if max(map(len, program.split("\n"))) >= 2 * _MOST_IN_A_ROW and _TRAILERS.search(program):
        return True
    return _has_deep_brackets(raw)


def _may_have_prefixes(raw: bytes) -> bool:
    """Whether so many prefixes may follow each other: then some lie between two of the lambdas."""
    lambdas = raw.count(b"lambda")
    between = (_MOST_IN_A_ROW - lambdas) // (lambdas + 1)
    return between <= 0 or b"a" * between in raw.translate(_PREFIXING)


def _may_have_operators(raw: bytes) -> bool:
    """Whether so many operators may follow each other, each with an operand of one letter at least."""
    return b"a" * (2 * _MOST_IN_A_ROW) in raw.translate(_OPERATING)


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
