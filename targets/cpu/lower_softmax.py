"""Lowerings of softmax and its logarithm."""

import math
from collections.abc import Callable
from typing import Any

from ...dialects import tri
from ...dialects.core.tensor import Shape
from .approximation import exp, log
from .buffer import Buffer, Lanes
from .index import Index
from .kernel import KernelBuilder
from .number import Number, compute_dtype
from .sink import Sink
from .strips import Strip, each_strip, strip_shape
from .target import template

Finish = Callable[[Number, list[Index], Lanes | None], None]


@template(tri.Softmax)
def lower_softmax(op: tri.Softmax, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    shape = strip_shape(x.shape, op.axis)
    source, sink = x.reshape(shape), y.over(shape)
    dtype = compute_dtype(x.dtype)
    powers = powers_scratch(kernel, shape, dtype)

    def strip(s: Strip) -> None:
        softmax_strip(
            s,
            dtype,
            source.load,
            powers,
            lambda number, at, lanes: sink.store(number, at, lanes),
        )

    each_strip(shape, kernel.lanes(dtype), strip)


def softmax_strip(strip: Strip, dtype: str, element: Any, powers: Buffer, finish: Finish) -> None:
    """Emit the softmax of one strip; one that is all -inf gives zeros.

    `powers` is scratch memory from `powers_scratch`.
    """
    highest = strip.fold("maximumf", element, dtype)
    none = highest.equal(-math.inf)
    top = strip.spread(none.select(highest.like(0), highest))

    def power(at: list[Index], lanes: Lanes | None) -> Number:
        number = exp(element(at, lanes) - top)
        powers.store(number, _place(strip, at), lanes)
        return number

    total = strip.fold("add", power, dtype)
    total = total.equal(0).select(total.like(1), total)
    scale = strip.spread(1 / total)
    strip.each(lambda at, lanes: finish(powers.load(_place(strip, at), lanes) * scale, at, lanes))


def powers_scratch(kernel: KernelBuilder, shape: Shape, dtype: str) -> Buffer:
    """Ask for the memory in which `softmax_strip` keeps the powers of one strip."""
    across = () if len(shape) == 2 else (kernel.lanes(dtype),)
    return kernel.private((shape[1], *across), dtype)


def _place(strip: Strip, at: list[Index]) -> list[Index]:
    """Return where in the scratch an element of a strip is kept."""
    return [at[1]] if strip.inner is None else [at[1], Index(0)]


@template(tri.LogSoftmax)
def lower_log_softmax(op: tri.LogSoftmax, kernel: KernelBuilder, x: Buffer, y: Sink) -> None:
    shape = strip_shape(x.shape, op.axis)
    source, sink = x.reshape(shape), y.over(shape)
    dtype = compute_dtype(x.dtype)

    def strip(s: Strip) -> None:
        highest = s.fold("maximumf", source.load, dtype)
        top = s.spread(highest)
        total = s.fold("add", lambda at, lanes: exp(source.load(at, lanes) - top), dtype)
        shift = s.spread(highest + log(total))
        s.each(lambda at, lanes: sink.store(source.load(at, lanes) - shift, at, lanes))

    each_strip(shape, kernel.lanes(dtype), strip)
