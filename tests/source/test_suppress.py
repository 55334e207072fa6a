"""Which comments silence which findings."""

import re

import pytest

from amplint.model.span import Span
from amplint.model.tree import Comment
from amplint.source.prefilter import may_concern
from amplint.source.suppress import Suppressions, suppressions


def _comments(program: str) -> Suppressions:
    found = []
    for number, line in enumerate(program.split("\n"), 1):
        match = re.search(r"#.*", line)
        if match:
            span = Span(number, match.start(), number, match.end())
            found.append(Comment(span, match.group(), not line[: match.start()].strip()))
    return suppressions(found)


@pytest.mark.parametrize(
    ("program", "is_covered"),
    [
        ("f(x)  # amplint: ignore[AMP201]", True),
        ("f(x)  # amplint: ignore[clip-of-scaled-gradients]", True),
        ("f(x)  # amplint:ignore[AMP101, AMP201 tuned, on purpose]", True),
        ("f(x)  # amplint: ignore[AMP201] the threshold is scaled", True),
        ("f(x)  # why not  # amplint: ignore[AMP201]", True),
        ("f(x)  # amplint: ignore[AMP2]", False),
        ("f(x)  # amplint: ignore", False),
        ("f(x)  # amplint: ignore[AMP202]", False),
        ("f(\n  x)  # amplint: ignore[AMP201]", True),
        ("f(\n  # amplint: ignore[AMP201]\n  x)", True),
        ("# amplint: ignore[AMP201]\nf(x)", True),
        ("# amplint: ignore[AMP201]\n# as always\nf(x)", True),
        ("# amplint: ignore[AMP201]\n\nf(x)", False),
        ("g()  # amplint: ignore[AMP201]\nf(x)", False),
        ("# amplint: file-ignore[AMP201]\n\n\nf(x)", True),
        ("f(x)\n# amplint: file-ignore[AMP201]", True),
        ("f(x)  # noqa: AMP201", True),
        ("f(x)  # noqa:E501,AMP2", True),
        ("f(x)  # NOQA: E501 AMP201", True),
        ("f(x)  # noqa", False),
        ("f(x)  # noqa: E501", False),
        ("# noqa: AMP201\nf(x)", False),
    ],
)
def test_covers(program: str, is_covered: bool) -> None:
    lines = program.split("\n")
    first = next(n for n, line in enumerate(lines, 1) if line.startswith("f("))
    last = next(n for n, line in enumerate(lines, 1) if n >= first and ")" in line.partition("#")[0])
    statement = Span(first, 0, last, 4)
    found = _comments(program).find("AMP201", "clip-of-scaled-gradients", statement)
    assert (found is not None) == is_covered


def test_selectors_have_places_and_reasons_are_no_selectors() -> None:
    program = "f()  # amplint: ignore[AMP101, apex-amp old model, do not touch, AMP9]  # noqa: E501, AMP3"
    entries = _comments(program).entries
    assert [entry.selector for entry in entries] == ["AMP101", "apex-amp", "AMP9", "AMP3"]
    assert all(program[entry.span.column : entry.span.end_column] == entry.selector for entry in entries)


def test_the_statement_s_own_comment_counts_before_the_file_s() -> None:
    found = _comments("# amplint: file-ignore[AMP201]\nf(x)  # amplint: ignore[AMP201]").find(
        "AMP201", "", Span(2, 0, 2, 4)
    )
    assert found is not None
    assert found.comment.line == 2


@pytest.mark.parametrize(
    ("raw", "is_concerned"),
    [
        (b"", False),
        (b"import os\nprint(1)\n", False),
        (b"import torch\nx = torch.ones(1)\n", False),
        (b"from torch.cuda.amp import autocast", True),
        (b"from torch.cuda import amp", True),
        (b"import torch.amp", True),
        (b"def f(scaler): scaler.step(o)", True),
        (b"from torch import nn\nfrom apex import amp", True),
        (b"import torch  # amplint: ignore[AMP101]", True),
    ],
)
def test_prefilter(raw: bytes, is_concerned: bool) -> None:
    assert may_concern(raw) is is_concerned
