"""The line on a person's terminal that says how far a run is; nobody else sees it, and it is gone at the end."""

import sys

_WIDTH = 24


class StepsLine:
    """Shows the steps of a run, as a bar where their number is known, after a word on which run it is."""

    def __init__(self, wanted: int | None, *, is_wanted: bool) -> None:
        self._wanted = wanted
        self._is_shown = is_wanted and sys.stderr.isatty()
        self._runs = 0
        self._what = ""

    def begin(self, variant: str, treatment: str) -> None:
        """Another run of an experiment begins."""
        self._runs += 1
        self._what = f"run {self._runs}: {variant}, {treatment} "
        self._write(self._what)

    def show(self, count: int) -> None:
        """So many steps were made."""
        if self._wanted is None:
            self._write(f"{self._what}{count} steps")
            return
        done = min(count, self._wanted)
        filled = done * _WIDTH // self._wanted
        self._write(f"{self._what}[{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{self._wanted} steps")

    def clear(self) -> None:
        """Leave the terminal as if nothing had been shown."""
        self._write("")

    def _write(self, text: str) -> None:
        if self._is_shown:
            print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
