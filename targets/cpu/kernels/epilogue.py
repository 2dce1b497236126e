"""`Epilogue`: stores a kernel's results, through the elementwise ops that follow the anchor."""

from collections.abc import Callable, Sequence

from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Undecided
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape
from ...kernels.arithmetic import compute_dtype
from ...kernels.epilogue import GroupEpilogue
from ...memory.strides import collapsed_shape
from ..registry import TABLE
from .buffer import HALVES, Buffer, Lanes, tail_mask
from .builder import KernelBuilder
from .index import IndexExpr
from .loops import Piece, Section, cut, each, spread
from .transposition import contiguous_axis, copy_interleaved, copy_transposed, interleaves
from .value import Value, constant_of, element_type

DISTANT = 128 << 10
"""Bytes from which on a result is not expected in the near caches, at likely sizes."""

Reader = Callable[[list[IndexExpr]], Value]
VectorReader = Callable[[list[IndexExpr], Lanes | None], Value | None]


class Epilogue(GroupEpilogue[KernelBuilder, Buffer, Buffer]):
    """Apply the ops that follow an anchor in registers; elements may come in any order.

    A template may work on another shape (`reshape`) that has the same elements in the same
    row-major order.
    """

    def reshape(self, shape: Shape) -> "Epilogue":
        """View the elements under another shape, to which indices and lanes refer from then on."""
        return self.viewed(
            shape,
            lambda leaf: self.kernel.reshaped(leaf, shape),
            lambda out: _reshaped(out, shape),
        )

    def can_reshape(self, shape: Shape) -> bool:
        """Return whether the outputs can be viewed under another shape without a copy."""
        return all(out.restride(shape) is not None for out in self.outputs.values())

    def _restrides(self, shape: Shape) -> bool:
        """Return whether all that is read and written can be viewed under another shape."""
        buffers = *self.leaves.values(), *self.outputs.values()
        return all(buffer.restride(shape) is not None for buffer in buffers)

    def window(self, starts: Sequence[Size], shape: Shape) -> "Epilogue":
        """View a box of the elements: index 0 then refers to `starts`."""
        steps = [1] * len(shape)

        def box(buffer: Buffer) -> Buffer:
            return buffer.slice(starts, shape, steps)

        return self.viewed(shape, box, box)

    def collapsed(self, *others: Buffer) -> Shape:
        """Return the shape of fewest dimensions that all buffers, and `others`, allow."""
        buffers = [*self.leaves.values(), *self.outputs.values(), *others]
        shape = collapsed_shape(self.shape, [b.strides for b in buffers])
        # Vectors are stored along the last dimension, which a window may reduce to one element.
        outputs = [_reshaped(out, shape) for out in self.outputs.values()]
        return shape if all(out.strides[-1] in (0, 1) for out in outputs) else (*shape, 1)

    @property
    def dtype(self) -> str:
        """The element type of the anchor's result."""
        return self.tensor.dtype

    @property
    def dtypes(self) -> list[str]:
        """All element types that the epilogue computes with."""
        made = [tensor_of(v.type).dtype for op in self.ops for v in op.results]
        return [b.dtype for b in (*self.leaves.values(), *self.outputs.values())] + made

    def store(
        self, value: Value | None, indices: Sequence[IndexExpr], lanes: Lanes | None = None
    ) -> None:
        """Apply the ops to one element, or to neighbours along the last dimension, and store."""
        known = self.computed(
            TABLE,
            value,
            lambda leaf: leaf.load(indices, lanes),
            lambda constant, dtype: _repeated(constant, dtype, lanes),
        )
        for result, out in self.outputs.items():
            out.store(known[result], indices, lanes)

    @property
    def touch(self) -> Callable[[IndexExpr, IndexExpr], None] | None:
        """Return what prefetches for a row and a column, or None where all that is read is near."""
        if not any(map(_is_far, self.leaves.values())):
            return None
        return lambda row, column: self.prefetch([row, column])

    def prefetch(self, indices: Sequence[IndexExpr]) -> None:
        """Prefetch the memory that `store` will access, of buffers that outgrow the near caches."""
        outputs = self.outputs.values()
        for buffer in filter(_is_far, (*self.leaves.values(), *outputs)):
            buffer.prefetch(buffer.position(indices), writes=buffer in outputs, level=1)

    def emit_elementwise(self, read: Reader) -> None:
        """Emit a loop nest that computes each element by `read`, one at a time."""
        each(self.shape, lambda i: self.store(read(i), i))

    def emit_vectors(self, read: VectorReader, *dtypes: str) -> None:
        """Emit a loop nest of vectors along the last dimension; `read` loads `dtypes`."""
        if self.shape and self.shape[-1] == 1:
            each(self.shape, lambda i: self.store(read(i, None), i))
            return
        width = self.kernel.lanes(*dtypes, *self.dtypes)
        each_vector(self.shape, width, lambda i, lanes: self.store(read(i, lanes), i, lanes))

    def emit_copy(self, source: Buffer) -> None:
        """Emit a loop nest of vectors that reads each element from a buffer of the same shape.

        Halves that are only moved are moved as integers, in whole vectors of them.
        """
        if not self.ops and source.dtype in HALVES and {source.dtype} == {*self.dtypes}:
            self.viewed(self.shape, Buffer.stored, Buffer.stored)._emit_copy(source.stored())
        else:
            self._emit_copy(source)

    def _emit_copy(self, source: Buffer) -> None:
        shape = self.collapsed(source)
        view = source.restride(shape)
        assert view is not None, "collapsed() respects the strides of the source"
        epilogue, axis = self.reshape(shape), contiguous_axis(view)
        if axis is None:
            epilogue.emit_vectors(view.load, source.dtype)
        else:
            width = self.kernel.lanes(source.dtype, *self.dtypes)
            flat = *shape[:-2], shape[-2] * shape[-1]
            if interleaves(view, axis, width) and epilogue._restrides(flat):
                copy_interleaved(view, width, epilogue.reshape(flat).store)
            else:
                copy_transposed(view, axis, width, epilogue.store)

    def emit_constant(self, value: float) -> None:
        """Emit a loop nest of vectors in which each element of the result is one constant."""
        dtype = compute_dtype(self.dtype)
        self.reshape(self.collapsed()).emit_vectors(lambda _, lanes: _repeated(value, dtype, lanes))

    def emit_ops(self) -> None:
        """Emit a loop nest of vectors for a group of elementwise ops only."""
        self.reshape(self.collapsed()).emit_vectors(lambda _, lanes: None)

    def materialize(self, write: Callable[[Buffer], None], dtype: str | None = None) -> None:
        """Let `write` fill a buffer of the whole result, which it may read back; then store it.

        The buffer is the output itself if no ops follow and `dtype` is the output's; else scratch.
        """
        dtype = dtype or self.dtype
        if not self.ops and self.dtype == dtype:
            write(next(iter(self.outputs.values())))
            return
        buffer = self.kernel.scratch(self.shape, dtype)
        write(buffer)
        self.emit_copy(buffer)


