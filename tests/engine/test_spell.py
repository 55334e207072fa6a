import pytest

from amplint.engine.spell import FactsSpeller
from amplint.facts.gather import Facts
from amplint.model.tree import Name
from amplint.syntax.lower import lower
from tests.rewrite.rendering import span_of

SPELLINGS = {
    "root": ("import torch\nX\n", "torch.amp.autocast"),
    "root by another name": ("import torch as T\nX\n", "T.amp.autocast"),
    "submodule import binds the root": ("import torch.cuda.amp\nX\n", "torch.amp.autocast"),
    "package": ("import torch\nfrom torch import amp\nX\n", "amp.autocast"),
    "the name itself": ("import torch\nfrom torch.amp import autocast as ac\nX\n", "ac"),
    "another package of that name": ("from torch.cuda import amp\nX\n", None),
    "later": ("X\nimport torch\n", None),
    "later, but in a function": ("def f():\n    X\nimport torch\n", "torch.amp.autocast"),
    "local": ("def f():\n    import torch\n    X\n", "torch.amp.autocast"),
    "local to another": ("def f():\n    import torch\ndef g():\n    X\n", None),
    "from the function around": ("def f():\n    import torch\n    def g():\n        X\n", "torch.amp.autocast"),
    "shadowed by a parameter": ("import torch\ndef f(torch):\n    X\n", None),
    "shadowed by an assignment": ("import torch\ndef f():\n    X\n    torch = 1\n", None),
    "in a class body": ("class A:\n    import torch\n    X\n", "torch.amp.autocast"),
    "a class body is not seen from methods": ("class A:\n    import torch\n    def f(self):\n        X\n", None),
    "in one branch": ("if a:\n    import torch\nX\n", None),
    "in the same branch": ("if a:\n    import torch\n    X\n", "torch.amp.autocast"),
    "in the other branch": ("if a:\n    import torch\nelse:\n    X\n", None),
    "in a try": ("try:\n    import torch\nexcept ImportError:\n    torch = None\nX\n", "torch.amp.autocast"),
    "in a handler": ("try:\n    a()\nexcept E:\n    import torch\nX\n", None),
    "in the same handler": ("try:\n    a()\nexcept E:\n    import torch\n    X\n", "torch.amp.autocast"),
    "in a with": ("with a:\n    import torch\nX\n", "torch.amp.autocast"),
    "in a branch, and used here already": ("if a:\n    import torch\nf(torch.x, X)\n", "torch.amp.autocast"),
    "two meanings": ("if a:\n    from torch.amp import autocast\nelse:\n    from b import autocast\nX\n", None),
    "assigned besides": ("import torch\ntorch = f()\nX\n", None),
    "deleted": ("import torch\ndel torch\nX\n", None),
}


def _speller(program: str) -> FactsSpeller:
    return FactsSpeller(Facts("a.py", lower(program)))


@pytest.mark.parametrize("name", SPELLINGS)
def test_spell(name):
    program, expected = SPELLINGS[name]
    assert _speller(program).spell("torch.amp.autocast", span_of(program, "X")) == expected


def test_packages_that_importing_torch_need_not_load():
    program = "import torch\nimport torch.distributed.fsdp as F\nX\n"
    speller = _speller(program)
    assert speller.spell("torch.distributed.fsdp.FSDP", span_of(program, "X")) == "F.FSDP"
    assert speller.spell("torch.distributed.fsdp.api.S", span_of(program, "X")) is None


@pytest.mark.parametrize(
    ("program", "is_free"),
    [
        ("X\n", True),
        ("autocast = 1\nX\n", False),
        ("def f(autocast):\n    X\n", False),
        ("def f(autocast): pass\nX\n", True),
        ("def f():\n    X\nautocast = 1\n", False),
        ("from a import *\nX\n", True),
        ("from a import *\nautocast()\nX\n", False),
    ],
)
def test_is_free(program, is_free):
    assert _speller(program).is_free("autocast", span_of(program, "X")) is is_free


def test_builtins_are_not_free():
    assert not _speller("X\n").is_free("print", span_of("X\n", "X"))


@pytest.mark.parametrize(
    ("program", "is_bound"),
    [
        ("X\n", False),
        ("X = 1\nX\n", True),
        ("print(X)\nX = 1\n", False),
        ("def f():\n    X\nX = 1\n", True),
        ("[X for X in a]\n", True),
        ("[b for X in a if X]\n", True),
        ("lambda X: X\n", True),
        ("from a import *\nX\n", True),
        ("class A:\n    X = 1\n    def f(self): return X\n", False),
        ("def f(b=X): pass\nX = 1\n", False),
    ],
)
def test_is_bound(program, is_bound):
    speller = _speller(program)
    uses = [node for node in speller.facts.index.nodes if isinstance(node, Name) and node.id == "X"]
    results = {speller.is_bound(node) for node in uses if not _is_target(program, node)}
    assert results == {is_bound}


def _is_target(program: str, node: Name) -> bool:
    lines = program.split("\n")
    return lines[node.span.line - 1][node.span.end_column :].startswith((" = ", " in"))
