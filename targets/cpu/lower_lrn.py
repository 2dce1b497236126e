"""Lowering of normalisation by the squares of neighbouring channels."""

import math

from ...dialects import tri
from .approximation import exp, log
from .buffer import Buffer, Lanes, zero
from .index import Index, carry
from .kernel import KernelBuilder
from .number import Number, compute_dtype, is_strict
from .number import math as math_dialect
from .registry import template
from .sink import Sink, each_vector


@template(tri.Lrn)
def lower_lrn(op: tri.Lrn, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    batch, channels, *spatial = x.shape
    shape = (batch, channels, math.prod(spatial))
    source, sink = x.reshape(shape), y.over(shape)
    dtype = compute_dtype(x.dtype)
    before = (op.size - 1) // 2

    def element(at: list[Index], lanes: Lanes | None) -> None:
        image, channel, pixel = at
        first = (channel - before).maximum(0)
        stop = (channel + (op.size - before)).minimum(channels)

        def add_square(i: Index, now: list[Number]) -> list[Number]:
            seen = source.load([image, first + i, pixel], lanes)
            return [seen.fma(seen, now[0])]

        squares = carry(stop - first, [zero(dtype, lanes)], add_square)[0]
        base = squares.fma(op.alpha / op.size, op.bias)
        sink.store(_divide_by_power(source.load(at, lanes), base, op.beta), at, lanes)

    each_vector(shape, kernel.lanes(dtype, *sink.dtypes), element)


def _divide_by_power(x: Number, base: Number, exponent: float) -> Number:
    """Compute x / base ** exponent, which is NaN for a negative base and a broken exponent."""
    if exponent == 1:
        return x / base
    root = base.apply(math_dialect.sqrt)
    if exponent == 0.5:
        return x / root
    if exponent == 0.75:
        return x / (root * root.apply(math_dialect.sqrt))
    if x.dtype == "f32" and not is_strict() and not exponent.is_integer():
        return x * exp(log(base) * -exponent)
    power = base.like(exponent)
    return x / base.with_value(math_dialect.powf(base.value, power.value))
