"""One experiment on a program: its fixes judged one by one, the whole judged, AMP's worth measured.

Knows the order of the questions; the answers are the oracles'.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from amplint.runtime.judge import judge, judge_script
from amplint.runtime.laboratory import Laboratory
from amplint.runtime.trace import Trace
from amplint.runtime.verdict import Change, Conclusion, Verdict, of_all_ranks
from amplint.runtime.worth import Worth, measure_worth

AFTER = "with the fixes"


@dataclass(frozen=True, slots=True)
class Case:
    """A fix to be judged, and the variant with every other fix (or with none, where they cannot be told apart)."""

    change: Change
    without: str


@dataclass(slots=True)
class Experiment:
    """What came out. is_runnable is false where the program could not be run to a judgement."""

    verdicts: list[tuple[Change, Verdict]] = field(default_factory=list)
    script: Verdict | None = None
    worth: Worth | None = None
    notes: list[str] = field(default_factory=list)
    is_runnable: bool = True
    before: Trace = field(default_factory=Trace)
    after: Trace = field(default_factory=Trace)

    def is_good(self, *, allows_unexercised: bool) -> bool:
        """Whether every fix is confirmed and nothing is wrong with the whole."""
        allowed = {Conclusion.CONFIRMED} | ({Conclusion.NOT_EXERCISED} if allows_unexercised else set())
        is_whole = self.script is not None and self.script.conclusion is Conclusion.CONFIRMED
        return is_whole and all(verdict.conclusion in allowed for _, verdict in self.verdicts)


def conduct(lab: Laboratory, cases: Sequence[Case], final: str, *, wants_worth: bool = True) -> Experiment:
    """Judge the cases and the final variant (the program with its fixes, or as it is)."""
    result = Experiment(before=lab.trace(lab.original), after=lab.trace(final))
    for case in cases:
        lab.probe(case.change.path, case.change.lines)
    ranks = lab.ranks()
    for case in cases:
        verdicts = [judge(rank, case.change, case.without, final) for rank in ranks]
        result.verdicts.append((case.change, of_all_ranks(verdicts)))
    if not result.after.steps:
        result.is_runnable = False
        outcome = result.after.outcome
        how = "" if outcome.is_clean else f"{outcome.ending}{outcome.error and f' ({outcome.error})'} before "
        reason = f"the program {how}{'its first' if how else 'made no'} optimizer step"
        result.script = Verdict(Conclusion.INCONCLUSIVE, reason)
        result.notes.extend(lab.notes)
        return result
    result.script = of_all_ranks([judge_script(rank, final) for rank in ranks])
    if wants_worth:
        result.worth = measure_worth(lab, final)
    result.notes.extend(lab.notes)
    result.notes.extend(result.after.summary.get("retargeted", ()))
    return result
