"""Which bindings a read of a name may meet: order, loops, branches, and what the order does not tell."""

import pytest

from amplint.facts.gather import Facts
from amplint.model.tree import Call, Constant, Name
from amplint.syntax.lower import lower


def met(program: str) -> list[object]:
    """What `read(name)` may read, as the constants that the bindings assign; of anything else its class."""
    facts = Facts("a.py", lower(program))
    call = next(c for c in facts.index.each(Call) if isinstance(c.func, Name) and c.func.id == "read")
    origins = facts.values.origins(call.args[0].value)
    return [o.node.value if isinstance(o.node, Constant) else type(o.node).__name__ for o in origins]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("x = 1\nx = 2\nread(x)\n", [2]),
        ("x = 1\nread(x)\nx = 2\n", [1]),
        ("x = 1\nif a:\n    x = 2\nread(x)\n", [1, 2]),
        ("if a:\n    x = 1\n    x = 2\nelse:\n    x = 3\nread(x)\n", [1, 2, 3]),
        ("x = 1\nfor i in y:\n    read(x)\n    x = 2\n", [1, 2]),
        ("x = 1\nfor i in y:\n    x = 2\n    read(x)\n    x = 3\n", [2]),
        ("x = 1\nwhile read(x):\n    x = 2\n", [1, 2]),
        ("x = 1\nx, y = 2, 3\nread(y)\ny = 4\n", [3]),
        ("x = 1\ntry:\n    x = 2\nexcept E:\n    pass\nread(x)\n", [1, 2]),
        ("def f():\n    read(x)\n\nx = 1\nx = 2\n", [1, 2]),
        ("read(x)\nx = 1\nx = 2\n", [1, 2]),
        ("x = 1\nx = 2\ny = [i for i in z if read(x)]\n", [2]),
        ("x = 1\ny = (read(x) for i in z)\nx = 2\n", [1, 2]),
    ],
)
def test_a_read_meets(program: str, expected: list[object]) -> None:
    assert met(program) == expected


def test_what_names_itself_replaces_nothing() -> None:
    assert met("x = 1\nx = wrap(x)\nread(x)\n") == [1, "Call"]
