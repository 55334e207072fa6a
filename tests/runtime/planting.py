"""Plants mistakes into correct training loops, by the text of their lines."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Lines = list[str]

UNSCALE = re.compile(r"^(\s*)([\w.]+)\.unscale_\((.+)\)$")
STEP = re.compile(r"^(\s*)([\w.]*(?:scaler|scaler_\w))\.step\((.+)\)$")
UPDATE = re.compile(r"^(\s*)([\w.]*(?:scaler|scaler_\w))\.update\(\)$")
BACKWARD = re.compile(r"^(\s*)([\w.]*(?:scaler|scaler_\w))\.scale\((.+)\)\.backward\((.*)\)$")
CLIP = re.compile(r"^(\s*)(?:norm = )?((?:[\w.]+\.)?(?:clip_grad_norm_|clip_grad_value_|clip)\(.+\))$")
ZERO = re.compile(r"^(\s*)([\w.]+)\.zero_grad\(.*\)$")


@dataclass(frozen=True)
class Planted:
    """A loop with a mistake: the codes that may name it in a run, and the lines (from 1) where it may stand."""

    mistake: str
    text: str
    codes: tuple[str, ...]
    lines: tuple[int, ...]
    repaired: str | None = None
    """The text with the mistake repaired, where that is not the loop that it was planted into."""


def _find(lines: Lines, pattern: re.Pattern[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if pattern.match(line)]


def _group(lines: Lines, number: int, pattern: re.Pattern[str], group: int = 1) -> str:
    match = pattern.match(lines[number])
    assert match is not None
    return match.group(group)


def _text(lines: Lines) -> str:
    return "\n".join(lines) + "\n"


def _same_block(lines: Lines, first: int, second: int) -> bool:
    """Whether two lines are as far in, and nothing between them is further out."""
    indent = len(lines[first]) - len(lines[first].lstrip())
    between = [line for line in lines[first : second + 1] if line.strip()]
    return len(lines[second]) - len(lines[second].lstrip()) == indent and all(
        len(line) - len(line.lstrip()) >= indent for line in between
    )


def drop_unscale(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, UNSCALE):
        clips = [clip for clip in _find(lines, CLIP) if clip > number]
        if clips:
            rest = lines[:number] + lines[number + 1 :]
            yield Planted("drop_unscale", _text(rest), ("AMP201",), (clips[0],))


def drop_update(lines: Lines) -> Iterator[Planted]:
    updates, steps = _find(lines, UPDATE), _find(lines, STEP)
    if len(updates) == 1 and steps:
        rest = lines[: updates[0]] + lines[updates[0] + 1 :]
        yield Planted("drop_update", _text(rest), ("AMP202",), tuple(step + 1 for step in steps))


def step_around(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, STEP):
        indent, optimizer = _group(lines, number, STEP), _group(lines, number, STEP, 3)
        changed = [*lines[:number], f"{indent}{optimizer}.step()", *lines[number + 1 :]]
        yield Planted("step_around", _text(changed), ("AMP203",), (number + 1,))


def plain_backward(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        indent, loss, rest = (_group(lines, number, BACKWARD, group) for group in (1, 3, 4))
        changed = [*lines[:number], f"{indent}({loss}).backward({rest})", *lines[number + 1 :]]
        yield Planted("plain_backward", _text(changed), ("AMP204",), (number + 1,))


def discard_scaled(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        indent, scaler, loss, rest = (_group(lines, number, BACKWARD, group) for group in (1, 2, 3, 4))
        two = [f"{indent}{scaler}.scale({loss})", f"{indent}({loss}).backward({rest})"]
        changed = [*lines[:number], *two, *lines[number + 1 :]]
        yield Planted("discard_scaled", _text(changed), ("AMP211",), (number + 1,))


def unscale_twice(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, UNSCALE):
        changed = [*lines[: number + 1], lines[number], *lines[number + 1 :]]
        yield Planted("unscale_twice", _text(changed), ("AMP205",), (number + 2,))


def update_before_step(lines: Lines) -> Iterator[Planted]:
    steps, updates = _find(lines, STEP), _find(lines, UPDATE)
    if len(steps) == 1 and len(updates) == 1 and _same_block(lines, steps[0], updates[0]):
        rest = lines[: updates[0]] + lines[updates[0] + 1 :]
        changed = [*rest[: steps[0]], lines[updates[0]], *rest[steps[0] :]]
        yield Planted("update_before_step", _text(changed), ("AMP206",), (steps[0] + 1,))


def clip_after_step(lines: Lines) -> Iterator[Planted]:
    steps = _find(lines, STEP)
    for number in _find(lines, CLIP):
        after = [step for step in steps if step > number and _same_block(lines, number, step)]
        if after:
            indent, call = _group(lines, number, CLIP), _group(lines, number, CLIP, 2)
            rest = lines[:number] + lines[number + 1 :]
            changed = [*rest[: after[0]], f"{indent}{call}", *rest[after[0] :]]
            if "norm" not in lines[number].split("=")[0] or "=" not in lines[number].split("(")[0]:
                yield Planted("clip_after_step", _text(changed), ("AMP207",), (after[0] + 1,))


def scaler_in_loop(lines: Lines) -> Iterator[Planted]:
    made = [n for n, line in enumerate(lines) if re.match(r"^\s*[\w.]+ = [\w.]*GradScaler\(.*\)$", line)]
    backwards = _find(lines, BACKWARD)
    if len(made) == 1 and len(backwards) == 1 and "self" not in lines[made[0]]:
        indent = _group(lines, backwards[0], BACKWARD)
        changed = [*lines[: backwards[0]], indent + lines[made[0]].strip(), *lines[backwards[0] :]]
        name = lines[made[0]].split("=")[0].strip()
        inside = lines[backwards[0]].strip().startswith(f"{name}.")
        if inside and _same_function(lines, made[0], backwards[0]):
            yield Planted("scaler_in_loop", _text(changed), ("AMP208",), (backwards[0] + 1,))


def _same_function(lines: Lines, first: int, second: int) -> bool:
    return not any(re.match(r"^\s*def ", line) for line in lines[first:second])


def read_scaled_loss(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        indent, scaler, loss, rest = (_group(lines, number, BACKWARD, group) for group in (1, 2, 3, 4))
        three = [
            f"{indent}big = {scaler}.scale({loss})",
            f"{indent}big.backward({rest})",
            f"{indent}float(big.item())",
        ]
        changed = [*lines[:number], *three, *lines[number + 1 :]]
        yield Planted("read_scaled_loss", _text(changed), ("AMP209",), (number + 3,))


def closure_given(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, STEP):
        changed = list(lines)
        changed[number] = lines[number][:-1] + ", lambda: None)"
        yield Planted("closure_given", _text(changed), ("AMP210",), (number + 1,))


def mixed_loss(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        indent, scaler, loss, rest = (_group(lines, number, BACKWARD, group) for group in (1, 2, 3, 4))
        bad = f"{indent}({scaler}.scale({loss}) + 0.1 * ({loss})).backward({rest})"
        good = f"{indent}{scaler}.scale({loss} + 0.1 * ({loss})).backward({rest})"
        texts = [_text([*lines[:number], line, *lines[number + 1 :]]) for line in (bad, good)]
        yield Planted("mixed_loss", texts[0], ("AMP217",), (number + 1,), texts[1])


def scaled_twice(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        indent, scaler, loss, rest = (_group(lines, number, BACKWARD, group) for group in (1, 2, 3, 4))
        two = [f"{indent}again = {scaler}.scale({loss})", f"{indent}{scaler}.scale(again / 2).backward({rest})"]
        good = f"{indent}{scaler}.scale(({loss}) / 2).backward({rest})"
        texts = [_text([*lines[:number], *new, *lines[number + 1 :]]) for new in (two, [good])]
        yield Planted("scaled_twice", texts[0], ("AMP220",), (number + 2,), texts[1])


def zero_before_step(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, STEP):
        indent, optimizer = _group(lines, number, STEP), _group(lines, number, STEP, 3)
        changed = [*lines[:number], f"{indent}{optimizer}.zero_grad()", *lines[number:]]
        yield Planted("zero_before_step", _text(changed), ("AMP218",), (number + 1,))


def raising_clip(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, CLIP):
        if "value" not in lines[number] and any(UNSCALE.match(line) for line in lines[max(0, number - 3) : number]):
            changed = list(lines)
            changed[number] = lines[number][:-1] + ", error_if_nonfinite=True)"
            yield Planted("raising_clip", _text(changed), ("AMP219",), (number + 1,))


def anomaly_detection(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD)[:1]:
        indent = _group(lines, number, BACKWARD)
        changed = [*lines[:number], f"{indent}torch.autograd.set_detect_anomaly(True)", *lines[number:]]
        yield Planted("anomaly_detection", _text(changed), ("AMP219",), (number + 1,))


def read_scaled_gradients(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, UNSCALE):
        indent, optimizer = _group(lines, number, UNSCALE), _group(lines, number, UNSCALE, 3)
        parameters = f'{optimizer}.param_groups[0]["params"]'
        line = f"{indent}print(len([p.grad.norm().item() for p in {parameters} if p.grad is not None]))"
        changed = [*lines[:number], line, *lines[number:]]
        yield Planted("read_scaled_gradients", _text(changed), ("AMP214",), (number + 1,))


def clip_by_hand(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, UNSCALE):
        indent, optimizer = _group(lines, number, UNSCALE), _group(lines, number, UNSCALE, 3)
        two = [
            f'{indent}for p in {optimizer}.param_groups[0]["params"]:',
            f"{indent}    p.grad is None or p.grad.data.clamp_(-1.0, 1.0)",
        ]
        bad = [*lines[:number], *two, *lines[number:]]
        good = [*lines[: number + 1], *two, *lines[number + 1 :]]
        yield Planted("clip_by_hand", _text(bad), ("AMP201",), (number + 1, number + 2), _text(good))


def backward_under_autocast(lines: Lines) -> Iterator[Planted]:
    for number in _find(lines, BACKWARD):
        above = lines[number - 1]
        indent = _group(lines, number, BACKWARD)
        if above.startswith(indent + "    loss ="):
            changed = [*lines[:number], "    " + lines[number], *lines[number + 1 :]]
            yield Planted("backward_under_autocast", _text(changed), ("AMP401",), (number + 1,))


def undivided_loss(lines: Lines) -> Iterator[Planted]:
    for number, line in enumerate(lines):
        changed = re.sub(r"loss / (group|parts|2)\b", "loss", line)
        if changed != line:
            text = _text([*lines[:number], changed, *lines[number + 1 :]])
            yield Planted("undivided_loss", text, ("AMP301",), tuple(n + 1 for n in _find(lines, BACKWARD)))


def unscale_each_micro_batch(lines: Lines) -> Iterator[Planted]:
    for number in _boundary(lines):
        unscales = [n for n in _find(lines, UNSCALE) if n > number]
        if unscales:
            moved = lines[unscales[0]].strip()
            rest = lines[: unscales[0]] + lines[unscales[0] + 1 :]
            indent = lines[number][: -len(lines[number].lstrip())]
            changed = [*rest[:number], indent + moved, *rest[number:]]
            yield Planted("unscale_each_micro_batch", _text(changed), ("AMP302",), (number + 1,))


def zero_each_micro_batch(lines: Lines) -> Iterator[Planted]:
    backwards = _find(lines, BACKWARD)
    if any("/ group" in line or "/ parts" in line for line in lines):
        indent = _group(lines, backwards[0], BACKWARD)
        changed = [*lines[: backwards[0]], f"{indent}optimizer.zero_grad()", *lines[backwards[0] :]]
        yield Planted("zero_each_micro_batch", _text(changed), ("AMP304",), (backwards[0] + 1,))


def update_each_micro_batch(lines: Lines) -> Iterator[Planted]:
    for number in _boundary(lines):
        updates = [n for n in _find(lines, UPDATE) if n > number]
        if updates:
            rest = lines[: updates[0]] + lines[updates[0] + 1 :]
            indent = lines[number][: -len(lines[number].lstrip())]
            changed = [*rest[:number], indent + lines[updates[0]].strip(), *rest[number:]]
            # The run ends at its first update: it cannot know that the step would have come after the group.
            yield Planted("update_each_micro_batch", _text(changed), ("AMP303", "AMP206"), (number + 1,))


def _boundary(lines: Lines) -> list[int]:
    return [n for n, line in enumerate(lines) if re.match(r"^\s*if (\(i \+ 1\) % every|need_update)", line)]


WITHOUT_SCALER = ("bfloat16", "cnn", "float32")
"""Loops without a scaler that does anything: no mistake of these can be made in them."""

MISTAKES: tuple[Callable[[Lines], Iterator[Planted]], ...] = (
    drop_unscale,
    drop_update,
    step_around,
    plain_backward,
    discard_scaled,
    unscale_twice,
    update_before_step,
    clip_after_step,
    scaler_in_loop,
    read_scaled_loss,
    closure_given,
    mixed_loss,
    scaled_twice,
    zero_before_step,
    raising_clip,
    anomaly_detection,
    read_scaled_gradients,
    clip_by_hand,
    backward_under_autocast,
    undivided_loss,
    unscale_each_micro_batch,
    zero_each_micro_batch,
    update_each_micro_batch,
)


def planted_in(text: str) -> Iterator[Planted]:
    """Every mistake at every place where a loop can have it."""
    lines = text.rstrip("\n").split("\n")
    for mistake in MISTAKES:
        yield from mistake(lines)
