"""A simulated accelerator with a container loaded: the counterpart of a hardware driver."""

from collections.abc import Callable, Sequence

from ....dialects.core.errors import CompileError, Diagnostic, Invalid
from . import container
from .container import NO_SIZES
from .contents import Container, Sizes
from .linter import Finding, lint
from .packet import InstructionSet, Packet
from .ports import PortValues, Values
from .simulator import CONSTANTS, Report, simulate_packets
from .simulator_state import SimulatorState
from .toml_file import parse_description

Classes = Sequence[type[Packet]]


class Device:
    """Run the stream of a container on arrays, any number of times, without state in between.

    Packets run in the stream's order as far as waits allow; with a seed, in any order that waits
    allow.
    """

    def __init__(
        self, instructions: InstructionSet, loaded: Container, seed: int | None = None
    ) -> None:
        self.instructions = instructions
        self.container = loaded
        self.seed = seed
        self._packets = instructions.decode_stream(loaded.code)
        self._constants = self._new_state()
        self._constants.fill(CONSTANTS, loaded.constants)
        self._report = Report((), {})

    @staticmethod
    def open(
        description: bytes | str,
        data: bytes,
        find_classes: Callable[[str], Classes],
        file: str = "container",
        seed: int | None = None,
        sizes: Sizes = NO_SIZES,
    ) -> "Device":
        """Load a program of the container in a file's data onto an accelerator described in TOML.

        `find_classes` returns the packets of the accelerator that the container names; the program
        is that for `sizes`. Raises CompileError for a faulty description, and with `file` and the
        offset for a container that is corrupt, of a newer version, for another description, or
        without a program for these sizes.
        """
        classes = container.find_for(data, file, find_classes)
        instructions = InstructionSet(parse_description(description), classes)
        loaded = container.load(instructions, data, file, sizes)
        try:
            return Device(instructions, loaded, seed)
        except CompileError as error:
            raise CompileError([Diagnostic(file, error.diagnostics[0].message)]) from None

    @property
    def name(self) -> str:
        """Return the name of the accelerator."""
        return self.instructions.description.name

    @property
    def input_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the ports of inputs."""
        return [port.shape for port in self.container.inputs]

    @property
    def output_shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of the ports of outputs."""
        return [port.shape for port in self.container.outputs]

    @staticmethod
    def takes(shapes: Sequence[tuple[int, ...]], ports: Sequence[tuple[int, ...]]) -> bool:
        """Report whether arrays of some shapes fit ports."""
        return list(shapes) == list(ports)

    def run(self, inputs: Sequence[PortValues]) -> list[Values]:
        """Compute outputs [N, H, W, C] from inputs, all i8, in the order of the ports.

        Raises CompileError for arrays that do not fit the ports, and for faults of the simulation.
        """
        state = self._new_state()
        state.share(self._constants, CONSTANTS)
        ports = self.container.inputs
        if len(inputs) != len(ports):
            raise CompileError(f"got {len(inputs)} inputs, must get {len(ports)}")
        try:
            for port, array in zip(ports, inputs, strict=True):
                state.write(port.extent, port.pack(array))
            self._report = simulate_packets(self.instructions, self._packets, state, self.seed)
            return [state.read(port.array_extent) for port in self.container.outputs]
        except Invalid as error:
            raise CompileError(str(error)) from None

    def report(self) -> Report:
        """Return the costs of the last run; an empty report before the first one."""
        return self._report

    def lint(self) -> list[Finding]:
        """Return the faults of the stream that are found without running it."""
        filled = ("constants", *(port.region for port in self.container.inputs))
        regions = self.container.regions
        return lint(self.instructions, self.container.code, regions, filled=filled)

    def faults(self) -> list[tuple[str, str]]:
        """Return where each fault of the stream is, with its nodes, and what it is."""
        nodes = self.container.nodes
        found: list[tuple[str, str]] = []
        for finding in self.lint():
            node = nodes[finding.packet] if finding.packet < len(nodes) else ""
            where = f"packet {finding.packet}{f' of {node}' * bool(node)}"
            found.append((where, f"{finding.kind}: {finding.message}"))
        return found

    def _new_state(self) -> SimulatorState:
        regions = {"constants": 0, **self.container.regions}
        try:
            return SimulatorState(self.instructions.description, regions)
        except (MemoryError, ValueError):
            sizes = ", ".join(f"{name} {size}" for name, size in regions.items())
            message = f"this computer has no memory for regions of so many bytes: {sizes}"
            raise CompileError(message) from None
