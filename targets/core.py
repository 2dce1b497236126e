"""`Target`: where ops run. It says what it accepts and how each op is lowered."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import ClassVar

from ..dialects import tri
from ..dialects.core.errors import CompileError, Undecided
from ..dialects.core.module import Module
from ..dialects.core.op import Op
from ..passes.pipeline import Instrumentation, Step
from .choices import TF32
from .compiled import CompiledPart
from .costs.roofline import Roofline
from .element_types import COMPUTES
from .emitter import Emitter
from .lowering_table import LoweringTable
from .memory.space import PROCESS_MEMORY, MemorySpace
from .options import DEFAULT, CompileOptions

Progress = Callable[[str], None]
"""What hears of each stage of a compilation and of each kernel that is compiled."""

SPELLED_NODES = 4
"""How many nodes of a kernel a line of progress names."""


def kernel_progress(number: int, total: int, nodes: Sequence[str]) -> str:
    """Return the line of progress for a kernel: `kernel 3 of 33: conv1 + relu1`."""
    names = list(nodes[:SPELLED_NODES])
    if more := len(nodes) - len(names):
        names.append(f"{more} more")
    return f"kernel {number} of {total}: {' + '.join(names)}".removesuffix(": ")


MOST_VALUES = 256
"""The most operands and results of an op in a kernel: its code grows with their number."""


class TargetInstrumentation(Instrumentation):
    """Base of instrumentations by which a target measures or records what its passes choose.

    `ran` says whether there was anything to do.
    """

    ran = False

    def entries(self) -> Mapping[str, bytes]:
        """Return what is to be in the package, after the passes have run."""
        return {}


class Target(LoweringTable):
    """Collect the lowerings and the limits of one place where ops can run.

    Its kernels read and write `memory`; what another memory holds is copied before.

    Both register by decorator on the target's own object, so that two targets live side by side
    and a test can make a third:

        @CPU.lowers(tri.Exp)
        def lower_exp(op, x): ...

        @CPU.accepts(tri.Conv)
        def at_most_three_spatial_dims(op):
            "convolves over at most 3 spatial dimensions"
            return len(op.strides) <= 3

    With `table`, the lowerings and limits are those that modules have registered there. Lowerings
    take what ops compute with, unless `lowers` declares other element types. `quantized`
    says that ops on quantised numbers come as they are; other targets get them as arithmetic.
    `legalizes` says that `passes` of level 0 rewrite ops that it refuses into ops that it accepts.
    `is_last_resort` says that it gets only what no other target runs, even in part. `roofline` has
    the rates by which `seconds` estimates ops.

    `prepares` says that what depends on constants alone is computed when a package is loaded; for
    other targets, it is a constant of the package, unless that is more than a few times as large as
    what it is computed from. `fallbacks` are the targets that are asked, in order, to take what
    this one refuses, unless the user lists targets. `boundary_ops` convert values for the target,
    or its results for others: a node that is nothing else need not run here. `takes_symbols` says
    that it compiles models whose sizes change from run to run, `takes_found_sizes` that others may
    be found in the middle of one. It multiplies elements of `narrow_factors` as they are stored.
    """

    quantized: ClassVar[bool] = False
    prepares: ClassVar[bool] = False
    legalizes: ClassVar[bool] = True
    is_last_resort: ClassVar[bool] = False
    takes_symbols: ClassVar[bool] = False
    takes_found_sizes: ClassVar[bool] = False
    narrow_factors: ClassVar[tuple[str, ...]] = ()
    fallbacks: ClassVar[tuple[str, ...]] = ("host",)
    boundary_ops: ClassVar[tuple[type[Op], ...]] = ()

    roofline: Roofline = Roofline(50e9, 10e9, 1e-6)

    kept_entries: tuple[str, ...] = ()
    """What of a package stays when it is compiled again."""

    emitters: ClassVar[tuple[Emitter, ...]] = ()
    """The forms other than IR in which `trivium-opt --emit` prints kernels."""

    replaces_groups = False
    """Whether `compile` puts what groups are lowered to in their place."""

    def __init__(
        self,
        name: str,
        memory: MemorySpace = PROCESS_MEMORY,
        table: LoweringTable | None = None,
    ) -> None:
        super().__init__(name, COMPUTES if table is None else table.types)
        self.memory = memory
        if table is not None:
            self.lowerings, self.limits = table.lowerings, table.limits
            self.declared = table.declared

    def early_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        """Return the passes on the imported model, before it is simplified."""
        return ()

    def selection_passes(
        self, opt_level: int, options: CompileOptions = DEFAULT
    ) -> tuple[Step, ...]:
        """Return the passes on the whole model that select ops for this target, before placement.

        They run for the targets at the head of a list up to the first one without such passes.
        """
        return ()

    def passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        """Return the passes on the parts of a model that are for this target."""
        return ()

    def placed_passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        """Return the passes on a placed model, with copies between memory spaces."""
        return ()

    def code_passes(self, options: CompileOptions = DEFAULT) -> tuple[Step, ...]:
        """Return the passes that `compile` runs, for instrumentations that name passes."""
        return ()

    def phases(self) -> Sequence[tuple[str, Sequence[str]]]:
        """List the phases that ops placed here go through, each with the names of its passes."""
        return ()

    def shared_entries(
        self, programs: Sequence[Mapping[str, bytes | bytearray | memoryview]]
    ) -> Mapping[str, bytes]:
        """Return entries that are for all programs of a package, given those of each program.

        They replace the entries of the same names.
        """
        return {}

    def check(self, options: CompileOptions) -> None:
        """Raise CompileError for what a user may ask of other targets, but not of this one."""
        if options.candidates:
            raise CompileError(
                f"candidates are settings of kernels for a GPU, '{self.name}' has none: "
                "schedules for a CPU are measured as a model is compiled (--tune)"
            )
        if options.precision == TF32:
            raise CompileError(
                f"precision is '{TF32}', which '{self.name}' does not compute in: "
                "take f32, fp16 or bf16, or a GPU"
            )

    def configured(self, variants: tuple[str, ...]) -> "Target":
        """Return the target as a user names it behind the colon, as in `gpu:sm_80+sm_90`."""
        if variants:
            raise CompileError(
                f"target '{self.name}:{'+'.join(variants)}' names architectures, '{self.name}' has "
                "none: say which CPUs code is for by machine (--machine)"
            )
        return self

    @property
    def choice(self) -> str:
        """Return the text by which a user, or a pass, chooses the target as it is configured."""
        return self.name

    def seconds(self, op: Op) -> float:
        """Estimate how long an op takes as a kernel of its own, for cost-based placement."""
        return self.roofline.seconds(op)

    def instrumentation(self, options: CompileOptions) -> TargetInstrumentation | None:
        """Return an instrumentation of the passes that prepare kernels, or None."""
        return None

    def owns(self, op: Op) -> bool:
        """Return whether an op of the model's function runs here."""
        return isinstance(op, tri.Group) and op.target == self.name

    def compiling(self, options: CompileOptions) -> AbstractContextManager[None]:
        """Return a context that is open from the first pass of a model to its code.

        `size_refusal` may keep there what `compile` needs.
        """
        return nullcontext()

    def compile(self, module: Module, options: CompileOptions) -> CompiledPart:
        """Generate code for the ops that run here; report each new kernel to `options`.

        `options.hooks` have begun, and see the passes that run. Raises CompileError.
        """
        raise NotImplementedError

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        """Return why ops that the target takes one by one do not make one kernel, or None."""
        return None

    def size_refusal(self, members: Sequence[Op]) -> str | None:
        """Return why the target has no kernel of ops for all sizes of their symbols, or None.

        Ops are asked about in the form that the passes of the target give them.
        """
        return None

    def refusal(self, op: Op) -> str | None:
        """Return why the target does not take an op, or None when it does."""
        if type(op) not in self.lowerings:
            return f"{self.name} has no kernel for {op.op_name}"
        if len(op.operation.operands) + len(op.results) > MOST_VALUES:
            return f"{self.name} takes ops of at most {MOST_VALUES} operands and results"
        if fault := self.undeclared_type(op):
            return f"{self.name} {fault}"
        try:
            broken = self.broken_limit(op)
        except Undecided as reason:
            broken = f"does not take {op.op_name} for all sizes: it {reason}"
        return None if broken is None else f"{self.name} {broken}"
