"""The training loops that tutorials teach, as operations in order, and the single mistakes that people make in them.

In the lines `$name` is an object of the program: a local, a global or an attribute, as the layout has it.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Op:
    """One operation of a loop: a tag that mistakes name it by, and its lines."""

    tag: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Loop:
    """turn runs on every micro-batch, boundary when a group of them is complete (always, where there is no group).

    scaler is the line that makes the scaler, None for a loop without one.
    """

    name: str
    turn: tuple[Op, ...]
    boundary: tuple[Op, ...]
    scaler: str | None
    is_accumulating: bool = False
    scaler_in_loop: bool = False

    @property
    def ops(self) -> tuple[Op, ...]:
        return (*self.turn, *self.boundary)


@dataclass(frozen=True)
class Mistake:
    """One change of a loop and the rule that is to report it; None where the loop has no such thing to get wrong."""

    name: str
    code: str
    change: Callable[[Loop], Loop | None]


def op(tag: str, *lines: str) -> Op:
    return Op(tag, lines)


ZERO = op("zero", "$optimizer.zero_grad()")
BACKWARD = op("backward", "$scaler.scale(loss).backward()")
PLAIN_BACKWARD = op("backward", "loss.backward()")
UNSCALE = op("unscale", "$scaler.unscale_($optimizer)")
CLIP = op("clip", "torch.nn.utils.clip_grad_norm_($model.parameters(), 1.0)")
STEP = op("step", "$scaler.step($optimizer)")
PLAIN_STEP = op("step", "$optimizer.step()")
UPDATE = op("update", "$scaler.update()")


def forward(region: str) -> Op:
    return op("forward", f"with torch.autocast({region}):", "    loss = $criterion($model(x), y)")


DIVIDE = op("divide", "loss = loss / $accum")
FLOAT16 = forward('"cuda", dtype=torch.float16')

LOOPS = (
    Loop(
        "float16",
        (ZERO, FLOAT16, BACKWARD),
        (UNSCALE, CLIP, STEP, UPDATE),
        'torch.amp.GradScaler("cuda")',
    ),
    Loop(
        "bfloat16",
        (ZERO, forward('"cuda", dtype=torch.bfloat16'), PLAIN_BACKWARD),
        (CLIP, PLAIN_STEP),
        None,
    ),
    Loop(
        "enabled",
        (ZERO, forward('"cuda", enabled=$use_amp'), BACKWARD),
        (UNSCALE, CLIP, STEP, UPDATE),
        'torch.amp.GradScaler("cuda", enabled=$use_amp)',
    ),
    Loop(
        "accumulation",
        (FLOAT16, DIVIDE, BACKWARD),
        (UNSCALE, CLIP, STEP, UPDATE, ZERO),
        'torch.amp.GradScaler("cuda")',
        is_accumulating=True,
    ),
)


def without(tag: str) -> Callable[[Loop], Loop | None]:
    def change(loop: Loop) -> Loop | None:
        if not any(o.tag == tag for o in loop.ops):
            return None
        return replace(loop, turn=_without(loop.turn, tag), boundary=_without(loop.boundary, tag))

    return change


def instead(tag: str, new: Op) -> Callable[[Loop], Loop | None]:
    def change(loop: Loop) -> Loop | None:
        if loop.scaler is None:
            return None
        turn, boundary = ([new if o.tag == tag else o for o in ops] for ops in (loop.turn, loop.boundary))
        return replace(loop, turn=tuple(turn), boundary=tuple(boundary))

    return change


def clip_after_step(loop: Loop) -> Loop | None:
    rest = list(_without(loop.boundary, "clip"))
    rest.insert([o.tag for o in rest].index("step") + 1, CLIP)
    return replace(loop, boundary=tuple(rest))


def unscale_twice(loop: Loop) -> Loop | None:
    if loop.scaler is None:
        return None
    at = loop.boundary.index(CLIP)
    return replace(loop, boundary=(*loop.boundary[: at + 1], UNSCALE, *loop.boundary[at + 1 :]))


def update_before_step(loop: Loop) -> Loop | None:
    if loop.scaler is None:
        return None
    rest = list(_without(loop.boundary, "update"))
    rest.insert([o.tag for o in rest].index("step"), UPDATE)
    return replace(loop, boundary=tuple(rest))


def on_every_turn(tag: str) -> Callable[[Loop], Loop | None]:
    def change(loop: Loop) -> Loop | None:
        if not loop.is_accumulating:
            return None
        moved = next(o for o in loop.boundary if o.tag == tag)
        turn = (moved, *loop.turn) if tag == "zero" else (*loop.turn, moved)
        return replace(loop, turn=turn, boundary=_without(loop.boundary, tag))

    return change


def scaler_in_loop(loop: Loop) -> Loop | None:
    return replace(loop, scaler_in_loop=True) if loop.scaler is not None else None


def undivided(loop: Loop) -> Loop | None:
    return without("divide")(loop)


MISTAKES = (
    Mistake("no unscale_", "AMP201", without("unscale")),
    Mistake("no update", "AMP202", without("update")),
    Mistake("plain step", "AMP203", instead("step", PLAIN_STEP)),
    Mistake("plain backward", "AMP204", instead("backward", PLAIN_BACKWARD)),
    Mistake("unscale_ twice", "AMP205", unscale_twice),
    Mistake("update before step", "AMP206", update_before_step),
    Mistake("clip after step", "AMP207", clip_after_step),
    Mistake("scaler in the loop", "AMP208", scaler_in_loop),
    Mistake("no division", "AMP301", undivided),
    Mistake("unscale_ on every turn", "AMP302", on_every_turn("unscale")),
    Mistake("update on every turn", "AMP303", on_every_turn("update")),
    Mistake("zero_grad on every turn", "AMP304", on_every_turn("zero")),
)


def _without(ops: tuple[Op, ...], tag: str) -> tuple[Op, ...]:
    return tuple(o for o in ops if o.tag != tag)
