"""Text from files as a terminal or a log may be given it: what would steer them is written out; knows no format."""


def visible(text: str) -> str:
    """The text with every character that is not printable, but for tabs and what is no text, as its escape.

    So a file's name cannot colour a terminal, go to another line, or reverse what is read.
    """
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(char: str) -> str:
    if char.isprintable() or char == "\t" or "\ud800" <= char <= "\udfff":
        return char
    return char.encode("unicode_escape").decode("ascii")
