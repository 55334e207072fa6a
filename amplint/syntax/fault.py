"""That a program does not parse, and where; knows no parser, so that nobody loads one to ask."""


class SyntaxFaultError(Exception):
    """The program does not parse; line counts from 1, column from 0."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column
