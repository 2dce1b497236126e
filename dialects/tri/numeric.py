"""Numeric helpers of the references: rounding, and functions that numpy lacks."""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import Invalid
from ..core.tensor import DTYPES, Array, Tensor, is_float, is_integer
from .precision import narrow, widen

Reference = Callable[..., Array]

_ERF_STEP = 1 / 256
_ERF_LIMIT = 6.0


def rounded(reference: Reference) -> Reference:
    """Make a reference compute f16 and bf16 in f32 and round once, to its first operand's type."""

    @functools.wraps(reference)
    def compute(x: Array, *others: Array, **attributes: Any) -> Array:
        y = reference(widen(x), *map(widen, others), **attributes)
        return narrow(np.asarray(y), x)

    return compute


def span(size: int) -> Array:
    """Return the numbers 0 to size - 1."""
    return np.arange(size, dtype=np.int64)


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


def sigmoid(x: Array) -> Array:
    """Compute 1 / (1 + exp(-x)) without overflow on either side."""
    e = np.exp(-np.abs(x))
    return np.where(x < 0, e, np.ones((), x.dtype)) / (1 + e)


def softplus(x: Array) -> Array:
    """Compute log(1 + exp(x)) without overflow."""
    return np.logaddexp(x, np.zeros((), x.dtype))


def truncated_divide(a: Array, b: Array) -> Array:
    """Divide integers, rounding toward zero; a zero divisor gives zero."""
    quotient = np.floor_divide(a, b)
    inexact = (np.multiply(quotient, b) != a) & (b != 0)
    return quotient + (inexact & ((a < 0) != (b < 0))).astype(quotient.dtype)


def need_float(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid unless its elements are floats."""
    if not is_float(x.dtype):
        raise Invalid(f"element type is {x.dtype}, must be a float")
    return x


def need_integer(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid unless its elements are integers."""
    if not is_integer(x.dtype):
        raise Invalid(f"element type is {x.dtype}, must be an integer")
    return x


def need_number(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid when its elements are bools."""
    if DTYPES[x.dtype].kind == "bool":
        raise Invalid(f"element type is {x.dtype}, must be a number")
    return x


def need_bool(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid unless its elements are bools."""
    if DTYPES[x.dtype].kind != "bool":
        raise Invalid(f"element type is {x.dtype}, must be i1")
    return x


def need_one_of(what: str, value: str, known: tuple[str, ...]) -> None:
    """Raise Invalid unless a string attribute has one of the known values."""
    if value not in known:
        raise Invalid(f"{what} is '{value}', must be one of {', '.join(known)}")
