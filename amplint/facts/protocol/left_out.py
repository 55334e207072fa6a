"""Rounds of a scaler that lack a part on every path: no step of any optimizer, no update behind it, no scale before.

Knows whole functions, not paths; refuses to judge a scaler that something unseen is given, or may serve by its name.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from amplint.facts.program.bound_functions import named_function
from amplint.facts.protocol.elsewhere import is_done_elsewhere
from amplint.facts.protocol.guards import common_loop, is_above
from amplint.facts.protocol.readings import Reading
from amplint.flow.graph import Step
from amplint.flow.terms import Term
from amplint.knowledge import training_names as known
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.state import Error
from amplint.model.tree import Attribute, Call, ExceptHandler, Expr, FunctionDef, If, Name, Node
from amplint.model.walks import is_of_self, last_name, own_nodes, walk

if TYPE_CHECKING:
    from amplint.facts.gather import Facts

GIVING_UP = re.compile(r"finite|nan|inf|skip|overflow|bad|valid", re.IGNORECASE)
STEPPING = re.compile(r"(?<!time)(?<!time_)(?<!\d)step(?!s)")
ENDS = (EventKind.UPDATE, EventKind.SET_SCALE)


def unapplied(reading: Reading) -> Iterator[Step]:
    """The unscale_ whose gradients are updated away on every path; and updates behind a scale, where nothing steps."""
    for site, scaler in reading.reader.updated.items():
        is_used = site in reading.reader.applied or _reads_gradients(reading)
        if not is_used and not _is_open(reading, site, scaler) and not _is_given_up(reading, site):
            yield site
    for scaler in reading.roles.scalers:
        if any(reading.steps_of(EventKind.STEP, EventKind.UNSCALE, scaler=scaler)):
            continue
        for update in reading.steps_of(EventKind.UPDATE, scaler=scaler):
            if _is_scaled_before(reading, update, scaler) and not _is_open(reading, update, scaler):
                yield update
                break


def _reads_gradients(reading: Reading) -> bool:
    """Whether something is done with gradients by hand, as by an optimizer that looks ahead from the parameters."""
    functions = dict.fromkeys(frame.function for frame in reading.scene.frames)
    return any(isinstance(node, Attribute) and node.attr == "grad" for each in functions for node in own_nodes(each))


def _is_open(reading: Reading, site: Step, scaler: Term) -> bool:
    """Whether something that is not seen may step with a scaler."""
    is_beyond = is_in_other_hands(reading, scaler) or is_done_elsewhere(reading, scaler, "step")
    return is_beyond or _may_be_done_here(reading, site)


def _is_given_up(reading: Reading, site: Step) -> bool:
    """Whether an unscale_ serves a batch that is given up on purpose: for what its loss or gradients are."""
    index = reading.scene.homes[site.frame].index
    for outer in index.ancestors(site.node):
        if isinstance(outer, ExceptHandler):
            return True
        # An exit before it lets through what is not given up.
        if isinstance(outer, If) and any(map(GIVING_UP.search, _names(outer.test))):
            return True
    return False


def _names(test: Expr) -> Iterator[str]:
    return (
        node.id if isinstance(node, Name) else node.attr for node in walk(test) if isinstance(node, Name | Attribute)
    )


def unended(reading: Reading) -> Iterator[Step]:
    """The step of each method that trains one batch with the scaler of its object, which nothing in sight updates.

    The object is there to be asked again: its second step raises. Where other files are not seen, one may update.
    """
    for scaler in _own_scalers(reading):
        if any(reading.steps_of(*ENDS, scaler=scaler)):
            continue
        for step in reading.steps_of(EventKind.STEP, scaler=scaler):
            is_once = _is_scaled_before(reading, step, scaler) and not _is_in_a_loop_of_losses(reading, step, scaler)
            if is_once and not is_done_elsewhere(reading, scaler, "update"):
                yield step
                break


def _is_in_a_loop_of_losses(reading: Reading, step: Step, scaler: Term) -> bool:
    """Whether a loop runs a step with a scale before it; one over optimizers runs the step alone."""
    scales = reading.steps_of(EventKind.SCALE, scaler=scaler)
    return any(common_loop(reading.scene, scale, step) is not None for scale in scales)


def unscaled(reading: Reading) -> Iterator[tuple[Step, Step]]:
    """The backward of each method that divides gradients by a scale with which nothing in sight multiplies a loss.

    With it what divides them. A loss that comes from elsewhere may have been scaled there.
    """
    for scaler in _own_scalers(reading):
        if any(reading.steps_of(EventKind.SCALE)) or is_done_elsewhere(reading, scaler, "scale"):
            continue
        dividing = [*reading.steps_of(EventKind.UNSCALE, EventKind.STEP, scaler=scaler)]
        for backward in reading.steps_of(None):
            after = [step for step in dividing if _is_right_behind(reading, backward, step)]
            if after and _is_made_here(reading, backward):
                yield backward, min(after, key=lambda step: step.node.span)
                break


def _is_right_behind(reading: Reading, backward: Step, step: Step) -> bool:
    """Whether a step follows a backward, under the same tests."""
    answers = reading.guards.answers
    return is_above(reading.scene, backward, step) and answers(backward) == answers(step)


def _is_made_here(reading: Reading, backward: Step) -> bool:
    """Whether the loss of a backward is one that the scene computes."""
    func = backward.node.func if isinstance(backward.node, Call) else None
    return isinstance(func, Attribute) and reading.reader.losses.is_plain(func.value, backward.frame)


def clipped(reading: Reading) -> Iterator[tuple[Step, Step]]:
    """The clip of each method that steps what another one runs backward, where nothing in sight unscales before.

    With its step, the first that divides by the scale: what it clips is still multiplied.
    """
    if any(reading.steps_of(None)):
        return
    for scaler in _own_scalers(reading):
        is_unscaled = any(reading.steps_of(EventKind.UNSCALE)) or is_done_elsewhere(reading, scaler, "unscale_")
        if is_unscaled or not is_done_elsewhere(reading, scaler, "scale"):
            continue
        for step in reading.steps_of(EventKind.STEP, scaler=scaler):
            before = [clip for clip in reading.steps_of(EventKind.CLIP) if _is_ahead(reading, clip, step)]
            if before and not reading.may_apply_scale(before[-1]):
                yield before[-1], step
                break


def _is_ahead(reading: Reading, clip: Step, step: Step) -> bool:
    """Whether a step of the same optimizer surely follows a clip."""
    served = [{h.optimizers for h in reading.events.of(each)} for each in (clip, step)]
    is_first, answers = is_above(reading.scene, clip, step), reading.guards.answers
    return is_first and answers(step) <= answers(clip) and bool(served[0] & served[1])


def premature(reading: Reading) -> "Iterator[tuple[Step, Error]]":
    """The unscale_ that no path reaches with a scale, above the first scaled loss."""
    for site, misstep in reading.reader.unset.items():
        scaled = reading.steps_of(EventKind.SCALE, scaler=misstep.error.scaler)
        is_first = any(is_above(reading.scene, site, step) for step in scaled)
        if is_first and site not in reading.reader.unscaled:
            yield site, misstep.error


def _is_scaled_before(reading: Reading, later: Step, scaler: Term) -> bool:
    """Whether the function of a step scales a loss above it."""
    return any(
        step.frame == later.frame and step.node.span < later.node.span
        for step in reading.steps_of(EventKind.SCALE, scaler=scaler)
    )


def _own_scalers(reading: Reading) -> Iterator[Term]:
    """The scalers of the root's object that nothing unseen is given; none where other files are not seen."""
    for scaler in reading.roles.scalers if reading.scene.facts.context.is_complete else ():
        if is_own(reading, scaler) and not is_in_other_hands(reading, scaler):
            yield scaler


