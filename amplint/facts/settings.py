"""The part of the settings that changes what facts say; knows no file of settings."""

from amplint.config.torch_version import ASSUMED
from amplint.model.data import Value


class TargetTorch(Value):
    """The lowest torch that the code must run on, as (major, minor); assumed says that nobody stated it."""

    version: tuple[int, int] = ASSUMED
    is_assumed: bool = True

    def has(self, major: int, minor: int) -> bool:
        """Whether every supported torch is at least major.minor."""
        return self.version >= (major, minor)

    def __str__(self) -> str:
        return f"{self.version[0]}.{self.version[1]}"


class CheckSettings(Value):
    """The part of the settings that changes what facts say.

    scaler_names and clip_functions are dotted names of house wrappers.
    """

    target: TargetTorch = TargetTorch()
    scaler_names: tuple[str, ...] = ()
    clip_functions: tuple[str, ...] = ()
