"""Which rules apply to a file, from selectors; is told the rules as data and imports none of them."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from amplint.config.globs import Globs
from amplint.config.usage import UsageError, did_you_mean
from amplint.model.data import Value


class RuleName(Value):
    """What selection needs to know of a rule."""

    code: str
    name: str
    is_default: bool
    is_preview: bool = False


class Layer(Value):
    """The selectors of one origin: a configuration file, or the command line, which is laid over it."""

    select: tuple[str, ...] | None = None
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    file: str = ""

    @property
    def is_given(self) -> bool:
        """Whether it selects or ignores anything."""
        return self.select is not None or bool(self.extend_select or self.ignore)


_EXACT = 100


def _specificity(selector: str, rule: RuleName) -> int | None:
    """How narrowly a selector names a rule, or None where it does not. ALL is 0, a whole code or name the most."""
    if selector == "ALL":
        return 0
    if selector.upper() == rule.code or selector.lower() == rule.name:
        return _EXACT
    return len(selector) if selector and rule.code.startswith(selector.upper()) else None


class Selection:
    """The rules that layers of selectors choose; per_file takes more away by path."""

    def __init__(
        self,
        rules: Sequence[RuleName],
        layers: Sequence[Layer] = (),
        per_file: Sequence[tuple[Globs, tuple[str, ...]]] = (),
        *,
        has_preview: bool = False,
    ) -> None:
        self._rules = rules
        self._per_file = per_file
        for layer in layers:
            origin = f"{layer.file}: " if layer.file else ""
            check_selectors((*(layer.select or ()), *layer.extend_select, *layer.ignore), rules, origin)
        for globs, selectors in per_file:
            check_selectors(selectors, rules, f"per-file-ignores in {globs.root}: ")
        self._codes = frozenset(rule.code for rule in rules if _is_selected(rule, layers, has_preview=has_preview))

    def for_path(self, path: PurePath) -> frozenset[str]:
        """The codes that apply to a file."""
        ignored = [selector for globs, selectors in self._per_file if globs.match(path) for selector in selectors]
        return self._codes - codes_of(ignored, self._rules) if ignored else self._codes


def _is_selected(rule: RuleName, layers: Sequence[Layer], *, has_preview: bool) -> bool:
    """Whether the narrowest selector says yes; of two as narrow the later layer's, and in one layer the ignore.

    A layer that selects afresh drops what earlier layers selected, but not what they ignored.
    """
    votes: list[tuple[int, int, bool, bool]] = []
    has_fresh = False
    for number, layer in enumerate(layers):
        if layer.select is not None:
            votes = [vote for vote in votes if vote[2]]
            has_fresh = True
        for selector in (*(layer.select or ()), *layer.extend_select):
            narrow = _specificity(selector, rule)
            if narrow is not None:
                votes.append((narrow, number, False, True))
        for selector in layer.ignore:
            narrow = _specificity(selector, rule)
            if narrow is not None:
                votes.append((narrow, number, True, False))
    if not has_fresh:
        votes.append((-1, 0, False, rule.is_default or (has_preview and rule.is_preview)))
    return max(votes)[3] if votes else False


def codes_of(selectors: Iterable[str], rules: Sequence[RuleName]) -> frozenset[str]:
    """The codes that selectors name together."""
    wanted = list(selectors)
    return frozenset(rule.code for rule in rules if any(_specificity(one, rule) is not None for one in wanted))


def check_selectors(selectors: Iterable[str], rules: Sequence[RuleName], origin: str = "") -> None:
    """Raise UsageError for a selector that names no rule; the message begins with the origin."""
    for selector in selectors:
        if not any(_specificity(selector, rule) is not None for rule in rules):
            known = [name for rule in rules for name in (rule.code, rule.name)]
            raise UsageError(f"{origin}unknown rule {selector!r}{did_you_mean(selector, known)}")
