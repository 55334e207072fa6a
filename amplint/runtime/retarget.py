"""Placeholder."""

from amplint.runtime.patch import Patches


class Retarget:
    """Placeholder."""

    def install(self, patches: Patches) -> None:
        """Nothing."""

    def notes(self) -> list[str]:
        """Nothing."""
        return []
