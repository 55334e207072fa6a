"""Which files other hands write, so that editing them here would be lost or unwelcome; reads no file.

What is found in them is reported all the same.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from amplint.model.tree import Comment

_VENDORED = frozenset({"third_party", "thirdparty", "third-party", "vendor", "vendored", "_vendor", "site-packages"})
_GENERATED = re.compile(r"@generated|\bdo not (?:edit|modify)\b|\bauto(?:matically)?[- ]?generated\b", re.IGNORECASE)
_HEAD = 10


def foreign(path: str, comments: Sequence[Comment]) -> str | None:
    """Why a file is not to be edited, or None."""
    folder = next((part for part in PurePath(path).parts[:-1] if part.lower() in _VENDORED), None)
    if folder is not None:
        return f"the file belongs to others: it lies in `{folder}`"
    for comment in comments:
        if comment.span.line > _HEAD:
            break
        if _GENERATED.search(comment.text):
            return f"the file is generated, as its line {comment.span.line} says"
    return None
