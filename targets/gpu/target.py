"""The GPU target: its passes, its options, and which ops may share a kernel."""

from collections.abc import Sequence

from ...dialects import tile, tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.errors import CompileError
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...passes.core import Pass
from ...passes.decompose import Decompose, decomposition_rules
from ...runtime.errors import RunError
from ...runtime.gpu.device import Device
from ..code import Code
from ..core import DEVICE_MEMORY, Progress, Target, Watch
from ..insert_copies import InsertCopies
from ..options import DEFAULT, Options
from . import lower as lower  # registers the lowerings
from .decompose_refused import DecomposeRefused
from .emit.package import compile_for_gpu
from .emit.print_kernel import TRITON
from .fuse_prologues import FusePrologues
from .layout.choose_dim_orders import ChooseDimOrders
from .multiply_bytes import MultiplyBytes
from .registry import TABLE, is_elementwise
from .schedule.architecture import TARGET, Architecture, find_architectures
from .schedule.tuning_file import check_file


class GpuTarget(Target):
    """Run kernels of fused ops as Triton kernels."""

    replaces_groups = True
    emitters = (TRITON,)

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        decompose = (*([Decompose(names)] if names else []), DecomposeRefused())
        return (*decompose, *([MultiplyBytes()] if opt_level else []))

    def check(self, options: Options) -> None:
        if options.tune:
            raise CompileError(
                "tune measures schedules for this CPU: measure kernels for a GPU by the command "
                "tune, and give its file as tuning"
            )
        if options.architectures:
            _architectures(options)
            check_file(options.tuning, options.architectures)

    def watch(self, options: Options, progress: Progress) -> Watch | None:
        return TuningWatch(options) if options.tuning else None

    def owns(self, op: Op) -> bool:
        return isinstance(op, tile.Launch)

    def compile(self, module: Module, options: Options, progress: Progress) -> Code:
        return compile_for_gpu(module, _architectures(options), options, progress)

    def placed_passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        return (InsertCopies(), *([FusePrologues(), ChooseDimOrders()] if opt_level else []))

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        work = [op for op in members if not isinstance(op, tri.Constant)]
        if not work:
            return f"{self.name} takes no kernel that only returns constants"
        anchors = [op for op in work if not is_elementwise(op)]
        if not anchors:
            return None
        anchor, *others = anchors
        if others:
            return f"{self.name} takes only elementwise ops beside {anchor.op_name} in a kernel"
        behind = work[work.index(anchor) + 1 :]
        if behind and len(anchor.results) != 1:
            return f"{self.name} takes no ops behind {anchor.op_name} in a kernel"
        shape = tensor_of(anchor.results[0].type).shape
        if any(tensor_of(op.results[0].type).shape != shape for op in behind):
            return f"{self.name} takes only ops of one shape behind {anchor.op_name} in a kernel"
        return None


def _architectures(options: Options) -> tuple[Architecture, ...]:
    """Return the architectures to compile for; raise CompileError for unsupported ones."""
    names = options.architectures or (_architecture_here(),)
    found = find_architectures(f"{TARGET}:{','.join(names)}")
    for architecture in found:
        if architecture.backend != "cuda":
            raise CompileError(
                f"code for '{architecture.name}' would be of no use: packages run on NVIDIA's GPUs"
            )
    return found


def _architecture_here() -> str:
    try:
        return Device.open().architecture
    except RunError as error:
        raise CompileError(
            f"target '{TARGET}' is for the GPU of this machine, but {error}: "
            f"say which one to compile for, as in '{TARGET}:sm_90'"
        ) from None


class TuningWatch(Watch):
    """Check a tuning file before the passes run; code generation reads its settings.

    Raises CompileError for one that is malformed, or for none of the architectures.
    """

    ran = True

    def __init__(self, options: Options) -> None:
        check_file(options.tuning, [each.name for each in _architectures(options)])


GPU = GpuTarget("gpu", DEVICE_MEMORY, TABLE)
