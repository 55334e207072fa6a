"""Applies fixes to checked files, round by round, and takes back what does not hold.

Knows no rule and no disk: how changed sources are checked again is handed in.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from amplint.engine.accept import compiles, new_spans, objection
from amplint.engine.checked import CheckedFile, FixPolicy
from amplint.model.data import Value
from amplint.model.edit import Edit
from amplint.model.finding import Finding
from amplint.model.span import Span
from amplint.rewrite.render import Refusal
from amplint.source.text import Source, SourceError, source_from_bytes

MAX_ROUNDS = 10
MAX_STEPS = 5
# Fixes of which one does not hold are halved until they are no more than these.
MANY = 8


Recheck = Callable[[Mapping[str, Source], Collection[str]], Mapping[str, CheckedFile]]


class Chosen(Value):
    """A finding with the edits that its fix makes in its file."""

    finding: Finding
    edits: tuple[Edit, ...]


class Waiting(Value):
    """A finding whose fix was not applied, and why."""

    finding: Finding
    reason: str


class FixResult(Value):
    """What fixing came to: the files as they are now, the findings that were fixed and those whose fix waits.

    The places of applied findings are those of the round in which they were found.
    """

    files: Mapping[str, CheckedFile]
    applied: tuple[Finding, ...] = ()
    waiting: tuple[Waiting, ...] = ()

    def changed(self) -> Iterator[str]:
        """The paths in which something was fixed."""
        yield from dict.fromkeys(finding.path for finding in self.applied)


def fix_files(files: Mapping[str, CheckedFile], policy: FixPolicy, recheck: Recheck) -> FixResult:
    """Apply the fixes that the policy lets through, and check again, until nothing is left to apply.

    recheck gets every source that changed so far, and the paths whose text changed since it last held. It gives back
    these files, less those that cannot be checked any more, and all whose findings may have changed with them. After
    ten rounds without an end, nothing is changed.
    """
    run = _Run(dict(files), policy, recheck)
    for _ in range(MAX_ROUNDS):
        if not run.round():
            return FixResult(run.state, tuple(run.applied), tuple(run.waiting()))
    reason = f"fixes did not come to an end in {MAX_ROUNDS} rounds; please report it with the file"
    return FixResult(files, (), tuple(Waiting(f, reason) for f in _with_fix(files)))


def _with_fix(files: Mapping[str, CheckedFile]) -> Iterator[Finding]:
    for file in files.values():
        yield from (finding for finding in file.findings if finding.fix is not None)


def _lines(edit: Edit) -> range:
    return range(edit.span.line, edit.span.end_line + 1)


class _Run(Struct):
    """The state of one fixing: the files now, what was applied, and what was rejected for good."""

    state: dict[str, CheckedFile]
    policy: FixPolicy
    recheck: Recheck
    applied: list[Finding] = field(default_factory=list)
    rejected: dict[Finding, str] = field(default_factory=dict)
    overlay: dict[str, Source] = field(default_factory=dict)

    def round(self) -> bool:
        """Apply what can be applied together; False once nothing was left to try."""
        while chosen := self._choose():
            if self._attempt(chosen):
                self.rejected.clear()  # their places moved; they are tried again
                return True
        return False

    def waiting(self) -> Iterator[Waiting]:
        """The findings with a fix that are left, and why."""
        for file in self.state.values():
            for finding in file.findings:
                if finding.fix is not None:
                    yield Waiting(finding, self._reason(file, finding))

    def _reason(self, file: CheckedFile, finding: Finding) -> str:
        refused = file.objection(finding, self.policy)
        if refused is not None:
            return refused
        edits = file.rendered(finding)
        if isinstance(edits, Refusal):
            return edits.reason
        return self.rejected.get(finding, "another fix stands in its way")

    def _choose(self) -> dict[str, list[Chosen]]:
        """The fixes of all files that can be made together."""
        found = {path: self._choose_in(file, file.findings) for path, file in self.state.items()}
        return {path: group for path, group in found.items() if group}

    def _choose_in(self, file: CheckedFile, findings: Iterable[Finding]) -> list[Chosen]:
        """The fixes whose edits neither overlap nor touch; equal edits of two fixes count once."""
        taken: set[Edit] = set()
        spans: defaultdict[int, list[Span]] = defaultdict(list)  # of those, by the lines on which they are
        found: list[Chosen] = []

        def is_free(edit: Edit) -> bool:
            near = (span for line in _lines(edit) for span in spans[line])
            return edit in taken or not any(edit.span.touches(span) for span in near)

        for finding in findings:
            if finding in self.rejected or file.objection(finding, self.policy) is not None:
                continue
            edits = file.rendered(finding)
            if isinstance(edits, Refusal) or not edits:
                continue
            if all(map(is_free, edits)):
                for edit in edits:
                    taken.add(edit)
                    for line in _lines(edit):
                        spans[line].append(edit.span)
                found.append(Chosen(finding, edits))
        file.put_away()
        return found

    def _attempt(self, chosen: dict[str, list[Chosen]]) -> bool:
        """Make all chosen edits and check again; where that fails, reject what does not hold by itself."""
        reason = self._try(chosen)
        if reason is None:
            return True
        single = [each for group in chosen.values() for each in group]
        if len(single) == 1:
            self.rejected[single[0].finding] = reason
            return False
        rejected = [self._reject_in(path, group) for path, group in chosen.items()]
        if not any(rejected):  # each holds alone, all together do not: keep the first
            for each in single[1:]:
                self.rejected[each.finding] = "it does not hold together with another fix"
        return False

    def _reject_in(self, path: str, group: list[Chosen]) -> bool:
        """Reject the fixes of a file that do not hold by themselves; whether there was one."""
        reason = self._try({path: group}, is_trial=True)
        if reason is None:
            return False
        if len(group) > MANY:  # each by itself would have the file checked as often as there are fixes in it
            half = len(group) // 2
            return any([self._reject_in(path, group[:half]), self._reject_in(path, group[half:])])
        found = False
        for each in group:
            alone = reason if len(group) == 1 else self._try({path: [each]}, is_trial=True)
            if alone is not None:
                self.rejected[each.finding] = alone
                found = True
        return found

    def _try(self, chosen: dict[str, list[Chosen]], is_trial: bool = False) -> str | None:
        """Apply the edits. Returns why the result does not hold, or None and takes it over unless it is a trial.

        Where a fix uncovers a finding that has a fix itself (a loss is scaled, so the clip after it now sees scaled
        gradients), both are made together or neither is.
        """
        state, overlay, seen = dict(self.state), dict(self.overlay), set[str]()
        made: list[Finding] = []
        step = chosen
        for _ in range(MAX_STEPS):
            fault = self._apply(state, overlay, seen, step)
            if fault is not None:
                return fault
            made += (each.finding for group in step.values() for each in group)
            against, uncovered = self._counted(state, seen, chosen)
            if against is None:
                break
            followed = {path: self._choose_in(state[path], found) for path, found in uncovered.items()}
            step = {path: group for path, group in followed.items() if group}
            if not step:
                return against
        if against is None and not is_trial:
            self.state, self.overlay = state, overlay
            self.applied += made
        return against

    def _apply(
        self, state: dict[str, CheckedFile], overlay: dict[str, Source], seen: set[str], step: dict[str, list[Chosen]]
    ) -> str | None:
        """Make the edits in this state and check again. Returns what speaks against the new text itself."""
        edits: dict[str, list[Edit]] = {}
        for path, group in step.items():
            edits[path] = list(dict.fromkeys(edit for each in group for edit in each.edits))
            changed = self._changed(state[path], edits[path])
            if isinstance(changed, str):
                return changed
            overlay[path] = changed
        after = self.recheck(overlay, step.keys())
        for path in step:
            if path not in after:
                return "the result could not be checked"
            against = objection(state[path].facts, after[path].facts, new_spans(edits[path]))
            if against is not None:
                return against
        state.update(after)
        seen.update(after)
        return None

    def _changed(self, file: CheckedFile, edits: Sequence[Edit]) -> Source | str:
        try:
            source = source_from_bytes(file.source.splice(edits), file.source.path)
        except (SourceError, ValueError) as error:
            return str(error)
        if file.compiles and not compiles(source.program):
            return "the result would not compile"
        return source

    def _counted(
        self, state: Mapping[str, CheckedFile], seen: Collection[str], chosen: dict[str, list[Chosen]]
    ) -> tuple[str | None, dict[str, list[Finding]]]:
        """Whether every fixed finding is gone and no other came, by code over the files seen; else those that may have.

        Where torch raises at a mistake, the next one of its kind is only found once it is mended.
        """
        fixed = Counter(each.finding.code for group in chosen.values() for each in group)
        old = Counter(finding.code for path in seen for finding in self._before(path))
        new = Counter(finding.code for path in seen for finding in state[path].findings)
        more = {code for code in new if new[code] > old[code]}
        left = {code for code in new if new[code] > old[code] - fixed[code]}
        against = f"it would bring a new {min(more)}" if more else f"{min(left)} would still be found" if left else None
        return against, {path: [each for each in state[path].findings if each.code in more | left] for path in seen}

    def _before(self, path: str) -> tuple[Finding, ...]:
        return self.state[path].findings if path in self.state else ()