def _is_far(buffer: Buffer) -> bool:
    """Return whether rows of a buffer are expected in distant memory; repeated ones are not."""
    strides = buffer.strides
    return strides[-1:] == (1,) and 0 not in strides and likely(buffer.tensor.size_bytes) >= DISTANT


def each_vector(
    shape: Shape, width: int, body: Callable[[list[IndexExpr], Lanes | None], None]
) -> None:
    """Emit independent iterations over vectors of `width` elements along the last dimension.

    The tail of a row is masked; so is all of a row that is shorter than a vector.
    """
    if not shape or width == 1:
        each(shape, lambda i: body(i, None))
        return
    full, rest, tails = cut(shape[-1], width)

    def row(outer: list[IndexExpr]) -> list[Piece]:
        def tail(_: IndexExpr) -> None:
            body([*outer, IndexExpr(full * width)], Lanes(width, tail_mask(width, rest)))

        whole = Piece(full, lambda i: body([*outer, i * width], Lanes(width)))
        return [whole, Piece(tails, tail)] if tails != 0 else [whole]

    spread(Section(shape[:-1], full + tails, row))


def _reshaped(buffer: Buffer, shape: Shape) -> Buffer:
    view = buffer.restride(shape)
    if view is None and any(map(is_symbolic, (*buffer.tensor.shape, *shape))):
        raise Undecided(
            f"depends on whether {buffer.tensor.shape} and {shape} have as many elements"
        )
    assert view is not None, "an output is contiguous: its elements allow the shape"
    return view


def _repeated(value: float, dtype: str, lanes: Lanes | None) -> Value:
    type_ = None if lanes is None else ir.VectorType.get([lanes.width], element_type(dtype))
    return Value(constant_of(value, dtype, type_), dtype)
