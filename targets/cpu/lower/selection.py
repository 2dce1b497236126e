"""Lowerings of ops that select elements by what they are, and count them."""

from ....dialects import tri
from ....dialects.core.tensor import is_narrow
from ...element_types import MOVES
from ...kernels.narrow import widened_bits
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.index import IndexExpr, carry_nest, for_each, index_of
from ..kernels.value import Value
from ..registry import template


@template(tri.PaddedNonZero, types=MOVES)
def lower_padded_non_zero(
    op: tri.PaddedNonZero, kernel: KernelBuilder, x: Buffer, y: Epilogue, count: Epilogue
) -> None:
    """Write each index behind those that were found, and count it if it is found."""
    axes = [IndexExpr(axis) for axis in range(len(x.shape))]

    def element(at: list[IndexExpr], now: list[Value]) -> list[Value]:
        (found,) = now
        for axis, index in zip(axes, at, strict=True):
            y.store(index.to_value("i64"), [axis, index_of(found)])
        value = x.load(at)
        if is_narrow(x.dtype):  # of floats, a zero may have a sign, or there is none
            value, _ = widened_bits(value, x.dtype)
        hit = value if value.kind == "bool" else value.not_equal(0)
        return [found + hit.cast("i64")]

    zero = IndexExpr(0).to_value("i64")
    (found,) = carry_nest(x.shape, [zero], element)
    count.store(found, [])
    for axis in axes:
        for_each(
            x.tensor.size, lambda i, axis=axis: y.store(zero, [axis, i]), start=index_of(found)
        )
