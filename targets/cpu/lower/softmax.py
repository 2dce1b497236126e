"""Lowerings of softmax and its logarithm."""

from collections.abc import Callable
from typing import Any

from ....dialects import tri
from ...kernels.arithmetic import compute_dtype
from ..kernels.buffer import Buffer, Lanes
from ..kernels.builder import KernelBuilder
from ..kernels.epilogue import Epilogue
from ..kernels.functions.approximation import log
from ..kernels.functions.falling_exp import falling_exp
from ..kernels.index import IndexExpr
from ..kernels.strips import Strip, each_strip, strip_shape
from ..kernels.value import Value
from ..registry import template

Finish = Callable[[Value, list[IndexExpr], Lanes | None], None]


@template(tri.Softmax)
def lower_softmax(op: tri.Softmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    shape = strip_shape(x.shape, op.axis)
    source, epilogue = x.reshape(shape), y.reshape(shape)
    dtype = compute_dtype(x.dtype)
    across = () if len(shape) == 2 else (kernel.lanes(dtype),)
    powers = kernel.private((shape[1], *across), dtype)  # of one strip

    def strip(s: Strip) -> None:
        scale = exponentiate(
            s,
            dtype,
            source.load,
            lambda number, at, lanes: powers.store(number, _place(s, at), lanes),
        )
        factor = s.spread(scale)

        def finish(at: list[IndexExpr], lanes: Lanes | None) -> None:
            epilogue.store(powers.load(_place(s, at), lanes) * factor, at, lanes)

        s.each(finish)

    each_strip(shape, kernel.lanes(dtype), strip)


def exponentiate(
    strip: Strip,
    dtype: str,
    element: Any,
    store: Finish,
) -> Value:
    """Store the exponentials of one strip, at most 1 each; return the factor that normalizes them.

    A strip that is all -inf gives NaN.
    """
    top = strip.spread(strip.reduce("max", element, dtype))

    def stored(at: list[IndexExpr], lanes: Lanes | None) -> Value:
        number = falling_exp(element(at, lanes) - top)
        store(number, at, lanes)
        return number

    total = strip.reduce("add", stored, dtype, beside=1)
    return 1 / total


def _place(strip: Strip, at: list[IndexExpr]) -> list[IndexExpr]:
    """Return where in the scratch an element of a strip is kept."""
    return [at[1]] if strip.inner is None else [at[1], IndexExpr(0)]


@template(tri.LogSoftmax)
def lower_log_softmax(op: tri.LogSoftmax, kernel: KernelBuilder, x: Buffer, y: Epilogue) -> None:
    shape = strip_shape(x.shape, op.axis)
    source, epilogue = x.reshape(shape), y.reshape(shape)
    dtype = compute_dtype(x.dtype)

    def strip(s: Strip) -> None:
        highest = s.reduce("max", source.load, dtype)
        top = s.spread(highest)
        total = s.reduce(
            "add", lambda at, lanes: falling_exp(source.load(at, lanes) - top), dtype, beside=1
        )
        shift = s.spread(highest + log(total))
        s.each(lambda at, lanes: epilogue.store(source.load(at, lanes) - shift, at, lanes))

    each_strip(shape, kernel.lanes(dtype), strip)
