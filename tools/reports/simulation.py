"""Run the programs of a package on simulated accelerators, and report their cost."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ...dialects.core.errors import CompileError, Diagnostic
from ...runtime.dla.step import DlaStep, Driver
from ...runtime.errors import RunError
from ...runtime.package import Package
from ...runtime.session import Session
from ...runtime.spelling import count
from ...targets.dla.core.contents import Sizes
from ...targets.dla.registry import SimulatedDevice, open_simulated
from ..feeds import Arrays


@dataclass(frozen=True)
class StepReport:
    """Hold the cost of a step; engines and memories have the names of the description."""

    entry: str
    accelerator: str
    nodes: tuple[str, ...]
    packets: int
    cycles: int
    busy_cycles: dict[str, int]
    utilisation: dict[str, float]
    bytes_moved: dict[str, int]


@dataclass(frozen=True)
class SimulationReport:
    """Hold the cost of all steps of a package that an accelerator ran."""

    file: str
    steps: tuple[StepReport, ...]


@dataclass(frozen=True)
class Simulated:
    """A step of a package and the simulated machine that ran it."""

    step: DlaStep
    device: SimulatedDevice

    def text(self) -> str:
        """Return a heading, and below it cycles, bytes moved and the timeline of each engine."""
        packets = count(len(self.device.report().runs), "packet")
        nodes = count(len(self.step.nodes), "node")
        heading = f"{self.step.entry} on {self.step.accelerator}: {packets} of {nodes}"
        return "\n  ".join([heading, *self.device.report().text().splitlines()])

    def report(self) -> "StepReport":
        """Return the numbers of the text."""
        place = (self.step.entry, self.step.accelerator, self.step.nodes)
        return StepReport(*place, **self.device.report().numbers())


@dataclass
class _Simulator:
    """Open a simulated machine for each step, in order; refuse streams that have faults."""

    steps: Sequence[DlaStep]
    seed: int | None
    opened: list[Simulated] = field(default_factory=list[Simulated])

    def open(self, description: bytes, data: bytes, sizes: Sizes) -> Driver:
        step = self.steps[len(self.opened)]
        device = open_simulated(step.accelerator, description, data, step.entry, self.seed, sizes)
        _require_sound(step, device)
        self.opened.append(Simulated(step, device))
        return device


def _require_sound(step: DlaStep, device: SimulatedDevice) -> None:
    faults = [Diagnostic(f"{step.entry}, {where}", what) for where, what in device.faults()]
    if faults:
        raise CompileError(faults)


def _program_for(package: Package, inputs: Arrays) -> Package:
    """Return the program for exactly the sizes of inputs as a package, or the package."""
    shapes = {name: array.shape for name, array in inputs.items()}
    for each in package.exact:
        if shapes == {port.name: port.shape for port in each.manifest.inputs}:
            return each
    return package


def simulate(package: Package, inputs: Arrays, seed: int | None = None) -> list[Simulated]:
    """Run a package once, and return each step that an accelerator took; the rest runs as usual.

    Of a package with programs for exact sizes, it runs that for the shapes of the inputs. With a
    seed, packets run in any order that their waits allow. Raises RunError when there is no such
    step, CompileError for streams with faults.
    """
    package = _program_for(package, inputs)
    steps = [step for step in package.manifest.steps if isinstance(step, DlaStep)]
    if not steps:
        raise RunError("the package has nothing for an accelerator: compile it for one")
    simulator = _Simulator(steps, seed)
    names = {step.accelerator for step in steps}
    session = Session(package, drivers=dict.fromkeys(names, simulator.open))
    session.run(inputs)
    return simulator.opened
