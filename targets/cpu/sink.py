"""Sinks: where a kernel's results go, through the elementwise ops that follow in its group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape
from .buffer import Buffer, Lanes, tail_mask
from .index import Index, for_each, nest
from .kernel import KernelBuilder
from .number import Number, compute_dtype, constant_of, element_type
from .strides import collapsed_shape
from .target import lowering_of

Reader = Callable[[list[Index]], Number]


@dataclass(frozen=True)
class Sink:
    """Take the elements of one op's result, in any order, finish them and store them.

    `value` is that result (None in a group of elementwise ops only); `epilogue` are the ops that
    follow, applied in registers; `leaves` are the buffers that they read besides, seen under
    `shape`; `outputs` are the values to store. A template may work on a shape of its own choice
    (`over`) that holds the same elements in the same row-major order.
    """

    kernel: KernelBuilder
    shape: Shape
    value: ir.Value | None
    epilogue: Sequence[Op]
    constants: Mapping[ir.Value, tri.Constant]
    leaves: Mapping[ir.Value, Buffer]
    outputs: Mapping[ir.Value, Buffer]

    def over(self, shape: Shape) -> "Sink":
        """View the elements under another shape: indices and lanes then refer to that one."""
        leaves = {v: self.kernel.reshaped(leaf, shape) for v, leaf in self.leaves.items()}
        outputs = {v: out.reshape(shape) for v, out in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def collapsed(self, *others: Buffer) -> Shape:
        """Return the shape with as few dimensions as the leaves and other buffers allow."""
        return collapsed_shape(self.shape, [b.strides for b in [*self.leaves.values(), *others]])

    @property
    def dtypes(self) -> list[str]:
        """All element types that the epilogue computes with."""
        made = [v for op in self.epilogue for v in op.results]
        return [tensor_of(v.type).dtype for v in [*self.leaves, *self.outputs, *made]]

    def store(
        self, number: Number | None, indices: Sequence[Index], lanes: Lanes | None = None
    ) -> None:
        """Finish one element, or neighbours along the last dimension, and write the results."""
        known: dict[ir.Value, Number] = {}
        if self.value is not None and number is not None:
            known[self.value] = number
        for value, leaf in self.leaves.items():
            known[value] = leaf.load(indices, lanes)
        for value, op in self.constants.items():
            known[value] = _splat(op, lanes)
        for op in self.epilogue:
            numbers = [known[v] for v in op.operation.operands]
            known[op.results[0]] = lowering_of(op).function(op, *numbers)
        for value, out in self.outputs.items():
            out.store(known[value], indices, lanes)

    def fill(self, read: Reader) -> None:
        """Compute every element on its own, in order."""
        nest(self.shape, lambda i: self.store(read(i), i))

    def copy(self, source: Buffer) -> None:
        """Take every element from a buffer of the same shape, with vectors."""
        shape = self.collapsed(source)
        view = source.restride(shape)
        assert view is not None, "collapsed() respects the strides of the source"
        sink = self.over(shape)
        width = self.kernel.lanes(source.dtype, *self.dtypes)
        each_vector(shape, width, lambda i, lanes: sink.store(view.load(i, lanes), i, lanes))

    def compute(self) -> None:
        """Compute every element by the epilogue alone, with vectors."""
        shape = self.collapsed()
        sink = self.over(shape)
        width = self.kernel.lanes(*self.dtypes)
        each_vector(shape, width, lambda i, lanes: sink.store(None, i, lanes))


def each_vector(
    shape: Shape, width: int, body: Callable[[list[Index], Lanes | None], None]
) -> None:
    """Emit a loop nest that takes `width` elements at a time along the last dimension.

    What is left of a row is done with a mask; rows shorter than a vector only so.
    """
    if not shape or width == 1:
        nest(shape, lambda i: body(i, None))
        return
    length = shape[-1]
    full = length - length % width

    def row(outer: list[Index]) -> None:
        if full:
            for_each(full, lambda i: body([*outer, i], Lanes(width)), step=width)
        if length > full:
            body([*outer, Index(full)], Lanes(width, tail_mask(width, length - full)))

    nest(shape[:-1], row)


def _splat(op: tri.Constant, lanes: Lanes | None) -> Number:
    """Emit a one-element constant as a scalar or as a vector of copies."""
    dtype = compute_dtype(tensor_of(op.y.type).dtype)
    type_ = None if lanes is None else ir.VectorType.get([lanes.width], element_type(dtype))
    return Number(constant_of(op.value.reshape(-1)[0].item(), dtype, type_), dtype)
