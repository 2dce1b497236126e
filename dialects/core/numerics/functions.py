"""Functions of arrays that numpy lacks."""

import functools
import math

import numpy as np

from ..tensor import DTYPES, Array, dtype_of

_ERF_STEP = 1 / 256
_ERF_LIMIT = 6.0


def erf(x: Array) -> Array:
    """Compute the error function in f64, within two units in the last place.

    Expand it in a Taylor series of five terms around the nearest point of a grid: the derivatives
    of erf are polynomials times its first, and on a grid of 1/256 the sixth term is below 1e-17.
    """
    wide = np.asarray(x, np.float64)
    size = np.minimum(np.abs(wide), _ERF_LIMIT)
    index = np.rint(np.nan_to_num(size) / _ERF_STEP).astype(np.int64)
    c = index * _ERF_STEP
    d = size - c
    values, slopes = _erf_grid()
    c2 = c * c
    series = 1 + d * (
        -c
        + d * ((2 * c2 - 1) / 3 + d * (c * (3 - 2 * c2) / 6 + d * (4 * c2 * c2 - 12 * c2 + 3) / 30))
    )
    return np.copysign(values[index] + slopes[index] * d * series, wide)


@functools.cache
def _erf_grid() -> tuple[Array, Array]:
    points = [i * _ERF_STEP for i in range(round(_ERF_LIMIT / _ERF_STEP) + 1)]
    values = [math.erf(p) for p in points]
    slopes = [2 / math.sqrt(math.pi) * math.exp(-p * p) for p in points]
    return np.array(values), np.array(slopes)


def lgamma(x: Array) -> Array:
    """Compute the logarithm of the size of the gamma function in f64; inf where it has a pole."""
    wide = np.asarray(x, np.float64)
    return np.array([_lgamma(float(each)) for each in wide.flat], np.float64).reshape(wide.shape)


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except (ValueError, OverflowError):  # zero and negative integers; numbers near the greatest
        return math.inf


def integer_power(a: Array, b: Array) -> Array:
    """Compute a to the power b of integers: square and multiply, in the type of `a`.

    A negative power is 1 / a**-b rounded toward zero, and zero of zero.
    """
    a, b = np.broadcast_arrays(a, b)
    result = np.ones(a.shape, a.dtype)
    factor, rest = a, np.abs(b).astype(np.uint64)
    while rest.any():
        result = np.where(rest & np.uint64(1), result * factor, result)
        factor, rest = factor * factor, rest >> np.uint64(1)
    unit = np.isin(a, (1, -1)) if DTYPES[dtype_of(a.dtype)].kind == "int" else a == 1
    return np.where((b >= 0) | unit, result, np.zeros((), a.dtype))
