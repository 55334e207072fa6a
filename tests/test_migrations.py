"""Migrations change no number: generated programs see the same regions and scalers before and after them."""

import warnings
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixture_engine import check, findings_of, fix

pytest.importorskip("torch")

STYLES: tuple[tuple[str, str], ...] = (
    ("import torch", "torch.{d}.amp.{n}"),
    ("import torch as th", "th.{d}.amp.{n}"),
    ("import torch.{d}.amp", "torch.{d}.amp.{n}"),
    ("import torch.{d}.amp as a", "a.{n}"),
    ("from torch.{d} import amp", "amp.{n}"),
    ("from torch.{d}.amp import autocast, GradScaler", "{n}"),
    ("from torch.{d}.amp import (\n    autocast as autocast_,  # regions\n    GradScaler as GradScaler_,\n)", "{n}_"),
    ("import torch\n\nautocast = torch.{d}.amp.autocast\nGradScaler = torch.{d}.amp.GradScaler", "{n}"),
    ("from torch.{d}.amp.autocast_mode import autocast\nfrom torch.{d}.amp.grad_scaler import GradScaler", "{n}"),
)
AROUND = (
    "contextlib.nullcontext()",
    'torch.autocast("cpu", dtype=torch.float16)',
    'torch.autocast("cpu", torch.bfloat16, cache_enabled=False)',
    'torch.autocast("cuda", dtype=torch.bfloat16)',
    'torch.autocast("cpu")',
)
PROGRAM = """\
import contextlib
{imports}
import torch

SEEN = []


def look(where):
    SEEN.append((where, torch.is_autocast_enabled("cpu"), torch.is_autocast_enabled("cuda")))
    SEEN.append((torch.get_autocast_dtype("cpu"), torch.get_autocast_dtype("cuda"), torch.is_autocast_cache_enabled()))


def inner(flag):
    with {region}:
        look("inner")


@{decorator}
def decorated():
    look("decorated")


def run(flag):
    with {around}:
        inner(flag)
        decorated()
        with torch.no_grad(), {region}:
            with {decorator}:
                look("nested")
    scaler = {scaler}
    SEEN.append({{name: value for name, value in vars(scaler).items() if "states" not in name}})
    SEEN.append(isinstance(scaler, {scaler_type}))


run(True)
run(False)
"""
REGION_ARGUMENTS = {
    "enabled": ("flag", "True", "False"),
    "dtype": ("torch.float16", "torch.bfloat16"),
    "cache_enabled": ("True", "False"),
}
SCALER_ARGUMENTS = {
    "init_scale": ("1024.0", "2.0**8"),
    "growth_factor": ("1.5",),
    "backoff_factor": ("0.25",),
    "growth_interval": ("7",),
    "enabled": ("True", "flag"),
}


@st.composite
def arguments(draw: Callable[[st.SearchStrategy[object]], object], table: dict[str, tuple[str, ...]]) -> str:
    """Some arguments: the first of them by position, others by name, perhaps some in a dict."""
    count = draw(st.integers(0, len(table)))
    names = list(table)
    parts = [draw(st.sampled_from(table[name])) for name in names[:count]]  # type: ignore[index]
    chosen = [name for name in names[count:] if draw(st.booleans())]  # type: ignore[index]
    parts += [f"{name}={draw(st.sampled_from(table[name]))}" for name in chosen]
    return ", ".join(str(part) for part in parts)


@st.composite
def programs(draw: Callable[[st.SearchStrategy[object]], object]) -> str:
    device = draw(st.sampled_from(("cuda", "cpu")))
    imports, name = draw(st.sampled_from(STYLES))  # type: ignore[misc]
    region, scaler = (name.format(d=device, n=n) for n in ("autocast", "GradScaler"))
    decorator = str(draw(arguments(REGION_ARGUMENTS))).replace("flag", "True")
    return PROGRAM.format(
        imports=imports.format(d=device),
        region=f"{region}({draw(arguments(REGION_ARGUMENTS))})",
        decorator=f"{region}({decorator})",
        around=draw(st.sampled_from(AROUND)),
        scaler=f"{scaler}({draw(arguments(SCALER_ARGUMENTS))})",
        scaler_type=scaler,
    )


def seen(program: str) -> tuple[list[object], list[str]]:
    """What the program sees, and the deprecations that it is told of."""
    space: dict[str, object] = {}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        exec(compile(program, "program.py", "exec"), space)
    return space["SEEN"], [str(w.message) for w in told if w.category is FutureWarning]  # type: ignore[return-value]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(programs())
def test_regions_and_scalers_stay_as_they_are(program: str) -> None:
    options = {"isolated": True, "select": ("AMP1",)}
    after = fix({"program.py": program.encode()}, options).after["program.py"].decode()
    assert findings_of(check({"program.py": after.encode()}, options)) == []
    old, told = seen(program)
    new, still_told = seen(after)
    assert told
    assert not still_told
    assert new == old, after
