"""The CPU target: what it accepts, and the three roads by which an op becomes code."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape
from ...passes.core import Pass
from ...passes.decompose import Decompose, decomposition_rules
from ...passes.eliminate import Eliminate
from ...passes.pipeline import Instrumentation
from ..code import Code
from ..core import Progress, Target, Watch
from ..options import DEFAULT, Options
from ..tuning_file import PACKAGED
from .apply_tuning import ApplyTuning
from .choose_dot_products import ChooseDotProducts
from .choose_layouts import ChooseLayouts
from .choose_winograd import ChooseWinograd
from .pack_recurrent import PackRecurrent
from .pack_weights import PackWeights
from .split_conv_transpose import SplitConvTranspose


class CpuTarget(Target):
    """Run kernels of fused ops as native code of a machine."""

    prepares = True
    kept_entries = (PACKAGED,)

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        decompose: tuple[Pass, ...] = (Decompose(names),) if names else ()
        if not opt_level:
            return decompose
        error = options.layer_error
        file = options.tuning_file
        machine = options.machines[0].name
        tuned = (ApplyTuning(file, error, machine),) if file else ()
        return (
            *decompose,
            SplitConvTranspose(machine),
            ChooseDotProducts(not options.strict, machine),
            ChooseLayouts(error, machine),
            PackRecurrent(machine),
            *tuned,
            ChooseWinograd(error, machine),
            PackWeights(machine, not options.strict),
            Eliminate(),
        )

    def watch(self, options: Options, progress: Progress) -> Watch | None:
        if not options.tuning_file:
            return None
        from .tune import Tuner  # it measures kernels, whose lowerings register with this target

        return Tuner(options, options.machines[0], progress)

    def compile(
        self,
        module: Module,
        options: Options,
        progress: Progress,
        hooks: Sequence[Instrumentation] = (),
    ) -> Code:
        from .code import compile_native  # lowerings register with this target

        return compile_native(module, options, progress)

    def kernel_refusal(self, members: Sequence[Op]) -> str | None:
        work = [op for op in members if not isinstance(op, tri.Constant)]
        if not work:
            return f"{self.name} takes no kernel that only returns constants"
        first, *rest = work
        if first.frames and isinstance(rest[-1] if rest else None, tri.Pad):
            rest = rest[:-1]
        if any(lowering_of(op).road != "elementwise" for op in rest):
            return f"{self.name} takes only elementwise ops behind the first one of a kernel"
        # What the first one makes is finished in place; elementwise ops alone may broadcast.
        fixed = lowering_of(first).road != "elementwise"
        if fixed and any(_shape(op) != _shape(first) for op in rest):
            return f"{self.name} takes only ops of one shape behind {first.op_name} in a kernel"
        return None


def _shape(op: Op) -> Shape:
    return tensor_of(op.results[0].type).shape


CPU = CpuTarget("cpu")

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Lowering:
    """How one op becomes code: the road it takes and the function that knows the way.

    - `elementwise`: `f(op, *numbers) -> Number`; fuses into any kernel, scalar or vector.
    - `indexed`: `f(op, *buffers)` returns, for each result, a `Buffer` that views the operand or
      a function from indices to a `Number`; the framework writes the loops.
    - `template`: `f(op, kernel, *buffers, *sinks)` writes its own loops and hands its results to
      one `Sink` per result.
    """

    road: str
    function: Callable[..., Any]


def _road(road: str, classes: tuple[type[Op], ...]) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        CPU.lowers(*classes)(Lowering(road, function))
        return function

    return register


def elementwise(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that computes one element from the elements at its place."""
    return _road("elementwise", classes)


def indexed(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that says where an element comes from."""
    return _road("indexed", classes)


def template(*classes: type[Op]) -> Callable[[Function], Function]:
    """Register a lowering that writes its own loops."""
    return _road("template", classes)


def lowering_of(op: Op) -> Lowering:
    """Return the lowering of an op that the target accepts."""
    return CPU.lowerings[type(op)]
