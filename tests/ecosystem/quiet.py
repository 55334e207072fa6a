"""`python -m tests.ecosystem.quiet FOLDER ...`: what the default rules AMP4 to AMP8 say of files that train nothing.

A file without a backward pass defines models or runs them: nothing that these rules look for can go wrong in it. The
folders are packages as installed, `site-packages/timm` for one. Prints every finding, so that each can be read; the
exit code is 1 where there is one. The folders are only read.
"""

import argparse
import sys
from pathlib import Path

from amplint.config.load import Resolver
from amplint.engine.outcome import Wanted
from amplint.engine.tree import run
from amplint.model.finding import Finding

_TRAINS = (b".backward(", b"autograd.grad(")
_FAMILIES = ("AMP4", "AMP5", "AMP6", "AMP7", "AMP8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ecosystem.quiet", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    total = 0
    for folder in options.folders:
        files, found = loud(folder, options.jobs)
        total += len(found)
        print(f"{folder.name}: {len(found)} findings in {files} files")
        for finding in found:
            print(f"  {finding.path}:{finding.span.line}: {finding.code} {finding.message}")
    return 1 if total else 0


def loud(folder: Path, jobs: int) -> tuple[int, list[Finding]]:
    """How many files of a folder were checked, and the findings of these families where nothing runs backward."""
    root = folder.resolve()
    report = run(["."], Resolver({"isolated": True}, root), root, Wanted(jobs=jobs)).report
    return report.checked, [f for f in report.findings if f.code.startswith(_FAMILIES) and not _trains(root / f.path)]


def _trains(path: Path) -> bool:
    return any(word in path.read_bytes() for word in _TRAINS)


if __name__ == "__main__":
    sys.exit(main())
