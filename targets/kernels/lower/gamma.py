"""The lowering of the logarithm of the gamma function.

By Gamma(z + 1) = z Gamma(z), an argument is moved to where a polynomial or Stirling's series is
good; below zero Gamma(z) Gamma(1 - z) is pi / sin(pi z). Near the zeros at 1 and 2 the result of
f32 has a small relative error.
"""

import math

from ....dialects import tri
from .. import coefficients
from ..approximation import polynomial
from .shared import Functions, Value, formula

_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
"""The coefficients of 1/z, 1/z^3, … in Stirling's series: B(2k) / (2k (2k - 1))."""

_FAR = 8
"""From this argument on, two terms of the series are enough for f32."""

_FAR_WIDE = 13
"""From this argument on, all terms of the series are enough for f64."""


@formula(tri.Lgamma)
def lower_lgamma(functions: Functions, op: tri.Lgamma, x: Value) -> Value:
    log, sin = functions[tri.Log], functions[tri.Sin]
    negative = x.less(0)
    z = negative.select(1 - x, x)
    above = _wide(functions, z) if x.dtype == "f64" else _narrow(functions, z)
    fraction = (x - functions[tri.Round](x)).abs()
    below = math.log(math.pi) - log(sin(fraction * math.pi)) - above
    y = negative.select(below, above)
    # Poles, and infinities, of which no fraction is known.
    endless = negative.logical_and(fraction.equal(0)).logical_or(x.abs().equal(math.inf))
    return endless.select(x.like(math.inf), y)


def _narrow(functions: Functions, z: Value) -> Value:
    """Compute for an f32 that is not negative: near 2 by a polynomial, far away by the series."""
    near = z.minimum(_FAR)
    factor = z.like(1)
    for _ in range(_FAR - 2):
        high = near.greater_equal(2.5)
        near = high.select(near - 1, near)
        factor = high.select(factor * near, factor)
    distance = near - 2
    # An argument that is moved up would be rounded; its own distance from 0 or 1 is exact.
    for low in (z.less(1.5), z.less(0.5)):
        factor = low.select(factor * near, factor)
        near = low.select(near + 1, near)
    distance = z.less(1.5).select(z.less(0.5).select(z, z - 1), distance)
    far = z.greater_equal(_FAR)
    logarithm = functions[tri.Log](far.select(z, factor))
    moved = z.less(1.5).select(-logarithm, logarithm)
    small = distance.fma(polynomial(distance, coefficients.LGAMMA), moved)
    return far.select(_stirling(z, logarithm, 2), small)


def _wide(functions: Functions, z: Value) -> Value:
    """Compute for an f64 that is not negative, by the series."""
    factor, far = z.like(1), z
    for _ in range(_FAR_WIDE):
        low = far.less(_FAR_WIDE)
        factor = low.select(factor * far, factor)
        far = low.select(far + 1, far)
    log = functions[tri.Log]
    return _stirling(far, log(far), len(_STIRLING)) - log(factor)


def _stirling(z: Value, logarithm: Value, terms: int) -> Value:
    inverse = 1 / z
    series = inverse * polynomial(inverse * inverse, _STIRLING[:terms])
    rest = series + (math.log(2 * math.pi) - 1) / 2
    return (z - 0.5).fma(logarithm - 1, rest)
