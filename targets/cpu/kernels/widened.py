"""Copies of tensors in the type that their elements are computed in."""

from collections.abc import Sequence
from functools import partial

from ...kernels.arithmetic import compute_dtype
from ...memory.strides import collapsed_shape
from .buffer import Buffer, Lanes
from .builder import KernelBuilder
from .epilogue import each_vector
from .index import IndexExpr
from .transposition import contiguous_axis, copy_transposed


def widened(kernel: KernelBuilder, source: Buffer) -> Buffer:
    """Return a tensor of f16 or bf16 as f32, in memory that all threads share; others as they are.

    Contractions read an element for all lanes of a vector, many times over: converted one by one,
    that takes as long as its multiply-adds. Here each is converted once, a vector at a time.
    """
    dtype = compute_dtype(source.dtype)
    if source.dtype == dtype:
        return source
    copy = kernel.scratch(source.shape, dtype)
    copy_elements(kernel, source, copy)
    return copy


def copy_elements(kernel: KernelBuilder, source: Buffer, target: Buffer) -> None:
    """Emit a loop nest of vectors that copies a tensor to another of its shape, which converts."""
    shape = collapsed_shape(source.shape, [source.strides, target.strides])
    one, other = source.restride(shape), target.restride(shape)
    assert one is not None, "the shape respects the strides of the source"
    assert other is not None, "and those of the target"
    width, axis = kernel.lanes(source.dtype, target.dtype), contiguous_axis(one)
    if axis is not None:
        copy_transposed(one, axis, width, other.store)
    else:
        each_vector(shape, width, partial(copy_vector, one, other))


def copy_vector(
    source: Buffer, target: Buffer, at: Sequence[IndexExpr], lanes: Lanes | None
) -> None:
    """Copy an element or neighbours of a row, and convert them."""
    target.store(source.load(at, lanes), at, lanes)
