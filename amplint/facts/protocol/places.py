"""What the term of a place tells: whether it lies inside another, and whether it stands for many objects.

Knows terms alone; which place an expression is, is for `scene.py`.
"""

from amplint.flow.terms import Term


def is_part(whole: Term, part: object) -> bool:
    """Whether a place is another, or lies inside it."""
    while isinstance(part, tuple) and part:
        if part == whole:
            return True
        part = part[1] if part[0] in ("attr", "item", "each") else None
    return False


def is_of_many(term: Term) -> bool:
    """Whether a place is an element of a collection that is not told apart from the others, or a part of one."""
    while term[0] in ("attr", "item"):
        term = term[1]  # type: ignore[assignment]
    return term[0] == "each"
