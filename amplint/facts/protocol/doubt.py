"""Missteps on paths that take both sides of one test, of which nobody asked whether it may answer both ways.

Knows which tests the questions of a reading leave out, where there are too many; refuses to judge any other misstep.
"""

from amplint.facts.protocol.guards import Guard
from amplint.facts.protocol.reader import Misstep
from amplint.facts.protocol.readings import Reading
from amplint.flow.formulas import atoms
from amplint.flow.graph import Step


def is_doubtful(reading: Reading, misstep: Misstep) -> bool:
    """Whether the steps of a misstep stand on two sides of a test whose answers were not followed."""
    optimizer = misstep.before.optimizer(misstep.error.optimizer)
    sites = (misstep.error.site, optimizer.cause_site, *(site for _, site in misstep.error.because))
    sides: dict[tuple[int, int], bool] = {}
    for site in sites:
        for guard in reading.guards.of(site) if isinstance(site, Step) else ():
            is_other = sides.setdefault((id(guard.test), guard.frame), guard.is_true) is not guard.is_true
            if is_other and _is_left_out(reading, guard):
                return True
    return False


def _is_left_out(reading: Reading, guard: Guard) -> bool:
    """Whether a test is understood, and asks something that is none of the questions followed."""
    questions = reading.questions
    formula = questions.normal.truth(reading.scene.terms.of(guard.test, guard.frame))
    return any(atom not in questions.asked for atom in atoms(formula))
