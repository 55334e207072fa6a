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
