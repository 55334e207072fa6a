"""Findings that only a run can make, as data: the codes AMP901 and following; knows nothing of how they are seen."""

from dataclasses import dataclass

from amplint.model.finding import Severity


@dataclass(frozen=True, slots=True)
class RunCode:
    """A code without a static rule: its kebab-case name, severity, and what it means."""

    code: str
    name: str
    severity: Severity
    meaning: str


RUN_CODES = (
    RunCode(
        "AMP901",
        "scale-collapse",
        Severity.ERROR,
        "The scaler halved its scale again and again: the gradients overflow at every scale, so the cause is not the "
        "scale but an infinity or a NaN in the model or the loss.",
    ),
    RunCode(
        "AMP902",
        "no-step-applied",
        Severity.ERROR,
        "Many iterations in a row ended in a skipped step: nothing is being trained.",
    ),
    RunCode(
        "AMP903",
        "gradients-underflow",
        Severity.WARNING,
        "Nearly all gradients are exactly zero under float16 without loss scaling: they are too small for the format.",
    ),
    RunCode(
        "AMP904",
        "parameters-not-finite",
        Severity.ERROR,
        "An optimizer step wrote an infinity or a NaN into the parameters.",
    ),
    RunCode(
        "AMP905",
        "step-without-gradients",
        Severity.ERROR,
        "An optimizer was stepped through the scaler although no backward reached its parameters; torch raises "
        "`No inf checks were recorded for this optimizer.`",
    ),
    RunCode(
        "AMP906",
        "autocast-left-on",
        Severity.ERROR,
        "Autocast was still on when the program ended: a region was entered and not left.",
    ),
    RunCode(
        "AMP907",
        "ranks-disagree",
        Severity.ERROR,
        "The processes of one training run applied different steps or hold different scales.",
    ),
)
"""Static rules never use the hundred AMP9."""

SEEN = frozenset({f"AMP{number}" for number in (*range(201, 221), *range(301, 305), 401, 402, 403, 411, 502, 503, 601)})
"""Codes of static rules that the sanitizer reports when a run does what they warn of."""

UNSEEN = {
    "AMP0": "about comments and files, not about what a program does",
    "AMP101": "torch warns at the line itself; the run shows the warning",
    "AMP102": "torch warns at the line itself; the run shows the warning",
    "AMP103": "torch raises at the line itself, or takes the argument for another one, which nothing marks",
    "AMP104": "torch warns at the line itself; the run shows the warning",
    "AMP105": "the import fails before anything can be watched",
    "AMP106": "about another torch than the one that runs",
    "AMP107": "torch raises at the line itself",
    "AMP108": "torch raises at the line itself",
    "AMP109": "Python raises at the line itself",
    "AMP305": "a run does not know what the last group was meant to be",
    "AMP306": "a smaller loss looks like any other loss",
    "AMP404": "CUDA raises at the line itself; on the CPU the call is allowed",
    "AMP405": "torch raises in the backward",
    "AMP406": "torch raises at the first operation on both dtypes",
    "AMP407": "torch raises at the first call",
    "AMP408": "a region that is always on looks like one that is meant to be",
    "AMP409": "a region of another dtype looks like one that is meant to be",
    "AMP410": "scripted code is not watched",
    "AMP501": "torch raises in `unscale_` or `step`",
    "AMP504": "the constant becomes an infinity or a zero like any other; its effects are AMP901, AMP902 and AMP904",
    "AMP505": "the scaler of an absent device switches itself off, with a warning",
    "AMP506": "each process sees its own shard alone; the effect across processes is AMP907",
    "AMP602": "needs two runs",
    "AMP603": "the comparison is a Python expression; nothing of torch is called",
    "AMP604": "the order of two plain assignments",
    "AMP7": "about speed; the table of `amplint verify` measures it as a whole",
    "AMP801": "seen as AMP201, for it is the same misuse",
    "AMP802": "a framework's own scaler is a scaler like any other",
}
"""Codes (or families) of static rules that the sanitizer does not report, and why."""


def why_unseen(code: str) -> str | None:
    """The reason why a run does not show a static rule's defect, or None where it does."""
    if code in SEEN:
        return None
    return next((reason for prefix, reason in UNSEEN.items() if code.startswith(prefix)), "no oracle looks for it")
