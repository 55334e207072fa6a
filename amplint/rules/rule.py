"""What a rule is: its metadata and how it builds a finding; knows no rule by name."""

from enum import StrEnum

from amplint.facts.gather import Facts
from amplint.model.data import Value
from amplint.model.edit import Fix
from amplint.model.finding import Finding, Note, Severity
from amplint.model.span import Span
from amplint.model.tree import Node


class FixAvailability(StrEnum):
    """How often a finding of a rule carries a fix that can be applied."""

    ALWAYS = "always"
    SOMETIMES = "sometimes"
    NONE = "none"


class Contract(StrEnum):
    """What `amplint verify` holds a fix of this rule to.

    bitwise: the same trace, bit for bit. protocol: the same with AMP off, and after it indifferent to the scale.
    intended: a named quantity becomes right. region: dtypes and closeness to float32. run: the fixed script runs.
    none: the rule has no fix, or a run cannot judge it.
    """

    BITWISE = "bitwise"
    PROTOCOL = "protocol"
    INTENDED = "intended"
    REGION = "region"
    RUN = "run"
    NONE = "none"


class Family(StrEnum):
    """The hundreds of the codes, by what goes wrong."""

    TOOL = "AMP0"
    API = "AMP1"
    PROTOCOL = "AMP2"
    ACCUMULATION = "AMP3"
    REGION = "AMP4"
    DTYPE = "AMP5"
    LIFECYCLE = "AMP6"
    EFFICIENCY = "AMP7"
    FRAMEWORK = "AMP8"


class Rule(Value):
    """The metadata of one rule. The name says the bad thing in kebab-case and reads well after "allow".

    One in preview is opt-in, and what it reports may change in any release: too little of it was judged in real code.
    """

    code: str
    name: str
    severity: Severity
    fix: FixAvailability
    contract: Contract
    since: str
    is_default: bool = True
    is_preview: bool = False

    @property
    def family(self) -> Family:
        """The family that the code's first digit names."""
        return Family(self.code[:4])

    def finding(
        self,
        facts: Facts,
        place: Node | Span,
        message: str,
        *,
        notes: tuple[Note, ...] = (),
        fix: Fix | None = None,
        severity: Severity | None = None,
        statement: Span | None = None,
    ) -> Finding:
        """A finding at a place of the module that the facts are about.

        statement is looked up from the place where it is not given.
        """
        span = place.span if isinstance(place, Node) else place
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message,
            path=facts.path,
            span=span,
            statement=statement or facts.index.statement_span(span),
            notes=notes,
            fix=fix,
        )
