"""How findings about deprecated names are built: one at an import with its uses as notes, one at each dotted use.

Knows no rule; which names a rule is about is handed in.
"""

from collections.abc import Iterator

from amplint.facts.api.migration import Plan, plan_dotted, plan_import
from amplint.facts.api.new_call import replacement
from amplint.facts.api.uses import ImportedApi, Role, Use
from amplint.facts.gather import Facts
from amplint.knowledge.torch_api import Api
from amplint.model.data import Value
from amplint.model.edit import Applicability, Fix, FixKind
from amplint.model.finding import Finding, Note
from amplint.model.tree import Alias, Assign, Attribute, ImportFrom, Node
from amplint.rules.rule import Rule

_EDITED_ALONG = (Role.ANNOTATION, Role.TARGET)


class Deprecation(Value):
    """The names that a rule is about, by the last part, and how the new call looks; `{device}` is put in."""

    rule: Rule
    kinds: tuple[str, ...]
    call: str

    def findings(self, facts: Facts) -> Iterator[Finding]:
        """Findings at imports by name, at star imports, and at uses with dots."""
        statements: dict[ImportFrom, list[ImportedApi]] = {}
        for imported in facts.uses.imported:
            if self._is_reported(imported.api, imported.alias, facts):
                statements.setdefault(imported.statement, []).append(imported)
        for statement, found in statements.items():
            yield from self._at_import(statement, found, facts)
        reported: set[Api] = set()
        tests: list[Use] = []
        for use in facts.uses.all:
            if not (use.is_dotted or not use.bindings) or not self._is_reported(use.api, use.node, facts):
                continue
            if use.role is Role.TYPE_TEST:
                tests.append(use)
            elif use.role not in _EDITED_ALONG and not _is_put_into_torch(use, facts):
                reported.add(use.api)
                yield self._at_use(use, facts)
        # Where nothing edits them along, type tests are reported: they are false for objects of the new class.
        yield from (self._at_use(use, facts) for use in tests if use.api not in reported)

    def _is_reported(self, api: Api, place: Node, facts: Facts) -> bool:
        if api.kind not in self.kinds or api.deprecated is None or replacement(api, facts) is None:
            return False
        return not (facts.shims.is_for_old_torch(place, api) or facts.shims.expects_warning(place))

    def _at_import(self, statement: ImportFrom, found: list[ImportedApi], facts: Facts) -> Iterator[Finding]:
        """One finding for the statement; one for each name where only some of them can be moved."""
        whole = plan_import(found, facts)
        parts = [(each, plan_import([each], facts)) for each in found]
        if whole is not None or not any(plan for _, plan in parts):
            yield self._of_names(found, whole, statement, statement, facts)
        else:
            for each, plan in parts:
                yield self._of_names([each], plan, each.alias, statement, facts)

    def _of_names(
        self, group: list[ImportedApi], plan: Plan | None, place: Node, statement: ImportFrom, facts: Facts
    ) -> Finding:
        names = " and ".join(f"`{i.alias.name}`" for i in group)
        are = "are" if len(group) > 1 else "is"
        notes = [
            Note(use.node.span, f"`{use.root.id}` is {use.role} here")
            for imported in group
            for use in facts.uses.of(imported.binding)
        ]
        module = (group[0].api.replacement or "").rpartition(".")[0]
        return self.rule.finding(
            facts,
            place,
            f"{names} of `{statement.module}` {are} deprecated since torch 2.4: use `{module}`",
            notes=tuple(sorted(notes, key=lambda note: note.span)),
            fix=self._fix(plan, f"import {names} from `{module}` and name the device at every use", facts),
            statement=statement.span,
        )

    def _at_use(self, use: Use, facts: Facts) -> Finding:
        new = replacement(use.api, facts)
        assert new is not None
        aliases = [b.node for b in use.bindings if isinstance(b.node, Alias)]
        notes = tuple(Note(alias.span, "imported here") for alias in aliases if alias.name != "torch")
        example = self.call.format(name=new.name, device=use.api.device)
        message = f"`{use.api.name}` is deprecated since torch 2.4: use `{example}`"
        if use.role is Role.TYPE_TEST:
            message = (
                f"no object of `{new.name}` is an instance of the deprecated `{use.api.name}`: test for the new class"
            )
        return self.rule.finding(
            facts,
            use.node,
            message,
            notes=notes,
            fix=self._fix(plan_dotted(use, facts), f"use `{new.name}` and name the device", facts),
        )

    def _fix(self, plan: Plan | None, title: str, facts: Facts) -> Fix | None:
        if plan is None:
            return None
        doubt = f"; {plan.doubt}" if plan.doubt else ""
        applicability = Applicability.UNSAFE if plan.doubt else Applicability.SAFE
        return Fix(title + assumption(facts) + doubt, FixKind.MIGRATION, applicability, plan.repairs)


def _is_put_into_torch(use: Use, facts: Facts) -> bool:
    """`torch.amp.GradScaler = torch.cuda.amp.GradScaler`, as code does that makes old torch look new."""
    statement = facts.index.parents[use.node]
    targets = statement.targets if isinstance(statement, Assign) else ()
    places = [target for target in targets if isinstance(target, Attribute)]
    return any((facts.names.canonical(place) or "").startswith("torch.") for place in places)


def assumption(facts: Facts) -> str:
    """What a fix's title says about the oldest torch that the code has to run on."""
    target = facts.settings.target
    return f" (assumes torch {target} or newer)" if target.is_assumed else ""
