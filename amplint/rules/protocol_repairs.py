"""Repairs that several rules of the protocol share: where a call may be inserted, moved or replaced, and how safely.

Refuses where a name is not in reach, where some path would break, or where the place is not a statement of its own.
"""

from collections.abc import Set as AbstractSet

from amplint.facts.gather import Facts
from amplint.facts.program.spelling import spelled
from amplint.facts.protocol.defect import Defect
from amplint.facts.protocol.guards import common_loop, ways_up
from amplint.facts.protocol.places import is_of_many
from amplint.flow.graph import Step
from amplint.knowledge.protocol import EventKind, Gradients
from amplint.model.edit import (
    Applicability,
    DedentTail,
    DeleteStatement,
    Fix,
    FixKind,
    InsertAfter,
    InsertBefore,
    MoveStatement,
    Repair,
    Replace,
)
from amplint.model.tree import Block, Call, ExprStmt, For, FunctionDef, If, Node, Stmt, Try, While
from amplint.model.walks import walk
from amplint.rules.protocol_report import optimizer_code, scaler_code

SCALED_BY_NOBODY = frozenset({Gradients.PLAIN, Gradients.UNKNOWN})


def met_gradients(defect: Defect) -> AbstractSet[Gradients]:
    """The kinds of gradients that the defect's step finds on its paths."""
    error = defect.error
    if error is None or not isinstance(error.site, Step):
        return frozenset()
    return defect.reading.reader.met.get((error.site, error.optimizer), frozenset())


def is_shared(defect: Defect) -> bool:
    """Whether a backward may also be for a step without the scaler: some such step finds plain gradients."""
    reading = defect.reading
    if reading.guards.of(defect.site):
        return False
    direct = set(reading.steps_of(EventKind.DIRECT_STEP))
    return any(step in direct and Gradients.PLAIN in found for (step, _), found in reading.reader.met.items())


def repair(title: str, applicability: Applicability, *repairs: Repair) -> Fix:
    """A fix that changes the numbers of a run on purpose."""
    return Fix(title, FixKind.REPAIR, applicability, repairs)


def statement_of(defect: Defect, step: Step) -> Stmt | None:
    """The statement of a step of the defect's own file, where code may stand before and behind it."""
    home = defect.reading.scene.homes[step.frame]
    if home is not defect.home:
        return None
    statement = home.index.statement(step.node)
    around = home.index.parents.get(statement)
    if isinstance(statement, If) and isinstance(around, If | For | While | Try) and statement in around.orelse:
        return None
    return None if isinstance(statement, FunctionDef) or _is_in_lambda(home, step.node, statement) else statement


def _is_in_lambda(home: Facts, node: Node, statement: Stmt) -> bool:
    """Whether a lambda in a statement runs a node, and not the statement itself."""
    return home.index.function(node) is not home.index.function(statement)


def is_sole(defect: Defect) -> bool:
    """Whether there is one scaler and one optimizer, so that there is one reading of what was meant."""
    return len(defect.reading.roles.scalers) == 1 and len(defect.reading.roles.optimizers) == 1


def unscale_before(defect: Defect) -> Fix | None:
    """`scaler.unscale_(optimizer)` before a look at gradients, where every path comes there with scaled gradients."""
    met = met_gradients(defect)
    scaler, optimizer = scaler_code(defect), optimizer_code(defect)
    steps = [step for step in steps_with(defect, EventKind.STEP) if defect.reading.are_together(step, defect.site)]
    statement = _before_its_arms(defect, _before_its_loops(defect, steps))
    if met != {Gradients.SCALED} or not steps or statement is None or not (scaler and optimizer):
        return None
    guards = defect.reading.guards
    waits = {id(guard.test) for step in steps for guard, _ in guards.boundaries(step)}
    if waits - {id(guard.test) for guard in guards.of(defect.site)} or is_element(defect) or _is_of_any(defect):
        return None
    code = f"{scaler}.unscale_({optimizer})"
    line = statement.span.line
    applicability = Applicability.SAFE if is_sole(defect) else Applicability.UNSAFE
    return repair(f"insert `{code}` before line {line}", applicability, InsertBefore(statement.span, code))


def _before_its_loops(defect: Defect, steps: list[Step]) -> Stmt | None:
    """The statement that looks at gradients, or the loop over parameters around it: unscaling is for all at once.

    None where such a loop runs a backward: what it unscales would be added to.
    """
    scene, index = defect.reading.scene, defect.home.index
    statement = statement_of(defect, defect.site)
    shared = {id(common_loop(scene, defect.site, step)) for step in steps}
    for loop in index.loops(statement) if statement is not None else ():
        if id(loop) in shared:
            break
        inside = set(walk(loop))
        if any(above.node in inside for step in defect.reading.steps_of(None) for above in ways_up(scene, step)):
            return None
        statement = loop
    return statement


def _before_its_arms(defect: Defect, statement: Stmt | None) -> Stmt | None:
    """The statement, or the `if` around it of which every arm looks at the same scaled gradients."""
    index = defect.home.index
    around = index.parents.get(statement) if statement is not None else None
    while isinstance(around, If) and all(_looks(defect, arm) for arm in (around.body, around.orelse)):
        statement, around = around, index.parents.get(around)
    return statement


