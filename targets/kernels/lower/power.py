"""Parts of the lowering of powers: exponents that need no logarithm, and powers of integers."""

import math
from collections.abc import Callable, Sequence

from ....dialects import tri
from ....dialects.core.mlir import ir
from ....dialects.core.op import view
from ....dialects.core.tensor import DTYPES
from ..arithmetic import V

Step = Callable[[V, V, V], list[V]]


def constant_exponent(op: tri.Pow) -> float | None:
    """Return the exponent of an op that is a one-element constant of the kernel, else None."""
    maker = view(op.b.owner) if isinstance(op.b, ir.OpResult) else None
    if isinstance(maker, tri.Constant) and maker.value.size == 1:
        return float(maker.value.reshape(-1)[0])
    return None


def easy_power(a: V, exponent: float | None) -> V | None:
    """Compute a power of a float that needs no logarithm; return None for other exponents."""
    if exponent == -1.0:
        return 1 / a
    if exponent == 0.5:  # differs from the square root of -0 and -inf
        return a.equal(-math.inf).select(a.like(math.inf), (a + 0.0).apply("sqrt"))
    if exponent == 1.0:
        return a
    if exponent == 2.0:
        return a * a
    return a * a * a if exponent == 3.0 else None


def integer_power(a: V, b: V, loop: Callable[[int, Sequence[V], Step[V]], Sequence[V]]) -> V:
    """Square and multiply in the type of `a`; negative powers are 0, but for 1 and -1.

    `loop(trips, start, step)` emits a loop that carries values.
    """
    bits = DTYPES[b.dtype].bits

    def step(result: V, factor: V, rest: V) -> list[V]:
        odd = rest.logical_and(1).not_equal(0)
        return [odd.select(result * factor, result), factor * factor, rest.shift_right(1)]

    result = loop(bits, [a.like(1), a, b.abs().cast(f"ui{bits}")], step)[0]
    if b.kind == "uint":
        return result
    unit = a.equal(1) if a.kind == "uint" else a.equal(1).logical_or(a.equal(-1))
    return b.greater_equal(0).logical_or(unit).select(result, 0)
