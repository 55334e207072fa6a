"""Repairs that move what stands at the wrong place: into a group's boundary, before a step, out of a guard.

Refuses where some path would lose a call, or where a moved statement gives a value that others read.
"""

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect
from amplint.facts.protocol.guards import Answer, Guard
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind, Gradients, Reason
from amplint.model.edit import (
    Applicability,
    DedentTail,
    DeleteStatement,
    Fix,
    InsertAfter,
    InsertBefore,
    MoveStatement,
    Repair,
)
from amplint.model.tree import Assign, Block, Continue, ExprStmt, If, Name, Node, Return, Stmt, Unary
from amplint.model.walks import walk
from amplint.rules.protocol_repairs import is_element, is_sole, repair, statement_of, steps_with, unscale_before
from amplint.rules.protocol_report import optimizer_code, scaler_code

LOOKS = frozenset({EventKind.CLIP, EventKind.READ})


def sole_step(defect: Defect) -> Step | None:
    """The only step of the defect's optimizer, where it stands in the function of the defect."""
    steps = [step for step in steps_with(defect, EventKind.STEP) if defect.reading.are_together(step, defect.site)]
    return steps[0] if len(steps) == 1 and not is_element(defect) else None


def into_boundary(defect: Defect) -> Fix | None:
    """An `unscale_`, and the clips behind it, moved to the step that waits for the end of a group."""
    step = sole_step(defect)
    if step is None or step.frame != defect.site.frame:
        return None
    waits = {guard.answer for guard, _ in defect.reading.guards.boundaries(step)}
    if not waits or more_guards(defect, step, defect.site) - waits:
        return None
    found = _siblings(defect, defect.site, step)
    anchor = statement_of(defect, step)
    if found is None or not isinstance(anchor, ExprStmt):
        return None
    block, first, last = found
    moved = [block[first], *(s for s in block[first + 1 : last] if _kinds(defect, s) & LOOKS)]
    is_free = all(_may_move(defect, statement, anchor) for statement in moved)
    if not is_free or any(_kinds(defect, statement) - LOOKS - {EventKind.UNSCALE} for statement in moved):
        return None
    is_rejected = defect.error is not None and defect.error.reason is Reason.UNSCALE_TWICE
    applicability = Applicability.SAFE if is_rejected and is_sole(defect) else Applicability.UNSAFE
    title = f"move the `unscale_` to the step at line {anchor.span.line}"
    return repair(title, applicability, *(MoveStatement(s.span, anchor.span, is_before=True) for s in moved))


def before_step(defect: Defect) -> Fix | None:
    """A clip that comes too late, moved before the step, with the `unscale_` that it needs there."""
    step = sole_step(defect)
    if step is None or defect.error is None or step.frame != defect.site.frame:
        return None
    found = _siblings(defect, step, defect.site)
    anchor, clip = statement_of(defect, step), statement_of(defect, defect.site)
    met = defect.reading.reader.met.get((step, defect.error.optimizer), set())
    code = f"{scaler_code(defect)}.unscale_({optimizer_code(defect)})"
    if found is None or not isinstance(anchor, ExprStmt) or not isinstance(clip, ExprStmt | Assign):
        return None
    block, first, last = found
    between = {name for statement in block[first:last] for name in _assigned(statement)}
    if block[first] is not anchor or block[last] is not clip or between & _read(clip):
        return None
    repairs: list[Repair] = [MoveStatement(clip.span, anchor.span, is_before=True)]
    if met == {Gradients.SCALED} and scaler_code(defect) and optimizer_code(defect):
        repairs.insert(0, InsertBefore(anchor.span, code))
    elif met != {Gradients.UNSCALED}:
        return None
    return repair(f"clip before line {anchor.span.line}", Applicability.UNSAFE, *repairs)


def unscale_in_time(defect: Defect) -> Fix | None:
    """An `unscale_` before a look at gradients: the one behind the arm that looks, moved before it, or one more."""
    for later in steps_with(defect, EventKind.UNSCALE):
        is_behind = later.frame == defect.site.frame and later.node.span > defect.site.node.span
        if is_behind and more_guards(defect, defect.site, later) and not more_guards(defect, later, defect.site):
            return _unscale_before_arm(defect, later)
    return unscale_before(defect)


def _unscale_before_arm(defect: Defect, later: Step) -> Fix | None:
    found, moved = _siblings(defect, defect.site, later), statement_of(defect, later)
    if found is None or not isinstance(moved, ExprStmt):
        return None
    block, first, last = found
    if block[last] is not moved or any(_kinds(defect, statement) - LOOKS for statement in block[first:last]):
        return None
    arm = block[first]
    applicability = Applicability.SAFE if is_sole(defect) else Applicability.UNSAFE
    title = f"move `{spelled(moved.value) or 'the unscale_'}` before line {arm.span.line}"
    return repair(title, applicability, MoveStatement(moved.span, arm.span, is_before=True))


