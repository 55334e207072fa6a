"""Draws the curves of a real `amplint verify` of the example project: `python -m docs.runtime_report`.

The picture is not among the generated pages that CI compares: its last digits depend on the machine.
"""

import sys
from pathlib import Path

from amplint.cli.variants import fixed_variants
from amplint.config.load import Resolver
from amplint.runtime.curves import Curve, curves_svg
from amplint.runtime.drive import Driver
from amplint.runtime.job import AMP_OFF, Program
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.workshop import Conditions

EXAMPLE = Path(__file__).parent / "examples"
PICTURE = Path(__file__).parent / "pictures" / "runtime-report.svg"


def main() -> int:
    """Run the example before its fixes, after them, and in float32."""
    program = Program(str(EXAMPLE / "train.py"), False, ("--epochs", "2"), str(EXAMPLE), str(EXAMPLE))
    with Driver(time_limit=300) as driver:
        lab = Laboratory(driver, Conditions(program))
        before = lab.trace(lab.original)
        resolver = Resolver({"isolated": True}, EXAMPLE)
        fixed = fixed_variants(before.summary["files"], resolver, EXAMPLE, allows_unsafe=True)
        lab.add("after", fixed.after)
        after, plain = lab.trace("after"), lab.trace("after", AMP_OFF)
    curves = [Curve("before", before.steps), Curve("after", after.steps), Curve("float32", plain.steps)]
    PICTURE.write_text(curves_svg(curves) + "\n", encoding="utf-8")
    print(f"{PICTURE.name}: {len(fixed.changes)} fixes, {len(after.steps)} steps")
    return 0


if __name__ == "__main__":
    sys.exit(main())
