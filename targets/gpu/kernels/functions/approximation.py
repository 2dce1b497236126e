"""Functions that neither the hardware nor the tile dialect has, by formulas.

They are good to a few units in the last place, for f32 and for f64. NaN gives NaN, and infinities
give limits.
"""

from ....kernels import approximation, coefficients
from ....kernels.approximation import polynomial
from ..value import Value

FRACTION_BITS = {"f32": 23, "f64": 52}


def sign_bit(x: Value) -> Value:
    """Return the bits of a float but for the sign as zeros."""
    bits = x.bits("i32" if x.dtype == "f32" else "i64")
    return bits.logical_and(-(2**31) if x.dtype == "f32" else -(2**63))


def with_sign_of(size: Value, x: Value) -> Value:
    """Give a number that is not negative the sign of another one."""
    sign = sign_bit(x)
    return size.bits(sign.dtype).logical_or(sign).bits(x.dtype)


def round_to_even(x: Value) -> Value:
    """Round to the nearest whole number, halves to the even one.

    From 2^23 on, or 2^52, all floats are whole: adding that much rounds away the fraction.
    """
    size, large = x.abs(), 2.0 ** FRACTION_BITS[x.dtype]
    whole = (size + large) - large
    return size.less(large).select(with_sign_of(whole, x), x)


def truncate(x: Value) -> Value:
    """Round toward zero to a whole number."""
    return with_sign_of(x.abs().apply("floor"), x)


def expm1(x: Value) -> Value:
    """Compute exp(x) - 1, without cancellation near zero.

    Source for f64: Kahan, see Higham, Accuracy and stability of numerical algorithms, 1.14.1.
    """
    power = x.apply("exp")
    if x.dtype == "f32":
        near = x * x * polynomial(x, coefficients.EXPM1) + x
        return x.abs().less(0.35).select(near, power - 1)
    near = power.equal(1).select(x, (power - 1) * x / power.apply("log"))
    return x.abs().less(1).select(near, power - 1)


def log1p(x: Value) -> Value:
    """Compute log(1 + x), without cancellation near zero."""
    return approximation.log1p(x, lambda y: y.apply("log"))


def tanh(x: Value) -> Value:
    """Compute the hyperbolic tangent, never beyond 1."""
    if x.dtype == "f64":
        e = expm1(x.abs().minimum(40) * 2)
        return with_sign_of(e / (e + 2), x)
    return approximation.tanh_f32(x)


def sigmoid(x: Value) -> Value:
    """Compute 1 / (1 + exp(-x))."""
    return 1 / ((-x).apply("exp") + 1)


def softplus(x: Value) -> Value:
    """Compute log(1 + exp(x)) without overflow."""
    e = (-x.abs()).apply("exp")
    rounded = e + 1  # in [1, 2]: none of the special cases of log1p
    return x.maximum(0) + (rounded.apply("log") + (e - (rounded - 1)) / rounded)
