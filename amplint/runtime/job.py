"""What one run is: the program, its arguments, how AMP is treated in it and how much is recorded.

Knows nothing of how a job is started or judged; holds plain data that goes to another process as JSON.
"""

import json
from dataclasses import asdict, dataclass, field
from enum import StrEnum


class Detail(StrEnum):
    """How much a run records.

    nothing: seeds and threads only, no hooks. pace: wall time and memory of each step. events: what the protocol needs.
    full: also gradient norms, losses and a hash of the parameters at each step. operations: also a count of the
    floating-point operations by dtype.
    """

    NOTHING = "nothing"
    PACE = "pace"
    EVENTS = "events"
    FULL = "full"
    OPERATIONS = "operations"


class Kept(StrEnum):
    """Which events a trace holds.

    nothing: none, only steps and sightings. places: the first of each kind at each place, and every new scaler.
    """

    NOTHING = "nothing"
    PLACES = "places"
    EVERYTHING = "everything"


class ScalerTreatment(StrEnum):
    """What becomes of the script's gradient scalers."""

    OWN = "own"
    OFF = "off"
    FORCED = "forced"


@dataclass(frozen=True, slots=True)
class Treatment:
    """What a run changes about AMP, and about nothing else.

    scale and growth_interval count where the scaler is forced; overflow_at is the number (from 1) of the `scale()`
    call whose gradients are made infinite.
    """

    name: str
    is_autocast_on: bool = True
    scaler: ScalerTreatment = ScalerTreatment.OWN
    scale: float | None = None
    growth_interval: int | None = None
    overflow_at: int | None = None


AS_IS = Treatment("as it is")
AMP_OFF = Treatment("AMP off", is_autocast_on=False, scaler=ScalerTreatment.OFF)


@dataclass(frozen=True, slots=True)
class Program:
    """What a person would type after `python`: a script or `-m module`, and its arguments.

    directory is where the person stands; search_path is what Python would put first on `sys.path`.
    """

    target: str
    is_module: bool
    arguments: tuple[str, ...]
    directory: str
    search_path: str

    @property
    def title(self) -> str:
        """The program as it was named."""
        return f"-m {self.target}" if self.is_module else self.target


@dataclass(frozen=True, slots=True)
class Job:
    """One run.

    folder is amplint's own temporary folder for it; overlay maps real paths to the text served instead; probes asks
    which lines of files (by real path) are reached. Where half precision is refused and autocast is off, a program that
    asks for it gets float32.
    """

    program: Program
    folder: str
    directory: str
    treatment: Treatment = AS_IS
    detail: Detail = Detail.EVENTS
    steps: int | None = None
    seed: int = 0
    threads: int = 1
    device: str = "cpu"
    is_output_shown: bool = False
    kept: Kept = Kept.EVERYTHING
    is_half_refused: bool = False
    overlay: dict[str, str] = field(default_factory=dict)
    probes: dict[str, list[int]] = field(default_factory=dict)

    def to_json(self) -> str:
        """The job as one line of JSON."""
        return json.dumps(asdict(self))


def job_from_json(text: str) -> Job:
    """The job that `Job.to_json` wrote."""
    data = json.loads(text)
    program = data.pop("program")
    program["arguments"] = tuple(program["arguments"])
    treatment = data.pop("treatment")
    treatment["scaler"] = ScalerTreatment(treatment["scaler"])
    data["detail"], data["kept"] = Detail(data["detail"]), Kept(data["kept"])
    return Job(program=Program(**program), treatment=Treatment(**treatment), **data)
