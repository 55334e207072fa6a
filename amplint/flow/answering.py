"""Calls of methods that only answer, as functions of their object, of their arguments and of what they read.

Knows how such a call is told from others; which methods are such is for who looks into them.
"""

from amplint.model.data import Value


class Answering(Value):
    """A method that only answers: home tells it from methods of its name, reads are the attributes that it looks at."""

    home: str
    reads: tuple[tuple[str, ...], ...]

    def of(self, call: tuple[object, ...]) -> tuple[object, ...]:
        """The term of a call of it: the same question until something that it was asked about is assigned."""
        match call:
            case ("call", ("attr", tuple() as me, str(name)), tuple() as given):
                read = (("", _inside(me, names)) for names in self.reads)
                return ("call", ("name", name, self.home), (("", me), *given, *read))
            case _:
                return call


def _inside(me: tuple[object, ...], names: tuple[str, ...]) -> tuple[object, ...]:
    for name in names:
        me = ("attr", me, name)
    return me
