"""What epilogues of all targets share: the ops behind an anchor, and what they read and store."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape, Tensor
from .arithmetic import V, compute_dtype
from .kernel_table import KernelTable

Builder = TypeVar("Builder")
Leaf = TypeVar("Leaf")
Output = TypeVar("Output")


@dataclass(frozen=True)
class GroupEpilogue(Generic[Builder, Leaf, Output]):
    """Apply the elementwise ops that follow an anchor to its result, and store the results.

    `value` is that result (None in a group of elementwise ops only); `ops` are the ops that follow;
    `leaves` are the other buffers that they read, viewed under `shape`; `outputs` are the values to
    store.
    """

    kernel: Builder
    shape: Shape
    value: ir.Value | None
    ops: Sequence[Op]
    constants: Mapping[ir.Value, tri.Constant]
    leaves: Mapping[ir.Value, Leaf]
    outputs: Mapping[ir.Value, Output]

    @property
    def tensor(self) -> Tensor:
        """Return the type of the anchor's result."""
        assert self.value is not None, "a group of elementwise ops has no anchor"
        return tensor_of(self.value.type)

    def emit_ops(self) -> None:
        """Emit the loops or the grid of a group of elementwise ops only."""
        raise NotImplementedError

    def viewed(
        self, shape: Shape, leaf: Callable[[Leaf], Leaf], output: Callable[[Output], Output]
    ) -> Self:
        """View all buffers under another shape."""
        leaves = {value: leaf(buffer) for value, buffer in self.leaves.items()}
        outputs = {value: output(buffer) for value, buffer in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def computed(
        self,
        table: KernelTable,
        value: V | None,
        load: Callable[[Leaf], V],
        constant: Callable[[float, str], V],
    ) -> dict[ir.Value, V]:
        """Return all values of the epilogue, from the anchor's value at the same elements.

        `load` loads elements of a leaf, `constant` emits a constant of an element type.
        """
        known: dict[ir.Value, V] = {}
        if self.value is not None and value is not None:
            known[self.value] = value
        for result, leaf in self.leaves.items():
            known[result] = load(leaf)
        for result, op in self.constants.items():
            known[result] = constant(scalar_of(op), compute_dtype(tensor_of(op.y.type).dtype))
        evaluate_ops(table, self.ops, known)
        return known


def evaluate_ops(table: KernelTable, ops: Sequence[Op], known: dict[ir.Value, Any]) -> None:
    """Emit elementwise ops by their lowerings, and add their results to the known values."""
    for op in ops:
        operands = [known[v] for v in op.operation.operands]
        known[op.results[0]] = table.lowering_of(op).function(op, *operands)


def scalar_of(op: tri.Constant) -> float:
    """Return the number of a one-element constant."""
    number: float = op.value.reshape(-1)[0].item()
    return number
