"""Powers: of integers by squaring, of floats in f64 by logarithms."""

import math as constants
from collections.abc import Callable

from ....dialects.core.tensor import DTYPES
from .approximation import round_to_even, sign_bit
from .loop import loop
from .value import Value, aligned


def _root(a: Value) -> Value:
    """Compute a to the power 1/2, which differs from the square root of -0 and -inf."""
    return a.equal(-constants.inf).select(a.like(constants.inf), (a + 0.0).apply("sqrt"))


EASY_POWERS: dict[float, Callable[[Value], Value]] = {
    -1.0: lambda a: 1 / a,
    0.5: _root,
    1.0: lambda a: a,
    2.0: lambda a: a * a,
    3.0: lambda a: a * a * a,
}
"""Powers of floats that need no logarithm."""


def power(a: Value, b: Value) -> Value:
    """Compute a to the power b, two numbers of f64, as C's library has it.

    The size is 2^(b log2 |a|), but where the product has no value; the sign is that of a when b is
    odd; and a negative finite number has only whole powers.
    """
    size = (b * a.abs().apply("log2")).apply("exp2")
    one = b.equal(0).logical_or(a.equal(1))
    one = one.logical_or(a.equal(-1).logical_and(b.abs().equal(constants.inf)))
    size = one.select(a.like(1), size)
    half = b * 0.5
    whole = b.apply("floor").equal(b)
    odd = whole.logical_and(half.apply("floor").not_equal(half))
    negative = sign_bit(a).not_equal(0).logical_and(odd)
    result = negative.select(-size, size)
    undefined = whole.invert().logical_and(a.less(0)).logical_and(a.greater(-constants.inf))
    return undefined.select(a.like(constants.nan), result)


def snapped(x: Value) -> Value:
    """Move an f64 that is off a whole number by its error only to that number."""
    whole = round_to_even(x)
    return (x - whole).abs().less(whole.abs() * 2.0**-44).select(whole, x)


def integer_power(a: Value, b: Value) -> Value:
    """Square and multiply in the type of `a`; negative powers are 0 but for 1 and -1."""
    bits = DTYPES[b.dtype].bits

    def step(_: Value, result: Value, factor: Value, rest: Value) -> list[Value]:
        odd = rest.logical_and(1).not_equal(0)
        return [odd.select(result * factor, result), factor * factor, rest.shift_right(1)]

    start = aligned(a.like(1), a, b.abs().cast(f"ui{bits}"))
    result = loop(0, bits, 1, start, step)[0]
    if b.kind == "uint":
        return result
    unit = a.equal(1) if a.kind == "uint" else a.equal(1).logical_or(a.equal(-1))
    return b.greater_equal(0).logical_or(unit).select(result, 0)
