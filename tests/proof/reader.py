"""What the linter's own reader of the protocol finds in a generated program, in the reference's terms."""

from unittest.mock import patch

from amplint.facts.gather import Facts
from amplint.facts.protocol import readings as protocol
from amplint.facts.protocol.meaning import Meaning
from amplint.facts.protocol.reader import SILENT
from amplint.facts.protocol.roots import Root, goes_through_optimizers
from amplint.facts.protocol.scene import Scene
from amplint.knowledge.protocol import EventKind
from amplint.knowledge.state import Event
from amplint.model.tree import ClassDef, FunctionDef
from amplint.syntax.lower import lower
from tests.proof.amp import AmpWriter
from tests.proof.programs import Program
from tests.proof.table import Errors

# The linter leaves out questions on which nothing but a clip hangs, to have room for others.
EVERYTHING = frozenset({None, *EventKind})


def _none(*_: object) -> tuple[Event, ...]:
    """The linter forgives a plain backward of another function, which may be for gradients of inputs."""
    return ()


def reader_errors(program: Program, most_states: int = 20_000, most_questions: int = 12) -> Errors:
    """(line, reason, whether torch raises), by default within bounds that no generated program reaches."""
    facts = Facts("program.py", lower(AmpWriter(program).text))
    train = next(f for f in facts.index.functions if isinstance(f, FunctionDef) and f.name == "train")
    klass = facts.index.parents.get(train)
    root = Root(facts, train, (facts, klass) if isinstance(klass, ClassDef) else None)
    scene = Scene(facts, train, root.klass, protocol._is_wanted, goes_through_optimizers)
    bounds = {"MOST_STATES": most_states, "MOST_QUESTIONS": most_questions, "DECISIVE": EVERYTHING}
    with patch.multiple(protocol, **bounds), patch.object(Meaning, "_strangers", _none):
        reading = protocol.read(root, scene)
    if reading is None:
        return set()
    return {
        (misstep.error.site.node.span.line, misstep.error.reason, misstep.error.is_crash)
        for misstep in reading.reader.missteps.values()
    }


def spoken(errors: Errors) -> Errors:
    """The errors that the reader is meant to speak of."""
    return {error for error in errors if error[1] not in SILENT}
