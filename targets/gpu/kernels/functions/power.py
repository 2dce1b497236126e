"""Powers of floats, in f64 by logarithms."""

import math as constants

from ..value import Value
from .approximation import round_to_even, sign_bit


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
