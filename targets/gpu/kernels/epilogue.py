"""Sinks: where a kernel's results go, through the elementwise ops that follow in its group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape, Tensor
from ..registry import lowering_of
from .buffer import Argument, Buffer
from .builder import KernelBuilder
from .coordinates import Coordinates
from .spread import spread
from .value import Number, compute_dtype, full


@dataclass(frozen=True)
class Sink:
    """Take tiles of one op's result, in any order, finish them and store them.

    `value` is that result (None in a group of elementwise ops only); `epilogue` are the ops that
    follow, applied in registers; `leaves` are the buffers that they read besides, seen under
    `shape`; `outputs` are the values to store.
    """

    kernel: KernelBuilder
    shape: Shape
    value: ir.Value | None
    epilogue: Sequence[Op]
    constants: Mapping[ir.Value, tri.Constant]
    leaves: Mapping[ir.Value, Buffer]
    outputs: Mapping[ir.Value, Argument]

    @property
    def order(self) -> tuple[int, ...]:
        """Return the dims of the result from the outermost to the innermost one in memory."""
        strides = next(iter(self.outputs.values())).strides
        return tuple(sorted(range(len(self.shape)), key=lambda dim: -strides[dim]))

    def over(self, shape: Shape) -> "Sink":
        """Take tiles of the same result under a shape that splits dimensions, or adds some of 1."""
        leaves = {value: leaf.split(shape) for value, leaf in self.leaves.items()}
        outputs = {value: out.split(shape) for value, out in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def store(self, number: Number | None, at: Coordinates | Sequence[Number]) -> None:
        """Finish a tile and write the results; what is out of bounds is left out."""
        if not isinstance(at, Coordinates):
            at = Coordinates.of(self.shape, at)
        known: dict[ir.Value, Number] = {}
        if self.value is not None and number is not None:
            known[self.value] = number
        for value, leaf in self.leaves.items():
            known[value] = leaf.load(at)
        for value, op in self.constants.items():
            dtype = compute_dtype(tensor_of(op.y.type).dtype)
            known[value] = full(op.value.reshape(-1)[0].item(), dtype)
        for op in self.epilogue:
            numbers = [known[v] for v in op.operation.operands]
            known[op.results[0]] = lowering_of(op).function(op, *numbers)
        for value, out in self.outputs.items():
            out.store(known[value], at)

    def fill(
        self, read: Callable[[Coordinates], Number | None], sources: Sequence[Buffer] = ()
    ) -> None:
        """Compute every element on its own; `read` loads those of `sources` at its place."""
        if 0 in self.shape:
            return
        around = [*sources, *self.leaves.values(), *self.outputs.values()]
        at = spread(self.kernel, self.shape, self.order, around)
        self.store(read(at), at)

    def compute(self) -> None:
        """Compute every element by the epilogue alone."""
        self.fill(lambda at: None)

    @property
    def tensor(self) -> Tensor:
        """Return the type of the result that the sink takes."""
        assert self.value is not None, "a group of elementwise ops has no result to take"
        return tensor_of(self.value.type)
