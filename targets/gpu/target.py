"""The GPU target: what it accepts, and the three roads by which an op becomes a kernel."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.op import Op
from ...passes.core import Pass
from ...passes.decompose import Decompose, decomposition_rules
from ..core import Target
from ..options import DEFAULT, Options
from .multiply_bytes import MultiplyBytes


class GpuTarget(Target):
    """Run kernels of fused ops as Triton kernels."""

    def passes(self, opt_level: int, options: Options = DEFAULT) -> tuple[Pass, ...]:
        lacking = [c for c in decomposition_rules() if c not in self.lowerings]
        names = tuple(c.op_name.partition(".")[2] for c in lacking)
        decompose = (Decompose(names),) if names else ()
        return (*decompose, *([MultiplyBytes()] if opt_level else []))

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
        shape = tensor_of(anchor.results[0].type).shape
        behind = work[work.index(anchor) + 1 :]
        if any(tensor_of(op.results[0].type).shape != shape for op in behind):
            return f"{self.name} takes only ops of one shape behind {anchor.op_name} in a kernel"
        return None


GPU = GpuTarget("gpu")

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Lowering:
    """How one op becomes a kernel: the road it takes and the function that knows the way.

    - `elementwise`: `f(op, *numbers) -> Number`; fuses into any kernel.
    - `indexed`: `f(op, *buffers)` returns, for each result, a function from the index along each
      dimension to a `Number`; the framework makes the grid.
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
