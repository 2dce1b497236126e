"""`KernelTable`: the lowerings of a target that generates kernels, each of one of three kinds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ...dialects.core.attributes import tensor_of
from ...dialects.core.op import Op
from ..element_types import ROWS, ElementTypes
from ..lowering_table import LoweringTable, Types

Function = TypeVar("Function", bound=Callable[..., Any])
Kind = Literal["elementwise", "indexed", "template"]


@dataclass(frozen=True)
class Lowering:
    """Hold the function that emits the code of an op, and the kind of that function.

    - `elementwise`: `f(op, *values) -> Value`; fuses into any kernel.
    - `indexed`: `f(op, *buffers)` returns, for each result, a `Buffer` that views the operand in
      the result's shape, or a function from the index along each dimension to a `Value`; the
      framework emits the loops or the grid.
    - `template`: `f(op, kernel, *buffers, *epilogues)` emits its own loops or its own grid, and
      passes its results to one `Epilogue` per result.
    """

    kind: Kind
    function: Callable[..., Any]


class KernelTable(LoweringTable):
    """Map op classes to a `Lowering` each, registered by the decorator of its kind.

    `moves` are the element types of indexed lowerings, which move elements as they are stored.
    """

    def __init__(
        self,
        name: str,
        types: ElementTypes | None = None,
        moves: ElementTypes | None = None,
        layout: str = ROWS,
    ) -> None:
        super().__init__(name, types, layout)
        self.moves = moves or types

    def elementwise(
        self, *classes: type[Op], types: Types = None
    ) -> Callable[[Function], Function]:
        """Register a lowering that computes one element from the elements at the same index."""
        return self._register("elementwise", classes, types)

    def indexed(self, *classes: type[Op], types: Types = None) -> Callable[[Function], Function]:
        """Register a lowering that maps the indices of a result to elements of the operands."""
        return self._register("indexed", classes, types or self.moves)

    def template(self, *classes: type[Op], types: Types = None) -> Callable[[Function], Function]:
        """Register a lowering that emits its own loops or its own grid."""
        return self._register("template", classes, types)

    def _register(
        self, kind: Kind, classes: tuple[type[Op], ...], types: Types
    ) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            self.lowers(*classes, types=types)(Lowering(kind, function))
            return function

        return register

    def lowering_of(self, op: Op) -> Lowering:
        """Return the lowering of an op that the target accepts."""
        lowering: Lowering = self.lowerings[type(op)]
        return lowering

    def is_elementwise(self, op: Op) -> bool:
        """Return whether the lowering of an op fuses into any kernel."""
        return self.lowering_of(op).kind == "elementwise"

    def kernel_refusal(self, work: Sequence[Op]) -> str | None:
        """Return why ops other than constants do not make one kernel, or None.

        A kernel has at most one op that is not elementwise, its anchor; ops behind the anchor have
        its shape.
        """
        if not work:
            return f"{self.name} takes no kernel that only returns constants"
        anchors = [op for op in work if not self.is_elementwise(op)]
        if not anchors:
            return None
        anchor, *others = anchors
        if others:
            return f"{self.name} takes only elementwise ops beside {anchor.op_name} in a kernel"
        shapes = {tensor_of(op.results[0].type).shape for op in work[work.index(anchor) :]}
        if len(shapes) > 1:
            return f"{self.name} takes only ops of one shape behind {anchor.op_name} in a kernel"
        return None
