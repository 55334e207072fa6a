"""What the term of a place tells: whether it lies inside another, is taken out of a collection, or stands for many.

Knows terms alone; which place an expression is, is for `scene.py`.
"""

from amplint.flow.terms import Term, is_place


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


def is_taken(place: Term) -> bool:
    """Whether a place is an element of a collection, whichever it is, or a part of one."""
    while place[0] == "attr" and isinstance(place[1], tuple):
        place = place[1]
    return place[0] in ("each", "item")


def is_known_place(term: Term) -> bool:
    """Whether a term is a place, or an element or attribute of one."""
    while term[0] in ("each", "attr", "item"):
        term = term[1]  # type: ignore[assignment]
    return is_place(term)


def owner_of(term: Term) -> Term | None:
    """The object whose attribute a term is."""
    return term[1] if term[0] == "attr" else None  # type: ignore[return-value]
