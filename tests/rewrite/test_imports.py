import pytest

from amplint.model.edit import DeleteStatement, InsertArgument, InsertBefore, MoveImport, Replace
from tests.rewrite.rendering import TableSpeller, refusal, rendered, span_of

MOVES = {
    "only name": (
        "from torch.cuda.amp import autocast\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\n",
    ),
    "comment and alias stay": (
        "from torch.cuda.amp import autocast as ac  # noqa: F401\n",
        {"autocast as ac": "torch.amp.autocast"},
        "from torch.amp import autocast as ac  # noqa: F401\n",
    ),
    "all names": (
        "from torch.cuda.amp import (\n    autocast,  # region\n    GradScaler as GS,\n)\n",
        {"autocast": "torch.amp.autocast", "GradScaler as GS": "torch.amp.GradScaler"},
        "from torch.amp import (\n    autocast,  # region\n    GradScaler as GS,\n)\n",
    ),
    "some names": (
        "from torch.cuda.amp import autocast, GradScaler, custom_fwd\n",
        {"autocast": "torch.amp.autocast", "GradScaler": "torch.amp.GradScaler"},
        "from torch.amp import autocast, GradScaler\nfrom torch.cuda.amp import custom_fwd\n",
    ),
    "last name": (
        "import os\nfrom torch.cuda.amp import custom_fwd, autocast  # c\n",
        {"autocast": "torch.amp.autocast"},
        "import os\nfrom torch.amp import autocast\nfrom torch.cuda.amp import custom_fwd  # c\n",
    ),
    "brackets in one line": (
        "from torch.cuda.amp import (autocast, custom_fwd)\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\nfrom torch.cuda.amp import (custom_fwd)\n",
    ),
    "bracketed lines": (
        "from torch.cuda.amp import (  # a\n    autocast,\n    custom_fwd,  # b\n)\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\nfrom torch.cuda.amp import (  # a\n    custom_fwd,  # b\n)\n",
    ),
    "continuation": (
        "from torch.cuda.amp \\\n    import autocast, \\\n    custom_fwd\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\nfrom torch.cuda.amp \\\n    import custom_fwd\n",
    ),
    "merged": (
        "from torch.amp import custom_fwd\nfrom torch.cuda.amp import autocast\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import custom_fwd, autocast\n",
    ),
    "merged into lines": (
        "from torch.cuda.amp import autocast as ac\nfrom torch.amp import (\n    custom_fwd,\n)\nx = 1\n",
        {"autocast as ac": "torch.amp.autocast"},
        "from torch.amp import (\n    custom_fwd,\n    autocast as ac,\n)\nx = 1\n",
    ),
    "known already": (
        "from torch.amp import autocast\nfrom torch.cuda.amp import autocast, common\n",
        {"autocast\nfrom": "", "autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\nfrom torch.cuda.amp import common\n",
    ),
    "not merged where code stands between": (
        "from torch.cuda.amp import autocast\nautocast()\nfrom torch.amp import custom_fwd\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import autocast\nautocast()\nfrom torch.amp import custom_fwd\n",
    ),
    "not merged where a comment would go": (
        "from torch.amp import custom_fwd\nfrom torch.cuda.amp import autocast  # why\n",
        {"autocast": "torch.amp.autocast"},
        "from torch.amp import custom_fwd\nfrom torch.amp import autocast  # why\n",
    ),
    "one-line block": (
        "try: from torch.cuda.amp import autocast, common\nexcept E: pass\n",
        {"autocast": "torch.amp.autocast"},
        "try:\n    from torch.amp import autocast\n    from torch.cuda.amp import common\nexcept E: pass\n",
    ),
    "local": (
        "def f():\n\tfrom torch.cuda.amp import autocast; g()\n",
        {"autocast": "torch.amp.autocast"},
        "def f():\n\tfrom torch.amp import autocast; g()\n",
    ),
    "package": (
        "from torch.cuda import amp\n",
        {"amp\n": "torch.amp"},
        "from torch import amp\n",
    ),
    "new name": (
        "from torch.cuda.amp import custom_fwd, autocast as ac\n",
        {"custom_fwd": "torch.amp.forward", "autocast as ac": "torch.amp.region"},
        "from torch.amp import forward as custom_fwd, region as ac\n",
    ),
    "two modules": (
        "from old import a, b, c\n",
        {"a": "new.a", "b": "newer.b"},
        "from new import a\nfrom newer import b\nfrom old import c\n",
    ),
    "two modules and nothing stays": (
        "from old import a, b\n",
        {"a": "new.a", "b": "newer.b"},
        "from newer import b\nfrom new import a\n",
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_move(name):
    program, moves, expected = MOVES[name]
    repairs = []
    for text, target in moves.items():
        alias = text.strip()
        nth = 1 if name == "known already" else program[: program.index(" import")].count(alias)
        if target:
            repairs.append(MoveImport(span_of(program, alias, nth), target))
    assert rendered(program, *repairs) == expected


@pytest.mark.parametrize("program", ["from .amp import autocast\n", "import autocast\n"])
def test_moves_that_are_refused(program):
    refusal(program, MoveImport(span_of(program, "autocast"), "torch.amp.autocast"))


def test_one_name_with_two_meanings_is_refused():
    program = "from torch.amp import other as autocast\nfrom torch.cuda.amp import autocast, common\n"
    refusal(program, MoveImport(span_of(program, "autocast", 1), "torch.amp.autocast"))


PLACES = {
    "behind the imports": ("import os\n\nX\n", "import os\nimport torch\n\nT\n"),
    "behind a docstring": ('"""Doc."""\nX\n', '"""Doc."""\nimport torch\nT\n'),
    "behind __future__": (
        '"""Doc."""\nfrom __future__ import annotations\n\nX\n',
        '"""Doc."""\nfrom __future__ import annotations\nimport torch\n\nT\n',
    ),
    "above the first statement": (
        "#!/usr/bin/env python\n# licence\n\nX\n",
        "#!/usr/bin/env python\n# licence\n\nimport torch\nT\n",
    ),
    "behind guarded imports": (
        "import a\ntry:\n    import b\nexcept ImportError:\n    b = None\nimport c\nX\n",
        "import a\ntry:\n    import b\nexcept ImportError:\n    b = None\nimport c\nimport torch\nT\n",
    ),
    "before the guarded import that needs it": (
        "import a\ntry:\n    import b\n    X\nexcept ImportError:\n    b = None\nimport c\n",
        "import a\nimport torch\ntry:\n    import b\n    T\nexcept ImportError:\n    b = None\nimport c\n",
    ),
    "before the use": ("import a\nX\nimport b\n", "import a\nimport torch\nT\nimport b\n"),
    "not behind other code": ("import a\ng()\nimport b\nX\n", "import a\nimport torch\ng()\nimport b\nT\n"),
    "behind a comment": ("import a  # c\nX\n", "import a  # c\nimport torch\nT\n"),
    "for a decorator": ("@X\ndef f(): pass\n", "import torch\n@T\ndef f(): pass\n"),
    "before what a line holds": ("import a; X\n", "import a\nimport torch\nT\n"),
}


@pytest.mark.parametrize("name", PLACES)
def test_place_of_a_new_import(name):
    program, expected = PLACES[name]
    repair = Replace(span_of(program, "X"), "${torch.amp.autocast}")
    assert rendered(program, repair) == expected.replace("T", "torch.amp.autocast")


def test_names_of_packages_that_torch_may_not_load():
    program = "X\n"
    repair = Replace(span_of(program, "X"), "${torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler}")
    expected = "from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler\nShardedGradScaler\n"
    assert rendered(program, repair) == expected


def test_a_taken_root_is_avoided():
    program = "def f(torch): X\n"
    repair = Replace(span_of(program, "X"), "${torch.amp.autocast}")
    expected = "from torch.amp import autocast\ndef f(torch): autocast\n"
    assert rendered(program, repair, speller=TableSpeller(taken=("torch",))) == expected
    assert "cannot be named" in refusal(program, repair, speller=TableSpeller(taken=("torch", "autocast")))


def test_an_import_is_added_once():
    program = "def f():\n    a(b)\n"
    repairs = [
        Replace(span_of(program, "b"), "${torch.float16}"),
        InsertArgument(span_of(program, "a(b)"), "${torch.bfloat16}", "k"),
    ]
    assert rendered(program, *repairs) == "import torch\ndef f():\n    a(torch.float16, k=torch.bfloat16)\n"


def test_star_imports_of_the_same_module_are_not_added_to():
    program = "from torch.amp import *\nfrom torch.cuda.amp import autocast, common\n"
    result = rendered(program, MoveImport(span_of(program, "autocast"), "torch.amp.autocast"))
    assert result == "from torch.amp import *\nfrom torch.amp import autocast\nfrom torch.cuda.amp import common\n"


def test_an_import_finds_no_place_where_all_is_taken_out():
    program = "X\n"
    repairs = [DeleteStatement(span_of(program, "X")), InsertBefore(span_of(program, "X"), "${torch.amp.autocast}()")]
    assert "no place for an import" in refusal(program, *repairs)


def test_names_that_are_no_aliases_are_refused():
    assert "no import of a name" in refusal("autocast\n", MoveImport(span_of("autocast\n", "autocast"), "torch.x"))
