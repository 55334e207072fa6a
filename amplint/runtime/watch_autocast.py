"""Hooks on autocast: which region is entered, from where, and which was made but never entered."""

import weakref
from typing import Any

import torch

from amplint.runtime.patch import Patches
from amplint.runtime.record import Recorder
from amplint.runtime.site import NOWHERE, Site, is_called_by_user, site_of_caller
from amplint.runtime.trace import Kind

Autocast = torch.amp.autocast_mode.autocast


class AutocastHooks:
    """Watches every autocast object of the program, also those that a decorator enters."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._entered: dict[int, int] = {}
        self._made: dict[int, tuple[weakref.ref[Any], Site]] = {}

    def install(self, patches: Patches) -> None:
        """Wrap the methods of the class; the deprecated ones for cuda and cpu inherit them."""
        patches.wrap(Autocast, "__init__", self._init)
        patches.wrap(Autocast, "__enter__", self._enter)
        patches.wrap(Autocast, "__exit__", self._exit)
        patches.wrap(Autocast, "__call__", self._call)

    def _init(self, original: Any) -> Any:
        recorder = self._recorder

        def init(region: Any, *args: Any, **kwargs: Any) -> None:
            original(region, *args, **kwargs)
            if recorder.is_on and region._enabled:
                key, site = id(region), site_of_caller()
                self._made[key] = (weakref.ref(region, lambda _: self._drop(key)), site)

        return init

    def _drop(self, key: int) -> None:
        entry = self._made.pop(key, None)
        if entry is not None and self._recorder.is_on and entry[1] is not NOWHERE:
            self._recorder.emit(Kind.REGION_DROPPED, entry[1])

    def _call(self, original: Any) -> Any:
        def call(region: Any, function: Any) -> Any:
            self._made.pop(id(region), None)
            return original(region, function)

        return call

    def _enter(self, original: Any) -> Any:
        recorder = self._recorder

        def enter(region: Any) -> Any:
            if not recorder.is_on:
                return original(region)
            self._made.pop(id(region), None)
            number = recorder.known.number(region)
            depth = self._entered.get(number, 0)
            result = original(region)
            self._entered[number] = depth + 1
            if region._enabled:
                recorder.regions.append(number)
                recorder.has_float16 |= region.fast_dtype is torch.float16
            recorder.emit(
                Kind.REGION_ENTER,
                region=number,
                device=str(region.device),
                dtype=str(region.fast_dtype).removeprefix("torch."),
                is_enabled=bool(region._enabled),
                is_reentered=depth > 0,
                is_cached=bool(region._cache_enabled),
                is_of_user=is_called_by_user(),
            )
            return result

        return enter

    def _exit(self, original: Any) -> Any:
        recorder = self._recorder

        def exit(region: Any, *details: Any) -> Any:
            if not recorder.is_on:
                return original(region, *details)
            number = recorder.known.number(region)
            self._entered[number] = max(0, self._entered.get(number, 0) - 1)
            if number in recorder.regions:
                recorder.regions.reverse()
                recorder.regions.remove(number)
                recorder.regions.reverse()
            recorder.emit(Kind.REGION_EXIT, region=number)
            return original(region, *details)

        return exit
