import pytest

from amplint.engine.accept import call_misfit, compiles, new_spans, objection
from amplint.facts.gather import Facts
from amplint.model.edit import Edit
from amplint.model.span import Span
from amplint.syntax.lower import lower
from tests.rewrite.rendering import span_of, splice

CALLS = [
    ('torch.amp.autocast("cuda")', None),
    ('torch.amp.autocast("cuda", torch.float16, True, None)', None),
    ('torch.amp.autocast("cuda", torch.float16, True, None, 1)', "at most 4 positional"),
    ("torch.amp.autocast()", "miss `device_type`"),
    ('torch.amp.autocast("cuda", device_type="cuda")', "`device_type` twice"),
    ('torch.cuda.amp.autocast(device_type="cuda")', "no parameter `device_type`"),
    ("torch.cuda.amp.autocast(*args)", None),
    ("torch.amp.autocast(**options)", None),
    ("torch.amp.custom_fwd(cast_inputs=None)", "miss `device_type`"),
    ('torch.amp.custom_fwd(device_type="cuda")', None),
    ("torch.amp.GradScaler()", None),
    ("other(1, 2, 3)", None),
]


def _facts(program: str) -> Facts:
    return Facts("a.py", lower(program))


@pytest.mark.parametrize(("call", "reason"), CALLS)
def test_calls(call: str, reason: str | None) -> None:
    facts = _facts(f"import torch\n{call}\n")
    found = call_misfit(facts, facts.index.calls[0])
    assert found is None if reason is None else reason in (found or "")


def test_only_what_changed_is_judged() -> None:
    old = _facts("import torch\nwrong\ntorch.amp.autocast()\n")
    program = 'import torch\nright\ntorch.amp.autocast()\ntorch.amp.autocast("cuda", 1, 2, 3, 4)\n'
    new = _facts(program)
    assert "right" in (objection(old, new, [span_of(program, "right")]) or "")
    assert objection(old, new, [span_of(program, "import")]) is None
    assert "at most 4" in (objection(old, new, [span_of(program, '"cuda"')]) or "")


def test_new_spans_follow_the_edits() -> None:
    program = "a(b)\nc(d); e(f)\ng\n"
    edits = (
        Edit(span_of(program, "b"), "x,\n  y"),
        Edit(span_of(program, "d"), "zz"),
        Edit(span_of(program, "e"), ""),
        Edit(span_of(program, "f"), "1\n2"),
        Edit(Span(3, 1, 3, 1), "\nh"),
    )
    after = splice(program, edits)
    assert after == "a(x,\n  y)\nc(zz); (1\n2)\ng\nh\n"
    lines = after.split("\n")
    for span, edit in zip(new_spans(edits), edits, strict=True):
        inside = lines[span.line - 1 : span.end_line]
        inside[-1] = inside[-1][: span.end_column]
        inside[0] = inside[0][span.column :]
        assert "\n".join(inside) == edit.text


def test_compiles() -> None:
    assert compiles("await x\n")
    assert not compiles("return 1\n")
    assert not compiles("a = '\0'\n")
