"""`Accelerator`: what all targets have in common that a description and phases program."""

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import ClassVar

from ...dialects import dla, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import is_float
from ...dialects.dla.dialect import TensorOp
from ...passes.eliminate import Eliminate
from ...passes.pipeline import Step
from ..code import Code
from ..core import Progress, Target
from ..options import DEFAULT, F32, FLOATS, Options
from .core.description import Description
from .core.packet import InstructionSet
from .emit.measures import traffic_bounds
from .phases import CODE_EMIT, IR_OPTIMIZATION, MEM_ALLOC, TENSOR_SCHED, TENSOR_SEL, Phases
from .pipeline import default_phases
from .registry import choose_instructions
from .retry import ATTEMPTS
from .select.limits import tensor_refusal
from .select.record_refusals import is_unquantized, recorded_refusal
from .select.selection import Rules


class Accelerator(Target):
    """Run quantised networks as packets, which are tiled, ordered and placed in memory ahead.

    What it takes, and all numbers, come from its description: its own one, or that of a user, as in
    `vanilla:half.toml`. `rules` select what it has besides the ops of `dla`; they are asked before
    those that all accelerators share. A subclass may change `road`: what is done in which phase.
    TensorSel comes before a model is simplified, and once more after that, for what has become fit
    for it.
    """

    quantized: ClassVar[bool] = True
    fallbacks: ClassVar[tuple[str, ...]] = ("cpu", "host")
    brought_by: ClassVar[tuple[type[Op], ...]] = (
        *(tri.Quantize, tri.Dequantize, tri.StorageCast, tri.Cast),
    )
    replaces_groups = True

    def __init__(self, name: str, rules: Rules | None = None) -> None:
        super().__init__(name)
        self.file = ""
        self.rules = rules or {}

    @cached_property
    def instructions(self) -> InstructionSet:
        """Return the packets; raises CompileError with all faults of a user's description."""
        return choose_instructions(self.choice(DEFAULT))

    @property
    def description(self) -> Description:
        """Return the description that everything here goes by."""
        return self.instructions.description

    def pipeline(self) -> Phases:
        """Return the phases with their passes."""
        return default_phases(self.description, self.name, self.file)

    def chosen(self, architectures: tuple[str, ...]) -> "Accelerator":
        if not architectures:
            return self
        file, *others = architectures
        if others:
            listed = ", ".join(architectures)
            raise CompileError(f"'{self.name}' is described by one file, not by several: {listed}")
        found = copy(self)
        found.__dict__.pop("instructions", None)
        found.file = file
        return found

    def choice(self, options: Options) -> str:
        file = self.file or ",".join(options.architectures)
        return f"{self.name}:{file}" if file else self.name

    def check(self, options: Options) -> None:
        wrong = [
            ("tune", options.tune or options.tuning, "has no schedules that are measured"),
            ("precision", options.precision != F32, "computes on integers of 8 bits"),
            ("candidates", options.candidates, "has one setting for each kernel"),
            ("quantized", options.quantized != FLOATS, "computes on integers anyway"),
        ]
        for name, given, why in wrong:
            if given:
                raise CompileError(f"'{self.name}' {why}: leave out the option '{name}'")
        _ = self.chosen(options.architectures).instructions

    def phases(self) -> Sequence[tuple[str, Sequence[str]]]:
        return self.pipeline().names()

    def early_passes(self, options: Options = DEFAULT) -> tuple[Step, ...]:
        # Simplification folds factors into constants and weights, which then are no bytes.
        road = self.chosen(options.architectures).pipeline()
        return (Eliminate(), *road[TENSOR_SEL].made(ATTEMPTS[0]))

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Step, ...]:
        road = self.chosen(options.architectures).pipeline()
        chosen = (TENSOR_SEL, IR_OPTIMIZATION)
        return tuple(
            step
            for phase, steps in road.completed(ATTEMPTS[0])
            if phase.name in chosen
            for step in steps
        )

    def owns(self, op: Op) -> bool:
        return isinstance(op, dla.Run) and dla.find_program(op.operation, op.program).target == (
            self.name
        )

    def refusal(self, op: Op) -> str | None:
        if isinstance(op, TensorOp):
            return tensor_refusal(op, self.description)
        if isinstance(op, tri.Constant):
            return None
        if (reason := recorded_refusal(op)) is not None:
            return reason
        types = (tensor_of(value.type).dtype for value in (*op.operation.operands, *op.results))
        floats = [dtype for dtype in types if is_float(dtype)]
        if not floats:
            return f"{self.name} has no op for {op.op_name}"
        first = ": quantise the model first" if is_unquantized(op) else ""
        return f"{self.name} computes on integers, not on {floats[0]}{first}"

    def compile(self, module: Module, options: Options, progress: Progress) -> Code:
        from .emit.program_code import ProgramCode

        bound = self.chosen(options.architectures)
        description = bound.description
        bounds = traffic_bounds(module, self.name, description)
        log = bound.pipeline().run(module, progress, only=(TENSOR_SCHED, MEM_ALLOC, CODE_EMIT))
        return ProgramCode(module, bound.instructions, log, bounds)
