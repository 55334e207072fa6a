"""`python -m tests.coverage`: lines and branches of each room that its own tests and the fixtures reach.

Exit code 1 where a share is not reached. The shares are what was reached, less one or two points, so that a change
cannot lose many of them unseen. Two processes do it, as many as a small machine has.
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

import coverage

ROOT = Path(__file__).parent.parent.parent
SHARES = {"flow": 96, "facts": 88, "knowledge": 96, "rewrite": 96, "model": 97, "config": 92}
# It reads the whole package, and reaches nothing that no other test reaches.
_OWN_MODULES = "tests/flow/test_graph.py::test_blocks_are_numbered_in_reading_order_and_none_is_unreachable"
PARTS = (
    ("tests/test_fixtures.py::test_golden",),
    ("tests/flow", "tests/knowledge", "tests/rewrite", "tests/config", f"--deselect={_OWN_MODULES}"),
)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "coverage"
        codes = [running.wait() for running in [_started(part, data) for part in PARTS]]
        if any(codes):
            return 1
        measured = coverage.Coverage(data_file=str(data), branch=True, config_file=str(ROOT / "pyproject.toml"))
        measured.combine()
        reached = {room: _share(measured, room) for room in SHARES}
    for room, share in reached.items():
        print(f"{room:<10} {share:6.2f} % of {SHARES[room]} %")
    return 1 if any(share < SHARES[room] for room, share in reached.items()) else 0


def _started(tests: tuple[str, ...], data: Path) -> "subprocess.Popen[bytes]":
    recorder = ["coverage", "run", "--branch", "--parallel-mode", f"--data-file={data}", "--source=amplint"]
    pytest = ["-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    return subprocess.Popen([sys.executable, "-m", *recorder, *pytest, *tests], cwd=ROOT)


def _share(measured: coverage.Coverage, room: str) -> float:
    """The share in percent, and the lines and branches that are missed, as a report, where it is too low."""
    report = io.StringIO()
    share = measured.report(include=[f"*/amplint/{room}/*"], file=report, show_missing=True, skip_covered=True)
    if share < SHARES[room]:
        print(report.getvalue())
    return share


if __name__ == "__main__":
    sys.exit(main())
