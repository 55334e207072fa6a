import pytest

from amplint.facts.gather import Context, Facts
from amplint.facts.program.context import Modules
from amplint.facts.program.index import header_span
from amplint.model import tree
from amplint.model.span import Span
from amplint.syntax.lower import lower


def facts_of(program: str, dotted_name: str = "pkg.train", is_package: bool = False) -> Facts:
    return Facts("train.py", lower(program), dotted_name=dotted_name, is_package=is_package)


def called(facts: Facts) -> list[str | None]:
    return [facts.names.canonical(call.func) for call in facts.index.calls]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("import torch\ntorch.cuda.amp.autocast()", "torch.cuda.amp.autocast"),
        ("import torch.cuda.amp\ntorch.cuda.amp.autocast()", "torch.cuda.amp.autocast"),
        ("import torch.cuda.amp as amp\namp.autocast()", "torch.cuda.amp.autocast"),
        ("from torch.cuda import amp\namp.autocast()", "torch.cuda.amp.autocast"),
        ("from torch.cuda.amp import autocast as ac\nac()", "torch.cuda.amp.autocast"),
        ("def f():\n    from torch.cuda.amp import autocast\n    autocast()", "torch.cuda.amp.autocast"),
        ("import torch\nac = torch.cuda.amp.autocast\nac()", "torch.cuda.amp.autocast"),
        ("import torch\na, b = torch.autocast, 1\na()", "torch.autocast"),
        ("from . import amp\namp.f()", "pkg.amp.f"),
        ("from .amp import f\nf()", "pkg.amp.f"),
        ("from ..amp import f\nf()", "amp.f"),
        ("from torch.cuda.amp import *\nautocast()", "torch.cuda.amp.autocast"),
        ("def f(): pass\nf()", "pkg.train.f"),
        ("class A:\n    def m(self): pass\nA.m()", "pkg.train.A.m"),
        ("print()", "builtins.print"),
        ("from torch.cuda.amp import autocast\ndef f(autocast): autocast()", None),
        ("from torch.cuda.amp import autocast\ndef f():\n    autocast = g\n    autocast()", None),
        ("from torch.cuda.amp import autocast\n[autocast() for autocast in x]", None),
        ("from a import f\nclass A:\n    f = 1\n    def m(self): f()", "a.f"),
        ("def g():\n    global f\n    from a import f\nf()", "a.f"),
        ("try:\n    from a import f\nexcept ImportError:\n    from b import f\nf()", None),
        ("unknown()", None),
    ],
)  # fmt: skip
def test_canonical_name_of_a_call(program: str, expected: str | None) -> None:
    assert called(facts_of(program))[-1] == expected


def test_relative_imports_of_a_package_start_at_itself() -> None:
    assert called(facts_of("from .amp import f\nf()", "pkg", is_package=True)) == ["pkg.amp.f"]


def test_decorators_and_defaults_belong_to_the_scope_outside() -> None:
    facts = facts_of("from a import d\n@d()\ndef d(x=d()): pass\n")
    assert [facts.names.meaning(call.func).names for call in facts.index.calls] == [{"a.d", "pkg.train.d"}] * 2


def test_a_name_bound_on_two_branches_means_both() -> None:
    facts = facts_of("import torch\nac = torch.autocast if new else torch.cuda.amp.autocast\nac()")
    meaning = facts.names.meaning(facts.index.calls[-1].func)
    assert meaning.names == {"torch.autocast", "torch.cuda.amp.autocast"}
    assert meaning.is_complete


def test_self_reference_ends() -> None:
    assert called(facts_of("a = b\nb = a\na()")) == [None]


def test_definitions_are_found_across_files_and_through_re_exports() -> None:
    engine = facts_of("def train(): pass\nclass Loop:\n    def run(self): pass\n", "pkg.engine")
    package = facts_of("from .engine import *\nfrom .engine import Loop as L\n", "pkg", is_package=True)
    main = facts_of("from pkg import L\nL.run()\n", "main")
    modules = {"pkg": package, "pkg.engine": engine}
    for facts in (main, package, engine):
        facts.context = Context(Modules(modules))
    found = main.definition("pkg.L.run")
    assert found is not None
    owner, function = found
    assert owner is engine
    assert isinstance(function, tree.FunctionDef)
    assert main.definition("pkg.train") == (engine, engine.module.body[0])
    assert main.definition("torch.nn.Linear") is None


def test_a_compound_statement_speaks_only_for_its_header() -> None:
    facts = facts_of("with (a,\n      b) as c:\n    x\n")
    statement = facts.module.body[0]
    assert header_span(statement) == Span(1, 0, 2, 13)
    assert facts.index.statement_span(Span(2, 6, 2, 7)) == Span(1, 0, 2, 13)
    assert facts.index.statement_span(Span(3, 4, 3, 5)) == Span(3, 4, 3, 5)
    function = facts_of("@d(\n  1)\ndef f(a,\n      b=2):\n    x\n").module.body[0]
    assert header_span(function) == Span(3, 0, 4, 7)


def test_loops_are_those_of_the_own_function() -> None:
    facts = facts_of("for a in b:\n    while c:\n        f()\n    else:\n        g()\n    def h():\n        i()\n")
    loops = {call.func.id: len(facts.index.loops(call)) for call in facts.index.calls}  # type: ignore[union-attr]
    assert loops == {"f": 2, "g": 1, "i": 0}
