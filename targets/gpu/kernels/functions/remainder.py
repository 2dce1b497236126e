"""Quotients and remainders of numbers by any number, zero included."""

import math as constants

from ..loop import loop
from ..value import Value, aligned
from .approximation import with_sign_of

_STEP = 28
"""So many bits of a quotient are found at a time: its product with an f32 is exact in f64."""

_STEPS = 10
"""Steps that the quotient of the greatest and the least f32 needs."""


def quotient(a: Value, b: Value) -> Value:
    """Divide integers, rounding toward zero; x/0 is 0 and MIN/-1 wraps around."""
    safe = _safe(b)
    result = a / safe
    if b.kind != "uint":
        result = b.equal(-1).select(0 - a, result)
    return b.equal(0).select(a.like(0), result)


def remainder(a: Value, b: Value) -> Value:
    """Return the remainder of truncating division, with the sign of the dividend; x % 0 is 0."""
    if not a.is_float:
        return a.remainder(_safe(b))
    size, divisor = a.abs().cast("f64"), b.abs().cast("f64")
    rest = _float_remainder(size, divisor).cast(a.dtype)
    small = divisor.equal(constants.inf).logical_and(size.less(constants.inf))
    return small.select(a, with_sign_of(rest, a))


def _safe(b: Value) -> Value:
    """Replace the divisors of which a division is not defined for all dividends by 1."""
    unsafe = b.equal(0)
    if b.kind != "uint":
        unsafe = unsafe.logical_or(b.equal(-1))
    return unsafe.select(b.like(1), b)


def _float_remainder(size: Value, divisor: Value) -> Value:
    """Subtract multiples of the divisor, the largest first, without rounding."""

    def step(_: Value, rest: Value, factor: Value) -> list[Value]:
        part = divisor * factor
        return [rest - (rest / part).apply("floor") * part, factor * 2.0**-_STEP]

    largest = size.like(2.0 ** (_STEP * (_STEPS - 1)))
    start = aligned(size, divisor)[0]
    return loop(0, _STEPS, 1, [start, largest], step)[0]
