"""All that listens for misuse in a run, under one name."""

from collections.abc import Callable, Iterator

from amplint.runtime.regions import Regions
from amplint.runtime.replay import Replay
from amplint.runtime.sighting import Notebook, Sighting
from amplint.runtime.symptoms import Symptoms
from amplint.runtime.trace import Handlers
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

    def handlers(self) -> Iterator[Handlers]:
        """What each listener wants to be called for, in the order in which they have to be."""
        return (listener.handlers() for listener in self._listeners)