def _looks(defect: Defect, arm: Block) -> bool:
    """Whether an arm is one look at scaled gradients, or an `if` of which every arm is."""
    if len(arm) != 1:
        return False
    if isinstance(arm[0], If):
        return _looks(defect, arm[0].body) and _looks(defect, arm[0].orelse)
    optimizer, reading = defect.error.optimizer if defect.error is not None else None, defect.reading
    inside = set(walk(arm[0]))
    looks = (step for step in reading.steps_of(EventKind.CLIP, EventKind.READ) if step.node in inside)
    return any(reading.reader.met.get((step, optimizer)) == {Gradients.SCALED} for step in looks)


def _is_of_any(defect: Defect) -> bool:
    """Whether it looks at the gradients of nobody knows which of several optimizers."""
    happenings = defect.reading.events.of(defect.site)
    return len(defect.reading.roles.optimizers) > 1 and any(each.optimizers is None for each in happenings)


def is_element(defect: Defect) -> bool:
    """Whether the optimizer is one of a collection."""
    optimizer = defect.error.optimizer if defect.error is not None else None
    return isinstance(optimizer, tuple) and bool(optimizer) and is_of_many(optimizer)


def steps_with(defect: Defect, kind: EventKind) -> list[Step]:
    """The steps with an event of the defect's optimizer and scaler."""
    error = defect.error
    found = []
    for step in defect.reading.steps_of(kind):
        for happening in defect.reading.events.of(step):
            is_same = error is None or error.optimizer is None or happening.optimizers == (error.optimizer,)
            if happening.kind is kind and is_same:
                found.append(step)
    return found


def insert_after(defect: Defect, step: Step, code: str, title: str, applicability: Applicability) -> Fix | None:
    """A statement behind the one of a step."""
    statement = statement_of(defect, step)
    if statement is None or not isinstance(statement, ExprStmt):
        return None
    return repair(title, applicability, InsertAfter(statement.span, code))


def move_after(defect: Defect, step: Step, target: Step, applicability: Applicability) -> Fix | None:
    """The whole statement of a step, moved behind the statement of another."""
    moved, anchor = statement_of(defect, step), statement_of(defect, target)
    if not isinstance(moved, ExprStmt) or not isinstance(anchor, ExprStmt) or moved is anchor:
        return None
    anchor = _out_of_arms(defect, step, target, anchor)
    title = f"move `{spelled(moved.value) or 'the statement'}` behind line {anchor.span.end_line}"
    return repair(title, applicability, MoveStatement(moved.span, anchor.span))


def move_out(defect: Defect, later: Step, target: Step) -> Fix | None:
    """The statement of a step goes, and a later one like it, the last in an arm, comes out of that arm.

    None where the later one stands where the paths of the other pass anyway, or deeper.
    """
    here, last = statement_of(defect, defect.site), statement_of(defect, later)
    if not isinstance(here, ExprStmt) or not isinstance(last, ExprStmt):
        return None
    arm = _out_of_arms(defect, defect.site, target, last)
    holder, block = defect.home.index.block(last)
    if not isinstance(arm, If) or arm is not holder or arm.orelse or block[-1] is not last:
        return None
    title = f"update once, behind the `if` of line {arm.span.line}"
    return repair(title, Applicability.UNSAFE, DeleteStatement(here.span), DedentTail(last.span))


def place_behind(defect: Defect, step: Step, target: Step) -> Stmt | None:
    """The statement behind which `move_after` puts that of a step."""
    anchor = statement_of(defect, target)
    return None if anchor is None else _out_of_arms(defect, step, target, anchor)


def is_passed(defect: Defect, anchor: Stmt, step: Step) -> bool:
    """Whether a step stands in the block of a statement, so that what is put behind that follows it."""
    index = defect.home.index
    _, block = index.block(anchor)
    return any(outer in block for outer in (step.node, *index.ancestors(step.node)))


def _out_of_arms(defect: Defect, step: Step, target: Step, anchor: Stmt) -> Stmt:
    """The statement behind which all paths of the moved one still pass: outside arms that are no group boundary."""
    guards, terms = defect.reading.guards, defect.reading.scene.terms
    allowed = {terms.of(guard.test, guard.frame) for guard in guards.of(step)}
    allowed |= {terms.of(guard.test, guard.frame) for guard, _ in guards.boundaries(target)}
    index = defect.home.index
    holder = index.parents.get(anchor)
    while isinstance(holder, If) and terms.of(holder.test, target.frame) not in allowed:
        anchor = holder
        holder = index.parents.get(anchor)
    return anchor


def delete(defect: Defect, step: Step, title: str, applicability: Applicability) -> Fix | None:
    """Take a statement away."""
    statement = statement_of(defect, step)
    if not isinstance(statement, ExprStmt):
        return None
    return repair(title, applicability, DeleteStatement(statement.span))


def replace_call(call: Node, code: str, title: str, applicability: Applicability) -> Fix | None:
    """Other code for an expression."""
    if not isinstance(call, Call) or not code:
        return None
    return repair(title, applicability, Replace(call.span, code))
