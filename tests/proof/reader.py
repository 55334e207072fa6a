"""What the linter's own reader of the protocol finds in a generated program, in the reference's terms."""

from amplint.facts.events import Events
from amplint.facts.gather import Facts
from amplint.facts.protocol import _is_wanted
from amplint.facts.reader import SILENT, Reader
from amplint.facts.roles import Roles
from amplint.facts.roots import takes_a_turn
from amplint.facts.scene import Scene
from amplint.flow.conditions import Questions
from amplint.flow.fixpoint import explore
from amplint.knowledge.protocol import Reason
from amplint.model.tree import ClassDef, FunctionDef
from amplint.syntax.lower import lower
from tests.proof.amp import AmpWriter
from tests.proof.programs import Program

Errors = set[tuple[int, Reason, bool]]


def reader_errors(program: Program, bound: int = 20_000) -> Errors:
    """(line, reason, whether torch raises), with bounds that no generated program reaches."""
    facts = Facts("program.py", lower(AmpWriter(program).text))
    train = next(f for f in facts.index.functions if isinstance(f, FunctionDef) and f.name == "train")
    klass = facts.index.parents.get(train)
    scene = Scene(facts, train, (facts, klass) if isinstance(klass, ClassDef) else None, _is_wanted, takes_a_turn)
    roles = Roles(scene)
    if not roles.scalers:
        return set()
    reader = Reader(scene, roles, Events(scene, roles))
    questions = Questions(scene.graph, lambda step: bool(reader.events.of(step)), most=12)
    explore(scene.graph, reader, [reader.begin], questions, bound)
    return {
        (misstep.error.site.node.span.line, misstep.error.reason, misstep.error.is_crash)
        for misstep in reader.missteps.values()
    }


def spoken(errors: Errors) -> Errors:
    """The errors that the reader is meant to speak of."""
    return {error for error in errors if error[1] not in SILENT}
