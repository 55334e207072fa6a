"""The table of AMP names against the installed torch."""

import importlib
import inspect
import warnings
from collections.abc import Iterator

import pytest

from amplint.knowledge import torch_api
from amplint.knowledge.torch_api import ALIASES, APIS, PACKAGE_NAMES, Api, package_of

torch = pytest.importorskip("torch")


def resolve(dotted: str) -> object:
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(dotted)


def has_python_signature(api: Api) -> bool:
    return not api.is_query or api.name == "torch.amp.is_autocast_available"


@pytest.mark.parametrize("api", [a for a in APIS.values() if has_python_signature(a)], ids=lambda a: a.name)
def test_signature(api: Api) -> None:
    signature = inspect.signature(resolve(api.name))
    assert [p.name for p in api.params] == list(signature.parameters)
    for param, real in zip(api.params, signature.parameters.values(), strict=True):
        assert param.is_keyword_only == (real.kind is inspect.Parameter.KEYWORD_ONLY)
        if param.default is None:
            assert real.default is inspect.Parameter.empty
        else:
            assert eval(param.default, {"torch": torch}) == real.default


@pytest.mark.parametrize("api", [a for a in APIS.values() if not has_python_signature(a)], ids=lambda a: a.name)
def test_query_takes_its_parameters(api: Api) -> None:
    function = resolve(api.name)
    assert callable(function)
    with pytest.raises(TypeError):
        function(*[object()] * (len(api.params) + 1))


def test_torch_deprecated_the_old_names_in_one_release() -> None:
    assert {api.deprecated for api in APIS.values() if api.replacement is not None} == {(2, 4)}


def test_replacements_exist_and_are_not_deprecated() -> None:
    for api in APIS.values():
        if api.replacement is not None:
            replacement = torch_api.api(api.replacement)
            assert callable(resolve(api.replacement))
            assert replacement is None or replacement.deprecated is None
            assert api.device is not None


@pytest.fixture
def state() -> Iterator[None]:
    """Gives back the dtypes and switches that a test sets."""
    devices = ("cuda", "cpu", "xla", "ipu")
    dtypes = {device: torch.get_autocast_dtype(device) for device in devices}
    yield
    for device, dtype in dtypes.items():
        torch.set_autocast_dtype(device, dtype)
        torch.set_autocast_enabled(device, False)


@pytest.mark.parametrize("name", [a.name for a in APIS.values() if a.deprecated], ids=str)
@pytest.mark.usefixtures("state")
def test_deprecated_names_warn(name: str) -> None:
    function = resolve(name)
    arguments: list[object] = []
    if name.endswith(("_bwd", "_fwd")):
        arguments = [lambda ctx, x: x]
    elif "set_" in name:
        arguments = [torch.bfloat16 if name.endswith("_dtype") else False]
    with pytest.warns((FutureWarning, DeprecationWarning), match="deprecated"):
        function(*arguments)  # type: ignore[operator]


def test_device_free_queries_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.is_autocast_enabled() is False
        torch.set_autocast_enabled(False)


def test_aliases_are_the_same_objects() -> None:
    for alias, name in ALIASES.items():
        if alias.startswith("torch.autocast_mode"):  # gone since torch 1.12
            continue
        assert resolve(alias) is resolve(name)


def test_package_names() -> None:
    for package, names in PACKAGE_NAMES.items():
        module = importlib.import_module(package)
        public = {n for n in vars(module) if not n.startswith("_") and n not in ("torch", "Any", "deprecated")}
        assert public == names


def test_well_meant_names() -> None:
    for wrong, right in torch_api.WELL_MEANT.items():
        with pytest.raises(AttributeError):
            resolve(wrong)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            resolve(right)


def test_matmul_names() -> None:
    for name in torch_api.MATMUL_NAMES:
        if hasattr(torch.backends.cuda.matmul, name):
            continue
        # Settings that can only be set, or that newer versions spell otherwise.
        assert name.endswith("_split_k")
    for name in torch_api.CUDNN_NEVER:
        assert not hasattr(torch.backends.cudnn, name)


def test_scaler_attributes() -> None:
    scaler = torch.amp.GradScaler("cpu")
    names = {n for n in dir(scaler) if not n.startswith("__")}
    assert {n for n in names if not n.startswith("_")} == torch_api.SCALER_METHODS
    assert {n for n in names if n.startswith("_")} <= torch_api.SCALER_PRIVATE
    assert not names & set(torch_api.SCALER_WELL_MEANT)


def test_the_cpu_came_later():
    since = {device: APIS[f"torch.{device}.amp.autocast"].since for device in ("cuda", "cpu")}
    assert since == {"cuda": (1, 6), "cpu": (1, 10)}


def test_a_package_lies_in_itself():
    assert package_of("torch.cuda.amp") == package_of("torch.cuda.amp.autocast") == "torch.cuda.amp"
    assert package_of("torch.cuda.amplitude") is None
