"""`PhasedTarget` and `Accelerator`: the bases of targets that phases program."""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import ClassVar

from ...dialects import dla, tri
from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.dla.dialect import TensorOp
from ...passes.pipeline import Step
from ..choices import F32, FLOATS, HALVES
from ..compiled import CompiledPart
from ..core import Target
from ..costs.roofline import Roofline
from ..options import DEFAULT, CompileOptions
from .core.container import load_all, save
from .core.description import Description
from .core.merge import merged
from .core.packet import InstructionSet
from .emit.emit_containers import is_container
from .emit.measures import traffic_bounds
from .emit.program_code import ProgramCode
from .phases import CODE_EMIT, IR_OPTIMIZATION, MEM_ALLOC, TENSOR_SCHED, TENSOR_SEL, Phases
from .pipeline import default_phases
from .registry import Configuration
from .select.limits import tensor_refusal
from .select.select_dla import first_float
from .select.selection import Rules

COMPILED = (TENSOR_SCHED, MEM_ALLOC, CODE_EMIT)
"""The phases after placement."""


class PhasedTarget(Target):
    """Run quantised networks on an accelerator that is programmed in phases.

    TensorSel comes before the model is simplified, IrOptimization after it, and the other phases
    after placement. A subclass has `pipeline`, the passes of each phase.
    """

    quantized: ClassVar[bool] = True
    fallbacks: ClassVar[tuple[str, ...]] = ("cpu", "host")
    boundary_ops: ClassVar[tuple[type[Op], ...]] = (
        *(tri.Quantize, tri.Dequantize, tri.StorageCast, tri.Cast),
    )
    replaces_groups = True
    legalizes = False
    roofline = Roofline(1e12, 20e9, 5e-6)

    def pipeline(self) -> Phases:
        """Return the phases with their passes."""
        raise NotImplementedError

    def op_refusal(self, op: TensorOp) -> str | None:
        """Return why an op on images does not fit the accelerator, or None."""
        raise NotImplementedError

    @property
    def precisions(self) -> tuple[str, ...]:
        """Return the precisions that a user may ask for; f32 is that of a quantised model."""
        return (F32,)

    def needs_precision(self) -> str:
        """Return why another precision is refused."""
        return "computes on integers of 8 bits"

    def check(self, options: CompileOptions) -> None:
        wrong = [
            ("tune", options.tune or options.tuning, "has no schedules that are measured"),
            ("precision", options.precision not in self.precisions, self.needs_precision()),
            ("candidates", options.candidates, "has one setting for each kernel"),
            ("quantized", options.quantized != FLOATS, "computes on integers anyway"),
        ]
        for name, given, why in wrong:
            if given:
                raise CompileError(f"'{self.name}' {why}: leave out the option '{name}'")

    def phases(self) -> Sequence[tuple[str, Sequence[str]]]:
        return self.pipeline().names()

    def early_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        # Simplification folds factors into constants and weights, which then are no bytes.
        return self._steps(TENSOR_SEL)

    def selection_passes(
        self, opt_level: int, options: CompileOptions = DEFAULT
    ) -> tuple[Step, ...]:
        return self._steps(IR_OPTIMIZATION)

    def code_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        return self._steps(*COMPILED)

    def _steps(self, *phases: str) -> tuple[Step, ...]:
        return self.pipeline().steps(*phases)

    def refusal(self, op: Op) -> str | None:
        if isinstance(op, TensorOp):
            return self.op_refusal(op)
        if isinstance(op, tri.Constant):
            return None
        dtype = first_float(op)
        floats = [HALVES[each] for each in self.precisions if each in HALVES]
        if dtype and dtype not in floats:
            return f"{self.name} computes on {' and '.join(['integers', *floats])}, not on {dtype}"
        return f"{self.name} has no op for {op.op_name}"


class Accelerator(PhasedTarget):
    """Run quantised networks as packets, with tiles, order and addresses fixed at compile time.

    All limits and costs come from a description: the accelerator's own one, or that of a user, as
    in `vanilla:half.toml`. `rules` select ops beside those of `dla`, before the shared rules. A
    subclass may override `pipeline`.
    """

    def __init__(self, name: str, rules: Rules | None = None) -> None:
        super().__init__(name)
        self.configuration = Configuration(name)
        self.rules = rules or {}

    @property
    def instructions(self) -> InstructionSet:
        """Return the packets; raises CompileError with all faults of a user's description."""
        return self.configuration.instructions

    @property
    def description(self) -> Description:
        """Return the description; raises as `instructions`."""
        return self.configuration.description

    def pipeline(self) -> Phases:
        return default_phases(self.configuration)

    def configured(self, variants: tuple[str, ...]) -> "Accelerator":
        if not variants:
            return self
        file, *others = variants
        if others:
            listed = ", ".join(variants)
            raise CompileError(f"'{self.name}' is described by one file, not by several: {listed}")
        found = copy(self)
        found.configuration = Configuration(self.name, file)
        return found

    @property
    def choice(self) -> str:
        return str(self.configuration)

    def check(self, options: CompileOptions) -> None:
        super().check(options)
        _ = self.instructions

    def owns(self, op: Op) -> bool:
        return isinstance(op, dla.Run) and dla.find_program(op.operation, op.program).target == (
            self.name
        )

    def op_refusal(self, op: TensorOp) -> str | None:
        return tensor_refusal(op, self.description)

    def shared_entries(
        self, programs: Sequence[Mapping[str, bytes | bytearray | memoryview]]
    ) -> Mapping[str, bytes]:
        """Return containers with the programs of all: each constant is stored once."""
        shared: dict[str, bytes] = {}
        for name in dict.fromkeys(name for each in programs for name in each):
            if is_container(name, self.name):
                files = [bytes(each[name]) for each in programs if name in each]
                loaded = [p for file in files for p in load_all(self.instructions, file, name)]
                shared[name] = save(self.description, *merged(self.instructions, loaded))
        return shared

    def compile(self, module: Module, options: CompileOptions) -> CompiledPart:
        bounds = traffic_bounds(module, self.name, self.description)
        log = self.pipeline().run(module, options.report, *options.hooks, only=COMPILED)
        return ProgramCode(module, self.instructions, log, bounds)
