"""The GPU target: what it accepts, and the three roads by which an op becomes a kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

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
from .architecture import TARGET, Architecture, find_architectures
from .choose_orders import ChooseOrders
from .multiply_bytes import MultiplyBytes
from .print_kernel import TRITON
from .tuning_file import check_file


class GpuTarget(Target):
    """Run kernels of fused ops as Triton kernels."""

    replaces_groups = True
    emitters = (TRITON,)

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        from .decompose_refused import DecomposeRefused  # it asks this target what it takes

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
        from .code import compile_for_gpu  # lowerings register with this target

        return compile_for_gpu(module, _architectures(options), options, progress)

    def placed_passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        from .fuse_prologues import FusePrologues  # it asks this target how ops are lowered

        return (InsertCopies(), *([FusePrologues(), ChooseOrders()] if opt_level else []))

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        work = [op for op in members if not isinstance(op, tri.Constant)]
        if not work:
            return f"{self.name} takes no kernel that only returns constants"
        roads = [lowering_of(op).road for op in work]
        anchors = [op for op, road in zip(work, roads, strict=True) if road != "elementwise"]
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
    """Return the architectures that code is made for; CompileError for those there is none for."""
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
    """Look into a tuning file before any work is done; its settings are taken much later.

    Raises CompileError for one that is malformed, or for none of the architectures.
    """

    ran = True

    def __init__(self, options: Options) -> None:
        from .tuning_file import check_file

        check_file(options.tuning, [each.name for each in _architectures(options)])


GPU = GpuTarget("gpu", DEVICE_MEMORY)

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Lowering:
    """How one op becomes a kernel: the road it takes and the function that knows the way.

    - `elementwise`: `f(op, *numbers) -> Number`; fuses into any kernel.
    - `indexed`: `f(op, *buffers)` returns, for each result, a `Buffer` that shows the elements in
      the result's shape, or a function from the index along each dimension to a `Number`; the
      framework makes the grid.
    - `template`: `f(op, kernel, *buffers, *sinks)` makes its own grid and hands tiles of its
      results to one `Sink` per result.
    """

    road: str
    function: Callable[..., Any]


def _road(road: str, classes: tuple[type[Op], ...]) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        GPU.lowers(*classes)(Lowering(road, function))
        return function

    return register


def elementwise(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that computes one element from the elements at its place."""
    return _road("elementwise", classes)


def indexed(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that says where an element comes from."""
    return _road("indexed", classes)


def template(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that makes its own grid."""
    return _road("template", classes)


def lowering_of(op: Op) -> Lowering:
    """Return the lowering of an op that the target accepts."""
    return GPU.lowerings[type(op)]
