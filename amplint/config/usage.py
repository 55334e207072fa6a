"""The error of a person's input: wrong flags, wrong configuration; knows nothing of exit codes."""

from collections.abc import Iterable


class UsageError(Exception):
    """What was asked for cannot be done as asked; the message says what to change."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the nearest known word, or ''."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" (did you mean {near[0]!r}?)" if near else ""
