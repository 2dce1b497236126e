"""The code of a model for accelerators: one container per program, and steps that run them."""

from collections.abc import Sequence

from ....dialects import dla
from ....dialects.core.location import node_names
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.dla.types import CONSTANTS, OUTPUTS
from ....runtime.dla.part import DESCRIPTION, DlaPart
from ....runtime.dla.step import DlaStep
from ...compiled import Buffers, CompiledPart
from ...program.calls import Call, NumberedCall
from ...program.program import Program
from ..core.packet import InstructionSet
from ..retry import SchedulingLog
from .emit_containers import entry_of, runs_of
from .measures import measure


class ProgramCode(CompiledPart):
    """The containers of a model by the names of their programs.

    Constants of a program are in its container, so that a call has only the other operands.
    """

    def __init__(
        self,
        module: Module,
        instructions: InstructionSet,
        log: SchedulingLog,
        bounds: Sequence[int],
    ) -> None:
        self.instructions = instructions
        self.sizes = module.sizes
        self.log = log
        runs = runs_of(module, self.name)
        self.programs = {run.program: dla.find_program(run.operation, run.program) for run in runs}
        self.containers = {name: module.artifacts[entry_of(name)] for name in self.programs}
        self.bounds = dict(zip(self.containers, bounds, strict=True))

    @property
    def name(self) -> str:
        """Return the name of the accelerator."""
        return self.instructions.description.name

    def call(self, op: Op) -> Call:
        assert isinstance(op, dla.Run)
        return Call(op, tuple(self._inputs(op)), tuple(op.results))

    def steps(self, calls: Sequence[NumberedCall], buffers: Buffers) -> list[DlaStep]:
        return [self._step(call, buffers) for _, call in calls]

    def entries(self) -> dict[str, bytes]:
        if not self.containers:
            return {}
        files = {entry_of(name): data for name, data in self.containers.items()}
        return {DESCRIPTION: self.instructions.description.source.encode(), **files}

    def part(self, program: Program) -> DlaPart | None:
        description = self.instructions.description
        found = (
            measure(program, description, entry_of(name), self.bounds[name])
            for name, program in self.programs.items()
        )
        part = DlaPart(tuple(found), tuple(map(str, self.log.failures)))
        return part if part.programs or part.attempts else None

    def _step(self, call: Call, buffers: Buffers) -> DlaStep:
        assert isinstance(call.op, dla.Run)
        return DlaStep(
            operands=tuple(buffers.number(value) for value in call.operands),
            results=tuple(buffers.number(value) for value in call.results),
            nodes=node_names(call.op.location),
            entry=entry_of(call.op.program),
            accelerator=self.name,
            sizes=self.sizes,
        )

    def _inputs(self, run: dla.Run) -> list[ir.Value]:
        """Return the operands of a call that are not constants of its program."""
        spaces = [buffer.space for _, buffer in self.programs[run.program].arguments]
        given = [space for space in spaces if space != OUTPUTS]
        pairs = zip(given, run.inputs, strict=True)
        return [value for space, value in pairs if space != CONSTANTS]
