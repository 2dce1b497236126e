"""Lowering of normalisation by the squares of neighbouring channels."""

import math

from ....dialects import tri
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer, Lanes, zero
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue, each_vector
from ..kernels.functions.approximation import exp, log
from ..kernels.index import IndexExpr, carry
from ..kernels.value import Value, is_strict
from ..kernels.value import math as math_dialect
from ..registry import template


@template(tri.Lrn)
def lower_lrn(op: tri.Lrn, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    batch, channels, *spatial = x.shape
    shape = (batch, channels, math.prod(spatial))
    source, epilogue = x.reshape(shape), y.reshape(shape)
    dtype = compute_dtype(x.dtype)
    before = (op.size - 1) // 2

    def element(at: list[IndexExpr], lanes: Lanes | None) -> None:
        image, channel, pixel = at
        first = (channel - before).maximum(0)
        stop = (channel + (op.size - before)).minimum(channels)

        def add_square(i: IndexExpr, now: list[Value]) -> list[Value]:
            seen = source.load([image, first + i, pixel], lanes)
            return [seen.fma(seen, now[0])]

        squares = carry(stop - first, [zero(dtype, lanes)], add_square)[0]
        base = squares.fma(op.alpha / op.size, op.bias)
        epilogue.store(_divide_by_power(source.load(at, lanes), base, op.beta), at, lanes)

    each_vector(shape, kernel.lanes(dtype, *epilogue.dtypes), element)


def _divide_by_power(x: Value, base: Value, exponent: float) -> Value:
    """Compute x / base ** exponent, which is NaN for a negative base and a broken exponent."""
    if exponent == 1:
        return x / base
    root = base.apply("sqrt")
    if exponent == 0.5:
        return x / root
    if exponent == 0.75:
        return x / (root * root.apply("sqrt"))
    if x.dtype == "f32" and not is_strict() and not exponent.is_integer():
        return x * exp(log(base) * -exponent)
    power = base.like(exponent)
    return x / base.with_ssa(math_dialect.powf(base.ssa, power.ssa))