def out_of_guard(defect: Defect) -> Fix | None:
    """An `update` for the paths on which a guard skips the step: the inf check of the `unscale_` is enough for it."""
    step = defect.after
    updates = [u for u in defect.reading.steps_of(EventKind.UPDATE) if defect.reading.are_together(u, defect.site)]
    if step is None or len(updates) != 1 or step.frame != defect.site.frame or not scaler_code(defect):
        return None
    skipped = [g for g in defect.reading.guards.of(step) if g.answer in more_guards(defect, step, defect.site)]
    home: Facts = defect.home
    guard = _asker(home, skipped[0].test) if len(skipped) == 1 else None
    update = statement_of(defect, updates[0])
    if not isinstance(guard, If) or not isinstance(update, ExprStmt) or guard.orelse:
        return None
    zeros = _skipped_zeros(defect, skipped[0])
    calls = [f"{scaler_code(defect)}.update()", *(spelled(zero.value) for zero in zeros)]
    if not all(calls):
        return None
    applicability = Applicability.SAFE if is_sole(defect) else Applicability.UNSAFE
    if update in guard.body and all(zero in guard.body for zero in zeros) and not _asks_scale(guard.body):
        return _behind(guard, [update, *zeros], calls, applicability)
    leaving = guard.body[-1]
    if isinstance(leaving, Continue | Return) and update not in guard.body:
        title = f"insert {_listed(calls)} before line {leaving.span.line}"
        return repair(title, applicability, InsertBefore(leaving.span, "\n".join(calls)))
    return None


def _behind(guard: If, moved: list[ExprStmt], calls: list[str], applicability: Applicability) -> Fix:
    """Statements of a guard's body, moved behind it."""
    they = "it runs" if len(moved) == 1 else "they run"
    title = f"move {_listed(calls)} behind line {guard.span.end_line}: {they} after a skipped step too"
    kept = max(at for at, statement in enumerate(guard.body, 1) if statement not in moved)  # the step, at the least
    tail = guard.body[kept:]
    repairs: list[Repair] = [DedentTail(tail[0].span)] if tail else []
    others = [(statement, call) for statement, call in zip(moved, calls, strict=True) if statement not in tail]
    if others:
        repairs += [DeleteStatement(statement.span) for statement, _ in others]
        repairs.append(InsertAfter(guard.span, "\n".join(call for _, call in others)))
    return repair(title, applicability, *repairs)


def _listed(calls: list[str]) -> str:
    return " and ".join(f"`{call}`" for call in calls)


def _skipped_zeros(defect: Defect, guard: Guard) -> list[ExprStmt]:
    """The `zero_grad`s that a skipped step leaves out too, where it leaves out all: what it gave up would stay."""
    steps = [z for z in steps_with(defect, EventKind.ZERO) if defect.reading.are_together(z, defect.site)]
    if not all(guard.answer in defect.reading.guards.answers(step) for step in steps):
        return []
    statements = (statement_of(defect, step) for step in steps)
    return [statement for statement in statements if isinstance(statement, ExprStmt)]


def _asker(home: Facts, test: Node) -> Node | None:
    """The statement that asks a test, perhaps turned round."""
    around = home.index.parents.get(test)
    while isinstance(around, Unary):
        around = home.index.parents.get(around)
    return around


def more_guards(defect: Defect, step: Step, other: Step) -> frozenset[Answer]:
    """The guards that one step is under and another is not."""
    guards = defect.reading.guards
    return guards.answers(step) - guards.answers(other)


def _siblings(defect: Defect, first: Step, last: Step) -> tuple[Block, int, int] | None:
    """The block in which two steps stand, or statements that hold them, and their places in it, in order."""
    index = defect.home.index
    if defect.reading.scene.homes[first.frame] is not defect.home:
        return None
    holders = [node for node in (last.node, *index.ancestors(last.node)) if isinstance(node, Stmt)]
    for holder in (first.node, *index.ancestors(first.node)):
        if not isinstance(holder, Stmt) or holder in holders:
            continue
        _, block = index.block(holder)
        for other in holders:
            if other in block:
                places = block.index(holder), block.index(other)
                return (block, *places) if places[0] < places[1] else None
    return None


def _kinds(defect: Defect, statement: Node) -> set[EventKind | None]:
    """The events of the calls in a statement."""
    reading, inside = defect.reading, {id(node) for node in walk(statement)}
    return {h.kind for step, call in reading.scene.calls if id(call) in inside for h in reading.events.of(step)}


def _may_move(defect: Defect, statement: Stmt, anchor: Stmt) -> bool:
    """Whether nobody outside the anchor's block reads what a statement assigns."""
    names = _assigned(statement)
    _, block = defect.home.index.block(anchor)
    held = {id(node) for other in (*block, statement) for node in walk(other)}
    function = defect.home.index.function(anchor) or defect.home.module
    return not any(isinstance(node, Name) and node.id in names and id(node) not in held for node in walk(function))


def _assigned(statement: Node) -> set[str]:
    found = (target for node in walk(statement) if isinstance(node, Assign) for target in node.targets)
    return {node.id for target in found for node in walk(target) if isinstance(node, Name)}


def _read(statement: Stmt) -> set[str]:
    value = statement.value if isinstance(statement, ExprStmt | Assign) else statement
    return {node.id for node in walk(value) if isinstance(node, Name)}


def _asks_scale(body: Block) -> bool:
    return any(getattr(node, "attr", "") == "get_scale" for statement in body for node in walk(statement))
