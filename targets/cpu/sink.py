"""Sinks: where a kernel's results go, through the elementwise ops that follow in its group."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.op import Op
from ...dialects.core.tensor import Shape
from ..strides import collapsed_shape
from .buffer import Buffer, Lanes, tail_mask
from .index import Index
from .kernel import KernelBuilder
from .number import Number, compute_dtype, constant_of, element_type
from .parallel import Piece, Section, each, spread
from .registry import lowering_of
from .transposition import contiguous_axis, copy_transposed

DISTANT = 512 << 10
"""Bytes from which on a result is not expected in the caches that are near."""

Reader = Callable[[list[Index]], Number]
VectorReader = Callable[[list[Index], Lanes | None], Number | None]


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
        outputs = {v: _reshaped(out, shape) for v, out in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def allows(self, shape: Shape) -> bool:
        """Say whether the results can be seen under another shape where they are."""
        return all(out.restride(shape) is not None for out in self.outputs.values())

    def window(self, starts: Sequence[int], shape: Shape) -> "Sink":
        """Take only a box of the elements: index 0 then refers to `starts`."""
        steps = [1] * len(shape)
        leaves = {v: leaf.slice(starts, shape, steps) for v, leaf in self.leaves.items()}
        outputs = {v: out.slice(starts, shape, steps) for v, out in self.outputs.items()}
        return replace(self, shape=shape, leaves=leaves, outputs=outputs)

    def collapsed(self, *others: Buffer) -> Shape:
        """Return the shape with as few dimensions as all buffers, and others, allow."""
        buffers = [*self.leaves.values(), *self.outputs.values(), *others]
        shape = collapsed_shape(self.shape, [b.strides for b in buffers])
        # Vectors are stored along the last dimension: in a window one element may be all of it.
        outputs = [_reshaped(out, shape) for out in self.outputs.values()]
        return shape if all(out.strides[-1] in (0, 1) for out in outputs) else (*shape, 1)

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

    def prefetch(self, indices: Sequence[Index]) -> None:
        """Ask for the memory that `store` will need, where that is more than the cache holds."""
        for buffer in (*self.leaves.values(), *self.outputs.values()):
            if buffer.strides[-1] == 1 and buffer.tensor.size_bytes >= DISTANT:
                buffer.prefetch(buffer.position(indices), writes=buffer in self.outputs.values())

    def fill(self, read: Reader) -> None:
        """Compute every element on its own, in order."""
        each(self.shape, lambda i: self.store(read(i), i))

    def fill_vectors(self, read: VectorReader, *dtypes: str) -> None:
        """Compute the elements with vectors along the last dimension; `read` loads `dtypes`."""
        if self.shape and self.shape[-1] == 1:
            each(self.shape, lambda i: self.store(read(i, None), i))
            return
        width = self.kernel.lanes(*dtypes, *self.dtypes)
        each_vector(self.shape, width, lambda i, lanes: self.store(read(i, lanes), i, lanes))

    def copy(self, source: Buffer) -> None:
        """Take every element from a buffer of the same shape, with vectors."""
        shape = self.collapsed(source)
        view = source.restride(shape)
        assert view is not None, "collapsed() respects the strides of the source"
        sink, axis = self.over(shape), contiguous_axis(view)
        if axis is None:
            sink.fill_vectors(view.load, source.dtype)
        else:
            width = self.kernel.lanes(source.dtype, *self.dtypes)
            copy_transposed(view, axis, width, sink.store)

    def fill_with(self, value: float) -> None:
        """Take one constant for every element."""
        dtype = compute_dtype(self.dtype)
        self.over(self.collapsed()).fill_vectors(lambda _, lanes: _repeated(value, dtype, lanes))

    def compute(self) -> None:
        """Compute every element by the epilogue alone, with vectors."""
        self.over(self.collapsed()).fill_vectors(lambda _, lanes: None)

    @property
    def dtype(self) -> str:
        """The element type of the result that the sink takes."""
        assert self.value is not None, "a group of elementwise ops has no result to take"
        return tensor_of(self.value.type).dtype

    def through(self, write: Callable[[Buffer], None], dtype: str | None = None) -> None:
        """Let `write` fill a buffer as it likes, reading back what it wrote; then take all of it.

        It is the output itself where nothing follows and `dtype` does not ask for another type.
        """
        dtype = dtype or self.dtype
        if not self.epilogue and self.dtype == dtype:
            write(next(iter(self.outputs.values())))
            return
        buffer = self.kernel.scratch(self.shape, dtype)
        write(buffer)
        self.copy(buffer)


def each_vector(
    shape: Shape, width: int, body: Callable[[list[Index], Lanes | None], None]
) -> None:
    """Emit independent iterations that take `width` elements at a time along the last dimension.

    What is left of a row is done with a mask; rows shorter than a vector only so.
    """
    if not shape or width == 1:
        each(shape, lambda i: body(i, None))
        return
    full, rest = divmod(shape[-1], width)

    def row(outer: list[Index]) -> list[Piece]:
        def tail(_: Index) -> None:
            body([*outer, Index(full * width)], Lanes(width, tail_mask(width, rest)))

        whole = Piece(full, lambda i: body([*outer, i * width], Lanes(width)))
        return [whole, Piece(1, tail)] if rest else [whole]

    spread(Section(shape[:-1], full + bool(rest), row))


def _reshaped(buffer: Buffer, shape: Shape) -> Buffer:
    view = buffer.restride(shape)
    assert view is not None, "an output is written in place: its elements allow the shape"
    return view


def _splat(op: tri.Constant, lanes: Lanes | None) -> Number:
    """Emit a one-element constant as a scalar or as a vector of copies."""
    dtype = compute_dtype(tensor_of(op.y.type).dtype)
    return _repeated(op.value.reshape(-1)[0].item(), dtype, lanes)


def _repeated(value: float, dtype: str, lanes: Lanes | None) -> Number:
    type_ = None if lanes is None else ir.VectorType.get([lanes.width], element_type(dtype))
    return Number(constant_of(value, dtype, type_), dtype)
