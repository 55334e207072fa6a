"""Flags of objects that only say what their own methods did last: `self.divided = True`, and `False` behind the update.

Knows what the constructor sets them to; refuses a flag that is given anything but true and false.
"""

from collections.abc import Iterator

from amplint.facts.program.callees import is_self
from amplint.facts.program.classes import assigned
from amplint.facts.protocol.kept_answers import is_first
from amplint.facts.protocol.scene import Scene
from amplint.flow.conditions import Answers, Questions
from amplint.flow.graph import Step, StepKind
from amplint.flow.terms import Term
from amplint.model.tree import Assign, Attribute, Constant, Name


def first_answers(scene: Scene, questions: Questions) -> dict[int, bool]:
    """What the questions about such flags say when nothing has run yet, by their index."""
    wanted = {atom.left: index for index, atom in enumerate(questions.asked) if atom.kind == "true"}
    found: dict[int, bool] = {}
    for _, _, step in scene.graph.steps() if any(term[0] == "attr" for term in wanted) else ():
        for term, flag in _flags(scene, step):
            if term in wanted and (said := _first(scene, flag, step.frame)) is not None:
                found[wanted[term]] = said
    return found


def with_first(given: Answers, first: dict[int, bool]) -> Answers:
    """Some answers, with those of flags."""
    return tuple(first.get(index, said) for index, said in enumerate(given))


def _flags(scene: Scene, step: Step) -> Iterator[tuple[Term, Attribute]]:
    """The attributes of its own object that a method sets to true or false in a step."""
    if step.kind is not StepKind.BIND or not isinstance(step.node, Assign) or not _is_flag(step.node.value):
        return
    for target in step.node.targets:
        match target:
            case Attribute(value=Name(id=me)) if is_self(scene.frames[step.frame].function, me):
                yield scene.terms.of(target, step.frame), target
            case _:
                pass


def _first(scene: Scene, flag: Attribute, frame: int) -> bool | None:
    """What the constructor sets a flag to, where nothing in sight gives it anything but true and false."""
    klass = scene.callees.klass_of_self(frame, scene.frames)
    values = list(assigned(*klass, flag.attr)) if klass is not None else []
    if not all(_is_flag(value) for _, value in values):
        return None
    first = {value.value for owner, value in values if isinstance(value, Constant) and is_first(owner, value)}
    said = first.pop() if len(first) == 1 else None
    return said if isinstance(said, bool) else None


def _is_flag(value: object) -> bool:
    return isinstance(value, Constant) and isinstance(value.value, bool)
