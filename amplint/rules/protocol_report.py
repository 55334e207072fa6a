"""How a defect of the protocol becomes a finding: its objects by name, and the path that led there as notes.

Knows no rule; each rule says what is wrong in its own words.
"""

from amplint.facts.protocol.defect import Defect
from amplint.flow.graph import Step, StepKind
from amplint.knowledge.protocol import EventKind
from amplint.model.edit import Fix
from amplint.model.finding import Finding, Note, Severity
from amplint.rules.rule import Rule

MEANINGS = {
    EventKind.SCALE: "scaled here",
    EventKind.SCALED_BACKWARD: "scaled here",
    EventKind.PLAIN_BACKWARD: "runs backward without the scale here",
    EventKind.UNSCALE: "unscaled here",
    EventKind.STEP: "stepped here",
    EventKind.ZERO: "gradients are zeroed here",
    EventKind.UPDATE: "updated here",
}


def report(
    rule: Rule,
    defect: Defect,
    message: str,
    *,
    missed: str = "",
    fix: Fix | None = None,
    severity: Severity | None = None,
) -> Finding:
    """The finding of a defect; missed says of the later step what it shows."""
    # Where an optimizer is made its gradients are clean, but nothing is zeroed there.
    shown = [(kind, step) for kind, step in defect.because if kind in MEANINGS and step.kind is not StepKind.BIND]
    notes = [note(defect, step, MEANINGS[kind]) for kind, step in shown]
    if defect.after is not None and missed:
        notes.append(note(defect, defect.after, missed))
    return rule.finding(defect.home, defect.place, message, notes=tuple(notes), fix=fix, severity=severity)


def note(defect: Defect, step: Step, message: str) -> Note:
    """A note at a step, with the path of its file where that is another one."""
    home = defect.reading.scene.homes[step.frame]
    return Note(step.node.span, message, None if home is defect.home else home.path)


def scaler_code(defect: Defect) -> str:
    """How the function of the defect writes its scaler, '' where it has no name for it."""
    scaler = defect.error.scaler if defect.error is not None else None
    scalers = [scaler] if scaler is not None else list(defect.reading.roles.scalers)
    named = [defect.reading.spelled_scaler(scaler, defect.site) for scaler in scalers]
    return next((name for name in named if name), "")


def optimizer_code(defect: Defect) -> str:
    """How the function of the defect writes its optimizer, '' where it has no name for it."""
    return defect.reading.spelled_optimizer(defect.error.optimizer, defect.site) if defect.error is not None else ""


def scaler_name(defect: Defect) -> str:
    """How to call the scaler in a message."""
    return scaler_code(defect) or "scaler"


def optimizer_name(defect: Defect) -> str:
    """How to call the optimizer in a message."""
    return optimizer_code(defect) or "the optimizer"
