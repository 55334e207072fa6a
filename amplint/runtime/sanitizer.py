"""All that listens for misuse in a run, under one name."""

from collections.abc import Callable

from amplint.runtime.regions import Regions
from amplint.runtime.replay import Replay
from amplint.runtime.sighting import Notebook, Sighting
from amplint.runtime.symptoms import Symptoms
from amplint.runtime.trace import Event
from amplint.runtime.usage import Usage


class Sanitizer:
    """Hears events, live or from a file, and keeps a notebook of sightings."""

    def __init__(self, on_sighting: Callable[[Sighting], None] = lambda sighting: None) -> None:
        self.notebook = Notebook(on_sighting)
        self._listeners = (
            Usage(self.notebook),
            Replay(self.notebook),
            Regions(self.notebook),
            Symptoms(self.notebook),
        )

    def hear(self, event: Event) -> None:
        """Pass an event on."""
        for listener in self._listeners:
            listener.hear(event)
