"""Sine and cosine: f32 by polynomials of our own, f64 and huge arguments by the C library.

`targets/kernels/coefficients.py` has the coefficients; `approximation` defines the errors.
"""

import math

from ....kernels import coefficients
from ....kernels.approximation import polynomial
from ....kernels.conversion import convert
from ..conversion import widened
from ..index import choose
from ..value import Value

_HALF_PI_HIGH = math.pi / 2
_HALF_PI_LOW = 6.123233995736766e-17
"""The parts of pi / 2, to 106 bits."""

_HUGE = 2.0**40


@widened
def sin(x: Value) -> Value:
    """Compute the sine of radians. f32: at most 2 ULP."""
    return _periodic(x, "sin", 0)


@widened
def cos(x: Value) -> Value:
    """Compute the cosine of radians. f32: at most 2 ULP."""
    return _periodic(x, "cos", 1)


def _periodic(x: Value, function: str, phase: int) -> Value:
    """Compute sin(x + phase pi / 2); huge numbers go to the C library, all lanes together."""
    if x.dtype == "f64":
        return x.apply(function)
    near = x.abs().less(_HUGE).in_all_lanes()
    return choose(near, x, lambda: _near(x, phase), lambda: x.apply(function))


def _near(x: Value, phase: int) -> Value:
    """Reduce to x = n pi / 2 + r with a whole n and |r| <= pi / 4; the quadrant is n mod 4."""
    wide = convert(x, "f64")
    n = (wide * (1 / _HALF_PI_HIGH)).apply("roundeven")
    r = convert(n.fma(-_HALF_PI_LOW, n.exact_fma(-_HALF_PI_HIGH, wide)), "f32")
    quadrant = convert(n - (n * 0.25).apply("floor") * 4, "i32") + phase
    square = r * r
    sine = (square * r).fma(polynomial(square, coefficients.SIN), r)
    cosine = (square * square).fma(polynomial(square, coefficients.COS), square.fma(-0.5, 1.0))
    even = quadrant.logical_and(quadrant.like(1)).equal(0)
    size = even.select(sine, cosine)
    sign = quadrant.logical_and(quadrant.like(2)).shift_left(30)
    return size.bits("i32").logical_xor(sign).bits("f32")
