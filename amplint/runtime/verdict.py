"""What an experiment concludes about a fix or a script; plain data, knows nothing of how it was found."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Conclusion(StrEnum):
    """confirmed and refuted by numbers; inconclusive: the numbers decide nothing; not exercised: the code never ran."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison: passed, failed, or (None) not decided, and the numbers that say so."""

    name: str
    has_passed: bool | None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion, the sentence that a person reads, and the checks behind it."""

    conclusion: Conclusion
    reason: str
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """A fix as the experiment sees it.

    contract is the value of the rule's contract; lines are those of the statements that it edits, in the original text.
    """

    code: str
    name: str
    contract: str
    title: str
    path: str
    line: int
    lines: tuple[int, ...] = ()


def from_checks(checks: list[Check], confirmed: str) -> Verdict:
    """Refuted by the first failed check, undecided by the first undecided one, else confirmed."""
    for check in checks:
        if check.has_passed is False:
            return Verdict(Conclusion.REFUTED, f"{check.name}: {check.detail}", tuple(checks))
    for check in checks:
        if check.has_passed is None:
            return Verdict(Conclusion.INCONCLUSIVE, f"{check.name}: {check.detail}", tuple(checks))
    return Verdict(Conclusion.CONFIRMED, confirmed, tuple(checks))


_WORST_FIRST = (Conclusion.REFUTED, Conclusion.INCONCLUSIVE, Conclusion.CONFIRMED)


def of_all_ranks(verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict where each rank has its own: the worst of those ranks that ran the code at all."""
    if len(verdicts) == 1:
        return verdicts[0]
    found = [(rank, each) for rank, each in enumerate(verdicts) if each.conclusion is not Conclusion.NOT_EXERCISED]
    if not found:
        return verdicts[0]
    rank, worst = min(found, key=lambda pair: _WORST_FIRST.index(pair[1].conclusion))
    reason = worst.reason if worst.conclusion is Conclusion.CONFIRMED else f"rank {rank}: {worst.reason}"
    ranks_of: dict[Check, list[int]] = {}
    for number, verdict in found:
        for check in verdict.checks:
            ranks_of.setdefault(check, []).append(number)
    checks = [
        check if len(ranks) == len(found) else replace(check, name=f"{check.name} (rank {', '.join(map(str, ranks))})")
        for check, ranks in ranks_of.items()
    ]
    return Verdict(worst.conclusion, reason, tuple(checks))
