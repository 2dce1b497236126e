"""Trigonometric functions and their inverses, from sine, cosine and a polynomial.

Source of the arc tangent: Moshier, Methods and programs for mathematical functions, 1989 (Cephes).
"""

import math as constants

from ....kernels.approximation import polynomial
from ..value import Value
from .approximation import sign_bit, with_sign_of

_ATAN_F32 = (-3.33329491539e-1, 1.99777106478e-1, -1.38776856032e-1, 8.05374449538e-2)
_ATAN_ABOVE = (
    *(-6.485021904942025371773e1, -1.228866684490136173410e2, -7.500855792314704667340e1),
    *(-1.615753718733365076637e1, -8.750608600031904122785e-1),
)
_ATAN_BELOW = (
    *(1.945506571482613964425e2, 4.853903996359136964868e2, 4.328810604912902668951e2),
    *(1.650270098316988542046e2, 2.485846490142306297962e1, 1.0),
)
_HALF_PI_LOW = {"f32": -4.371139000186241e-08, "f64": 6.123233995736766e-17}
"""The rest of pi / 2 beyond a float."""

_TAN_3_PI_8 = constants.sqrt(2) + 1


def tan(x: Value) -> Value:
    """Compute the tangent of radians."""
    return x.apply("sin") / x.apply("cos")


def atan(x: Value) -> Value:
    """Compute the arc tangent: by a polynomial, further off 0 of (x - 1) / (x + 1) or -1 / x."""
    size = x.abs()
    far, middle = size.greater(_TAN_3_PI_8), size.greater(constants.sqrt(2) - 1)
    reduced = far.select(-1 / size, middle.select((size - 1) / (size + 1), size))
    start, rest = (
        far.select(x.like(angle), middle.select(x.like(angle / 2), 0))
        for angle in (constants.pi / 2, _HALF_PI_LOW[x.dtype])
    )
    square = reduced * reduced
    if x.dtype == "f32":
        series = polynomial(square, _ATAN_F32)
    else:
        series = polynomial(square, _ATAN_ABOVE) / polynomial(square, _ATAN_BELOW)
    return with_sign_of(start + (series * square * reduced + rest + reduced), x)


def asin(x: Value) -> Value:
    """Compute the arc sine; NaN outside [-1, 1]."""
    return atan(x / ((1 - x) * (x + 1)).apply("sqrt"))


def acos(x: Value) -> Value:
    """Compute the arc cosine, without cancellation near 1; NaN outside [-1, 1]."""
    return atan(((1 - x) / (x + 1)).apply("sqrt")) * 2


def atan2(a: Value, b: Value) -> Value:
    """Compute the angle of the point (b, a), whose signs count where they are zero too."""
    high, wide = a.abs(), b.abs()
    most = high.maximum(wide)
    ratio = high.minimum(wide) / most
    ratio = high.equal(wide).select(ratio.like(1), ratio)  # infinities too
    angle = atan(most.equal(0).select(ratio.like(0), ratio))
    angle = high.greater(wide).select(constants.pi / 2 - angle, angle)
    angle = sign_bit(b).not_equal(0).select(constants.pi - angle, angle)
    return with_sign_of(angle, a)
