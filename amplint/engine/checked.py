"""One file as it was last checked: its findings, and the edits that their fixes would make.

Knows which fixes may be applied; applies none.
"""

from functools import cached_property

from amplint.engine.accept import compiles
from amplint.engine.foreign import foreign
from amplint.engine.spell import FactsSpeller
from amplint.facts.gather import Facts
from amplint.model.data import Value
from amplint.model.edit import Applicability, Edit, FixKind, place_of
from amplint.model.finding import Finding
from amplint.rewrite.page import Page
from amplint.rewrite.render import Refusal, render
from amplint.source.suppress import Suppressions, suppressions
from amplint.source.text import Source


class FixPolicy(Value):
    """Which fixes may be applied: safe ones, unsafe ones too, or nothing but migrations."""

    is_unsafe_allowed: bool = False
    is_migrations_only: bool = False

    def objection(self, finding: Finding) -> str | None:
        """Why the finding's fix is not to be applied, or None."""
        if finding.fix is None:
            return "it has no fix"
        if finding.fix.applicability is Applicability.DISPLAY:
            return "it is for display: it needs a choice that only a person can make, or the configuration says so"
        if self.is_migrations_only and finding.fix.kind is not FixKind.MIGRATION:
            return "it changes numbers, and only migrations are applied"
        if finding.fix.applicability is Applicability.UNSAFE and not self.is_unsafe_allowed:
            return "it is unsafe; `--unsafe-fixes` applies it"
        return None


class CheckedFile(Value, dict=True):
    """One file as it was last checked, with the findings in it that nothing silences.

    Those in spared are known or stand on lines that nobody asked about: they count, but they are not fixed.
    """

    source: Source
    facts: Facts
    findings: tuple[Finding, ...]
    spared: frozenset[Finding] = frozenset()

    def objection(self, finding: Finding, policy: FixPolicy) -> str | None:
        """Why the finding's fix is not to be applied here, or None."""
        if finding in self.spared:
            return "the finding is known, or its line did not change"
        return policy.objection(finding)

    @cached_property
    def suppressions(self) -> Suppressions:
        """What its comments silence."""
        return suppressions(self.facts.module.comments)

    @cached_property
    def page(self) -> Page:
        """The text with its tree, for rendering."""
        return Page(self.source.program, self.facts.module, self.facts.index.parents)

    @cached_property
    def compiles(self) -> bool:
        """Whether this interpreter compiles it; if so, a fixed one has to compile too."""
        return compiles(self.source.program)

    @cached_property
    def _renderings(self) -> dict[Finding, tuple[Edit, ...] | Refusal]:
        return {}

    def rendered(self, finding: Finding) -> tuple[Edit, ...] | Refusal:
        """The edits of a finding's fix, whatever the policy says."""
        if finding not in self._renderings:
            self._renderings[finding] = self._render(finding)
        return self._renderings[finding]

    def put_away(self) -> None:
        """Let go of what only rendering needs: it is made again for who renders more than was rendered so far."""
        vars(self).pop("page", None)

    def _render(self, finding: Finding) -> tuple[Edit, ...] | Refusal:
        if finding.fix is None or not finding.fix.repairs:
            return Refusal("it has no fix")
        reason = foreign(self.source.path, self.facts.module.comments)
        if reason is not None:
            return Refusal(reason)
        for repair in finding.fix.repairs:
            place = place_of(repair)
            found = self.suppressions.find(finding.code, finding.name, self.facts.index.statement_span(place))
            if found is not None:
                return Refusal(f"the comment in line {found.comment.line} suppresses a part of it")
        edits = render(self.page, finding.fix.repairs, FactsSpeller(self.facts))
        if self.source.notebook is not None and not isinstance(edits, Refusal):
            reason = self.source.notebook.objection(edits)
            return edits if reason is None else Refusal(reason)
        return edits
