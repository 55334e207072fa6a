"""flake8 with amplint's plugin or as if that were not installed, so that only the plugin is the difference.

Not selecting its codes is no way to measure it: flake8 runs every plugin that it finds, and drops what is not selected.
`python -m tests.benchmarks.host with|without ARGUMENTS…`
"""

import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Any


def main() -> None:
    left_out = {"with": "", "without": "amplint"}[sys.argv.pop(1)]
    found = metadata.distributions

    def distributions(**given: Any) -> Iterator[metadata.Distribution]:
        return (each for each in found(**given) if each.metadata["Name"] != left_out)

    metadata.distributions = distributions  # type: ignore[assignment]
    from flake8.main.cli import main as check

    sys.exit(check())


if __name__ == "__main__":
    main()
