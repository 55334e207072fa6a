"""What holds for each folder of a run, from its settings: rules, facts' settings, import roots, excludes.

Reads configuration and dependency lists, checks nothing.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from amplint.config.load import Resolved, Resolver
from amplint.config.select import RuleName, Selection, check_selectors, codes_of
from amplint.config.torch_version import ProjectTorch, parse_version
from amplint.source.discover import Limits

if TYPE_CHECKING:
    from amplint.facts.settings import CheckSettings, TargetTorch
    from amplint.rules.rule import Rule

_FIX_LISTS = ("fixable", "unfixable", "extend_safe_fixes", "extend_unsafe_fixes")


class Setup:
    """The settings of a run, folder by folder, each worked out once. Raises UsageError where they are wrong."""

    def __init__(self, resolver: Resolver, cwd: Path) -> None:
        self.resolver = resolver
        self.cwd = cwd
        self._rule_names: list[RuleName] = []
        self._selections: dict[Path | None, Selection] = {}
        self._fix_codes: dict[Path | None, FixCodes] = {}
        self._check_settings: dict[Path, CheckSettings] = {}
        self._torch = ProjectTorch()
        self._fingerprints: dict[Path | None, str] = {}

    def settings(self, folder: Path) -> Resolved:
        """The settings of a folder."""
        return self.resolver.for_folder(folder)

    def learn(self, rules: Iterable["Rule"]) -> None:
        """Take the rules from somebody who loaded them; otherwise their files are read."""
        self._rule_names = [RuleName(rule.code, rule.name, rule.is_default, rule.is_preview) for rule in rules]

    def rule_names(self) -> list[RuleName]:
        """All rules, for selection."""
        if not self._rule_names:
            from amplint.rules.catalogue import catalogue

            self._rule_names = [
                RuleName(rule.code, rule.name, rule.is_default, rule.is_preview) for rule in catalogue()
            ]
        return self._rule_names

    def check_selectors(self) -> None:
        """Raise UsageError where the settings of the working directory name a rule that does not exist."""
        top = self.resolver.top()
        if any(layer.is_given for layer in top.layers) or top.settings.per_file_ignores or _has_fix_codes(top):
            self.codes(self.cwd / "any.py")
            self.fix_codes(self.cwd)
        if top.settings.target_torch != "auto":
            _version(top)

    def codes(self, path: Path) -> frozenset[str]:
        """The codes that apply to a file."""
        found = self.settings(path.parent)
        if found.file not in self._selections:
            self._selections[found.file] = Selection(
                self.rule_names(), found.layers, found.per_file(), has_preview=found.settings.preview
            )
        return self._selections[found.file].for_path(path)

    def fix_codes(self, folder: Path) -> "FixCodes":
        """What the settings of a folder say about fixes."""
        found = self.settings(folder)
        if found.file not in self._fix_codes:
            self._fix_codes[found.file] = FixCodes(found, self.rule_names())
        return self._fix_codes[found.file]

    def check_settings(self, folder: Path) -> "CheckSettings":
        """The part of a folder's settings that facts see."""
        if folder not in self._check_settings:
            from amplint.facts.settings import CheckSettings

            found = self.settings(folder)
            settings = found.settings
            self._check_settings[folder] = CheckSettings(
                self._target(folder, found),
                settings.scaler_names,
                settings.clip_functions,
            )
        return self._check_settings[folder]

    def _target(self, folder: Path, resolved: Resolved) -> "TargetTorch":
        from amplint.facts.settings import TargetTorch

        if resolved.settings.target_torch != "auto":
            return TargetTorch(_version(resolved), is_assumed=False)
        found = None if resolved.settings.isolated else self._torch.of(folder)
        return TargetTorch(found, is_assumed=False) if found else TargetTorch()

    def fingerprint(self, folder: Path) -> str:
        """A text that changes whenever the settings of a folder would let something else be found there."""
        found = self.settings(folder)
        settings = found.settings
        if found.file not in self._fingerprints:
            lists = (settings.fixable, settings.unfixable, settings.extend_safe_fixes, settings.extend_unsafe_fixes)
            names = (settings.scaler_names, settings.clip_functions, settings.src, settings.per_file_ignores)
            self._fingerprints[found.file] = repr((str(found.root), found.layers, settings.preview, lists, names))
        is_auto = settings.target_torch == "auto" and not settings.isolated
        target = self._torch.of(folder) if is_auto else settings.target_torch
        return f"{target}\n{self._fingerprints[found.file]}"

    def source_roots(self, folder: Path) -> tuple[Path, ...]:
        """The folders from which absolute imports are found."""
        found = self.settings(folder)
        return tuple(Path(os.path.normpath(found.root / name)) for name in found.settings.src)

    def limits(self) -> Limits:
        """What a walk leaves out."""
        top = self.resolver.top().settings
        return Limits(
            lambda folder: self.settings(Path(folder)).excluded_in(folder), top.respect_gitignore, top.force_exclude
        )


def _version(found: Resolved) -> tuple[int, int]:
    return parse_version(found.settings.target_torch, found.origin("target_torch"))


def _has_fix_codes(found: Resolved) -> bool:
    return any(name in found.origins for name in _FIX_LISTS)


class FixCodes:
    """Which codes' fixes may be applied, and whose applicability the settings change."""

    def __init__(self, found: Resolved, rules: list[RuleName]) -> None:
        settings = found.settings
        lists = (settings.fixable, settings.unfixable, settings.extend_safe_fixes, settings.extend_unsafe_fixes)
        for name, selectors in zip(_FIX_LISTS, lists, strict=True):
            check_selectors(selectors, rules, found.origin(name))
        fixable, unfixable, self.safe, self.unsafe = (codes_of(selectors, rules) for selectors in lists)
        self.fixable = fixable - unfixable
