"""The GPU target: its passes, its options, and which ops may share a kernel."""

from collections.abc import Sequence
from copy import copy

from ...dialects import tile, tri
from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.tile.types import FLOAT8
from ...passes.core import Pass
from ...passes.decompose import Decompose, decomposition_rules
from ...runtime.errors import RunError
from ...runtime.gpu.array import SPACE
from ...runtime.gpu.device import Device
from ..compiled import CompiledPart
from ..core import Target, TargetInstrumentation
from ..costs.roofline import Roofline
from ..memory.space import CopyCost, MemorySpace
from ..options import DEFAULT, CompileOptions
from . import lower as lower  # registers the lowerings
from .decompose_refused import DecomposeRefused
from .emit.compile_kernels import KERNEL_PASSES
from .emit.package import compile_for_gpu, lower_to_tile
from .emit.print_kernel import TRITON
from .emit.undecided import TRIAL
from .fuse_prologues import FusePrologues
from .layout.choose_dim_orders import ChooseDimOrders
from .multiply_bytes import MultiplyBytes
from .multiply_float8 import MultiplyFloat8
from .registry import TABLE
from .schedule.architecture import TARGET, Architecture, find_architectures
from .schedule.tuning_file import check_file

START = 5e-6
"""Seconds that starting a kernel takes, in a graph."""


class GpuTarget(Target):
    """Run kernels of fused ops as Triton kernels."""

    replaces_groups = True
    takes_symbols = True
    takes_found_sizes = True
    narrow_factors = FLOAT8
    fallbacks = ("cpu", "host")
    architectures: tuple[str, ...] = ()
    emitters = (TRITON,)

    def configured(self, variants: tuple[str, ...]) -> "GpuTarget":
        if not variants:
            return self
        find_architectures(f"{TARGET}:{'+'.join(variants)}")
        found = copy(self)
        found.architectures = variants
        return found

    @property
    def choice(self) -> str:
        listed = "+".join(self.architectures)
        return f"{self.name}:{listed}" if listed else self.name

    def passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        decompose = (*([Decompose(names)] if names else []), DecomposeRefused())
        if not opt_level:
            return decompose
        reordered = () if options.strict_math else (MultiplyFloat8(),)
        return (*decompose, MultiplyBytes(), *reordered)

    def check(self, options: CompileOptions) -> None:
        if options.tune:
            raise CompileError(
                "option tune measures schedules of the CPU, must not be set for a GPU: "
                "measure kernels of a GPU by the command tune and pass its file as tuning"
            )
        if self.architectures:
            _architectures(self.architectures)
            check_file(options.tuning, self.architectures)

    def instrumentation(self, options: CompileOptions) -> TargetInstrumentation | None:
        return CheckTuning(options, self.architectures) if options.tuning else None

    def owns(self, op: Op) -> bool:
        return isinstance(op, tile.Launch)

    def compile(self, module: Module, options: CompileOptions) -> CompiledPart:
        architectures = _architectures(self.architectures)
        return compile_for_gpu(module, architectures, options)

    def code_passes(self, options: CompileOptions = DEFAULT) -> tuple[Pass, ...]:
        return (lower_to_tile(options), *KERNEL_PASSES)

    def placed_passes(self, opt_level: int, options: CompileOptions = DEFAULT) -> tuple[Pass, ...]:
        return (FusePrologues(), ChooseDimOrders()) if opt_level else ()

    def seconds(self, op: Op) -> float:
        """Estimate how long an op takes on a usual GPU of the first architecture, or of any."""
        names = self.architectures or ("sm_80",)
        first, *_ = find_architectures(f"{TARGET}:{'+'.join(names)}")
        clocks = first.multiprocessors * first.gigahertz * 1e9
        return Roofline(clocks * first.lanes * 2, first.memory_rate * 1e9, START).seconds(op)

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        work = [op for op in members if not isinstance(op, tri.Constant)]
        several = next((op for op in work[:-1] if len(op.results) != 1), None)
        if several is not None:
            return f"{self.name} takes no ops behind {several.op_name} in a kernel"
        if any(map(_narrows, work[:-1])):
            return f"{self.name} stores floats of 8 bits, so that products read them as they are"
        return TABLE.kernel_refusal(work)

    def size_refusal(self, members: Sequence[Op]) -> str | None:
        return TRIAL.refusal(members)


def _narrows(op: Op) -> bool:
    return isinstance(op, tri.Cast) and op.to in FLOAT8


def _architectures(chosen: tuple[str, ...]) -> tuple[Architecture, ...]:
    """Return the architectures to compile for; raise CompileError for unsupported ones."""
    names = chosen or (_architecture_here(),)
    found = find_architectures(f"{TARGET}:{'+'.join(names)}")
    for architecture in found:
        if architecture.backend != "cuda":
            raise CompileError(
                f"target is '{TARGET}:{architecture.name}', must be an architecture of NVIDIA: "
                "packages run on no other GPUs"
            )
    return found


def _architecture_here() -> str:
    try:
        return Device.open().architecture
    except RunError as error:
        raise CompileError(
            f"target '{TARGET}' is for the GPU of this machine, but {error}: "
            f"name an architecture, as in '{TARGET}:sm_90'"
        ) from None


class CheckTuning(TargetInstrumentation):
    """Check a tuning file before the passes run; code generation reads its settings.

    Raises CompileError for one that is malformed, or for none of the architectures.
    """

    ran = True

    def __init__(self, options: CompileOptions, architectures: tuple[str, ...]) -> None:
        check_file(options.tuning, [each.name for each in _architectures(architectures)])


GPU = GpuTarget("gpu", MemorySpace(SPACE, 256, CopyCost(20e-6, 20e9)), TABLE)
