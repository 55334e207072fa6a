"""Python imports this in every process of a run (its folder is put on PYTHONPATH): it brings the overlay with it.

Knows where the overlay's module lies; then gives way to the sitecustomize that it hides.
"""

import importlib.machinery
import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name: str, path: str) -> None:
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)


if os.environ.get("AMPLINT_OVERLAY"):
    _load("_amplint_overlay", os.path.join(os.path.dirname(_HERE), "overlay.py"))
    sys.modules["_amplint_overlay"].overlay_from_environment().install()

_others = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
_hidden = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _hidden is not None and _hidden.origin is not None:
    _load("sitecustomize", _hidden.origin)