def is_in_other_hands(reading: Reading, scaler: Term) -> bool:
    """Whether something that is not seen is given a scaler."""
    return any(reading.steps_of(EventKind.FORGET, scaler=scaler))


def is_own(reading: Reading, scaler: Term) -> bool:
    """Whether a scaler is one that the class of the root makes for each of its objects."""
    match reading.root.klass, scaler:
        case (home, klass), ("attr", ("name", "self", 0), str(name)):
            return any(
                owner.constructors.may_make(part, known.is_scaler)
                for owner, given in home.values.attribute(klass, str(name))
                for part in _parts(owner, given.value)
            )
        case _:
            return False


def _parts(home: "Facts", value: Expr | None) -> Iterator[Node]:
    """The parts of what is assigned, and of what its names were given before."""
    for part in walk(value) if value is not None else ():
        yield part
        for binding in home.names.lookup(part.id, part) if isinstance(part, Name) else ():
            yield from walk(binding.value) if binding.value is not None else ()


def _may_be_done_here(reading: Reading, step: Step) -> bool:
    """Whether the function calls something of its own that says in its name that it steps, and is not seen."""
    home = reading.scene.homes[step.frame]
    function = home.index.function(step.node)
    entered = {id(frame.call) for frame in reading.scene.frames}
    return any(
        home.index.function(call) is function
        and id(call) not in entered
        and _says_step(call.func)
        and not _leaves_steps(home, call)
        for call in home.index.calls
    )


def _leaves_steps(home: "Facts", call: Call) -> bool:
    """Whether a function or method in sight has nothing to do with steps, whatever it is called.

    A method that does nothing waits for a subclass, and one that another class has too may be that one's.
    """
    named = named_function(home, call.func)
    if named is not None:
        return not named[0].concerns.has(named[1])
    found = home.targets.function(call)
    if found is None or not any(isinstance(node, Call) for node in walk(found[1])):
        return False
    name = found[1].name
    homes = (found[0], *found[0].context.importers.naming({name}))
    alike = ((each, method) for each in homes for method in each.index.each(FunctionDef) if method.name == name)
    return not any(each.concerns.has(method) for each, method in alike)


def _says_step(func: Expr) -> bool:
    if isinstance(func, Attribute) and func.attr == "step":
        return is_of_self(func)
    return bool(STEPPING.search(last_name(func).lower()))
