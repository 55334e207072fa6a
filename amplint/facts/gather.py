"""The one object that a rule receives: everything known about one module and what it imports, worked out when asked.

Holds no opinion about what is wrong.
"""

from functools import cached_property, partial

from msgspec import field

from amplint.facts.accumulation.groups import Accumulation
from amplint.facts.api.shims import Shims
from amplint.facts.api.uses import Uses
from amplint.facts.autocast.autograd_functions import AutogradFunctions
from amplint.facts.autocast.devices import Devices
from amplint.facts.autocast.efficiency import Efficiency
from amplint.facts.autocast.enclosed import EnclosedTraining
from amplint.facts.autocast.entering import Entering
from amplint.facts.autocast.handoffs import Handoffs
from amplint.facts.autocast.inherited import Inheritance
from amplint.facts.autocast.operations import Operations
from amplint.facts.autocast.pairing import Pairing
from amplint.facts.autocast.regions import Regions
from amplint.facts.autocast.switches import Switches
from amplint.facts.autocast.unscaled import UnscaledTraining
from amplint.facts.program.callers import aliases
from amplint.facts.program.classes import attribute_values
from amplint.facts.program.constructors import Constructors
from amplint.facts.program.context import Importers, Modules
from amplint.facts.program.exports import starred
from amplint.facts.program.index import Index
from amplint.facts.program.names import Names
from amplint.facts.program.origins import Classes
from amplint.facts.program.sole import SoleBindings
from amplint.facts.program.targets import Targets
from amplint.facts.program.values import Values
from amplint.facts.protocol.concerns import Concerns
from amplint.facts.protocol.defects import Defects
from amplint.facts.protocol.readings import Reading, readings
from amplint.facts.protocol.scaled_values import ScaledValues
from amplint.facts.protocol.scaler_creation import ScalerCreations
from amplint.facts.settings import CheckSettings
from amplint.facts.training.checkpoints import Checkpoints
from amplint.facts.training.events import Training
from amplint.facts.training.frameworks import Frameworks
from amplint.facts.training.scaler_lifecycle import ScalerLifecycle
from amplint.facts.training.schedulers import Schedulers
from amplint.model.data import Value
from amplint.model.tree import Call, ClassDef, Expr, FunctionDef, Module


class Context(Value):
    """The modules that a module can see: dotted module name → facts of it; empty where files are seen alone.

    modules maps the absolute dotted name under which an import statement finds a file (`pkg.engine`, `engine`) to
    its facts; iteration gives the modules that this one imports. importers are the facts of the project's modules that
    import this one. Both are read from disk when they are asked for, so asking is not free.
    is_complete is False where the checked file is seen alone (flake8, standard input).
    """

    modules: Modules = field(default_factory=Modules)
    importers: Importers = field(default_factory=Importers)
    is_complete: bool = False


