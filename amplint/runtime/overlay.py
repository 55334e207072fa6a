"""Serves another text for a file to every Python process of a run, without writing or copying anything.

Stands alone (standard library only, loaded by path in processes that know nothing of amplint); reads a JSON file
named by AMPLINT_OVERLAY that maps real paths to texts. Refuses to know why a text differs.
"""

import functools
import importlib.machinery
import json
import linecache
import os
import runpy
from collections.abc import Callable, Mapping
from types import CodeType
from typing import Any

VARIABLE = "AMPLINT_OVERLAY"

Compile = Callable[[str, str, str | None], CodeType | None]
"""Gives the code for a name, its real path and the text served for it; None for the usual code."""


class Overlay:
    """Texts by real path."""

    def __init__(self, texts: Mapping[str, str], compile_own: Compile | None = None) -> None:
        self._texts = texts
        self._compile_own = compile_own

    def code_of(self, path: object) -> CodeType | None:
        """The compiled text served for a path, under the path's own name, or None where the file itself counts."""
        is_idle = not self._texts and self._compile_own is None
        if is_idle or not isinstance(path, str | os.PathLike):
            return None
        name = os.fspath(path)
        real = os.path.realpath(name)
        text = self._texts.get(real)
        own = None if self._compile_own is None else self._compile_own(name, real, text)
        if own is not None:
            return own
        return None if text is None else compile(text, name, "exec", dont_inherit=True)

    def install(self) -> None:
        """Hook imports, `runpy` (which spawned workers use for the main script) and the line cache of tracebacks."""
        if not self._texts and self._compile_own is None:
            return
        loader: Any = importlib.machinery.SourceFileLoader
        loader.get_code = self._hooked_import(loader.get_code)
        module: Any = runpy
        module._get_code_from_file = self._hooked_runpy(module._get_code_from_file)
        for path, text in self._texts.items():
            # No modification time: linecache keeps the entry whatever the file on disk says.
            linecache.cache[path] = (len(text), None, text.splitlines(True), path)

    def _hooked_import(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def get_code(loader: Any, fullname: str) -> Any:
            code = self.code_of(loader.path)
            return original(loader, fullname) if code is None else code

        return get_code

    def _hooked_runpy(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def get_code_from_file(*args: Any) -> Any:
            code, found = self.code_of(args[-1]), original(*args)
            if code is None:
                return found
            return (code, *found[1:]) if isinstance(found, tuple) else code

        return get_code_from_file


def overlay_from_environment(compile_own: Compile | None = None) -> Overlay:
    """The overlay that this process inherited; empty where there is none."""
    path = os.environ.get(VARIABLE)
    if not path:
        return Overlay({}, compile_own)
    with open(path, encoding="utf-8") as stream:
        return Overlay(json.load(stream), compile_own)