class Facts:
    """What is known about one module.

    path is the file as findings name it; dotted_name is the module's own absolute name, `__main__` where it is not
    known; is_package marks an `__init__.py`, whose relative imports start one level lower. taken remembers which names
    importers were found to take from here, classes what some expressions are instances of: always, and in a root;
    lookup_orders and callers what was found of its classes and functions.
    """

    def __init__(
        self,
        path: str,
        module: Module,
        settings: CheckSettings | None = None,
        context: Context | None = None,
        dotted_name: str = "__main__",
        is_package: bool = False,
    ) -> None:
        self.path, self.module = path, module
        self.settings, self.context = settings or CheckSettings(), context or Context()
        self.dotted_name, self.is_package = dotted_name, is_package
        self.taken: dict[str, bool] = {}
        self.classes: tuple[Classes, Classes] = ({}, {})
        self.lookup_orders: dict[ClassDef, tuple[tuple[Facts, ClassDef], ...]] = {}
        self.callers: dict[FunctionDef | ClassDef, tuple[tuple[Facts, Call], ...]] = {}
        self._attributes: dict[ClassDef, dict[str, list[Expr | None]]] = {}
        self._definitions: dict[str, tuple[Facts, FunctionDef | ClassDef] | None] = {}

    @cached_property
    def index(self) -> Index:
        """Parents, statements, functions, calls."""
        return Index(self.module)

    @cached_property
    def names(self) -> Names:
        """What names mean."""
        return Names(self.module, self.index, self.dotted_name, self.is_package, partial(starred, self))

    @cached_property
    def values(self) -> Values:
        """What expressions may stand for."""
        return Values(self)

    @cached_property
    def sole_bindings(self) -> SoleBindings:
        """What names hold that are assigned several times."""
        return SoleBindings(self)

    @cached_property
    def targets(self) -> Targets:
        """What calls run."""
        return Targets(self)

    @cached_property
    def constructors(self) -> Constructors:
        """What calls make."""
        return Constructors(self)

    @cached_property
    def training(self) -> Training:
        """Backward passes, optimizer steps, scheduler steps."""
        return Training(self)

    @cached_property
    def regions(self) -> Regions:
        """Where autocast is on."""
        return Regions(self)

    @cached_property
    def enclosed(self) -> EnclosedTraining:
        """Training that runs inside autocast regions."""
        return EnclosedTraining(self)

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """Where training state is saved."""
        return Checkpoints(self)

    @cached_property
    def entering(self) -> Entering:
        """How autocast objects are entered."""
        return Entering(self)

    @cached_property
    def operations(self) -> Operations:
        """Operations that half precision or autocast cannot take."""
        return Operations(self)

    @cached_property
    def autograd_functions(self) -> AutogradFunctions:
        """Custom autograd functions."""
        return AutogradFunctions(self)

    @cached_property
    def pairing(self) -> Pairing:
        """Scalers and the regions whose losses they scale."""
        return Pairing(self)

    @cached_property
    def unscaled(self) -> UnscaledTraining:
        """Training in float16 without what float16 needs."""
        return UnscaledTraining(self)

    @cached_property
    def devices(self) -> Devices:
        """The devices of scalers and regions."""
        return Devices(self)

    @cached_property
    def scaler_lifecycle(self) -> ScalerLifecycle:
        """Scalers from creation to checkpoint."""
        return ScalerLifecycle(self)

    @cached_property
    def switches(self) -> Switches:
        """Switches of autocast against the scaler's."""
        return Switches(self)

    @cached_property
    def handoffs(self) -> Handoffs:
        """What crosses the borders of regions."""
        return Handoffs(self)

    @cached_property
    def efficiency(self) -> Efficiency:
        """What slows training loops down."""
        return Efficiency(self)

    @cached_property
    def schedulers(self) -> Schedulers:
        """Learning-rate schedulers."""
        return Schedulers(self)

    @cached_property
    def frameworks(self) -> Frameworks:
        """Frameworks that bring their own mixed precision."""
        return Frameworks(self)

    @cached_property
    def uses(self) -> Uses:
        """Where the AMP API is named."""
        return Uses(self)

    @cached_property
    def inheritance(self) -> Inheritance:
        """What may reach autocast regions from around them."""
        return Inheritance(self)

    @cached_property
    def shims(self) -> Shims:
        """Which places choose between versions of torch."""
        return Shims(self)

    @cached_property
    def aliases(self) -> dict[str, set[str]]:
        """The names at its own level of what has another name elsewhere, by that name."""
        return aliases(self)

    @cached_property
    def protocol(self) -> "tuple[Reading, ...]":
        """The module's roots, read along their paths."""
        return tuple(readings(self))

    @cached_property
    def accumulation(self) -> Accumulation:
        """Groups of micro-batches."""
        return Accumulation(self)

    @cached_property
    def scaled_values(self) -> ScaledValues:
        """What becomes of scaled losses that do not run backward."""
        return ScaledValues(self)

    @cached_property
    def scaler_creations(self) -> ScalerCreations:
        """Scalers that are made again and again."""
        return ScalerCreations(self)

    @cached_property
    def defects(self) -> Defects:
        """What is wrong in the protocol, defect by defect."""
        return Defects(self)

    @cached_property
    def concerns(self) -> Concerns:
        """Which functions have anything to do with a training step."""
        return Concerns(self)

    def attributes(self, klass: ClassDef) -> dict[str, list[Expr | None]]:
        """All values that one class of this module assigns to its attributes itself, by attribute."""
        if klass not in self._attributes:
            self._attributes[klass] = attribute_values(klass)
        return self._attributes[klass]

    def definition(self, canonical: str) -> "tuple[Facts, FunctionDef | ClassDef] | None":
        """The function or class that a canonical dotted name stands for, here or in the context.

        `engine.train_one_epoch`, `pkg.amp.NativeScaler.__call__`; follows re-exports. None where it is not seen.
        """
        if canonical not in self._definitions:
            self._definitions[canonical] = self._definition(canonical, 8)
        return self._definitions[canonical]

    def _definition(self, canonical: str, budget: int) -> "tuple[Facts, FunctionDef | ClassDef] | None":
        head, rest = canonical, ""
        while head and budget:
            owner = self if head == self.dotted_name else self.context.modules.get(head) if rest else None
            if owner is not None and rest:
                local = owner.index.definitions.get(rest)
                if local is not None:
                    return owner, local
                first = rest.partition(".")[0]
                target = owner.names.module_binding(first)
                if target is None or target == canonical:
                    return None
                return owner._definition(target + rest.removeprefix(first), budget - 1)
            head, _, last = head.rpartition(".")
            rest = f"{last}.{rest}" if rest else last
        return None
