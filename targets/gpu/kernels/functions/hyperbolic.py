"""Hyperbolic functions and their inverses, from exponentials, logarithms and roots."""

import math as constants

from ..value import Value
from .approximation import expm1, log1p, with_sign_of

_LARGE = 40.0
"""From here on, exp(-x) is nothing beside exp(x)."""

_HUGE = {"f32": 2.0**12, "f64": 2.0**27}
"""From here on, 1 is nothing beside a square."""


def sinh(x: Value) -> Value:
    """Compute the hyperbolic sine."""
    size = x.abs()
    e = expm1(size.minimum(_LARGE))
    small = (e + e / (e + 1)) * 0.5
    return with_sign_of(size.greater(_LARGE).select(_half_of_exp(size), small), x)


def cosh(x: Value) -> Value:
    """Compute the hyperbolic cosine."""
    size = x.abs()
    e = size.minimum(_LARGE).apply("exp")
    return size.greater(_LARGE).select(_half_of_exp(size), e * 0.5 + 0.5 / e)


def _half_of_exp(x: Value) -> Value:
    """Compute exp(x) / 2, which may be finite where exp(x) is not."""
    root = (x * 0.5).apply("exp")
    return (root * 0.5) * root


def asinh(x: Value) -> Value:
    """Compute the inverse hyperbolic sine."""
    size = x.abs()
    inside = size.minimum(_HUGE[x.dtype])
    square = inside * inside
    small = log1p(inside + square / ((square + 1).apply("sqrt") + 1))
    return with_sign_of(size.greater(_HUGE[x.dtype]).select(_log_of_twice(size), small), x)


def acosh(x: Value) -> Value:
    """Compute the inverse hyperbolic cosine; NaN below 1."""
    above = x.minimum(_HUGE[x.dtype]) - 1
    small = log1p(above + (above * (above + 2)).apply("sqrt"))
    result = x.greater(_HUGE[x.dtype]).select(_log_of_twice(x), small)
    return x.less(1).select(x.like(constants.nan), result)


def _log_of_twice(x: Value) -> Value:
    return x.apply("log") + constants.log(2)


def atanh(x: Value) -> Value:
    """Compute the inverse hyperbolic tangent; NaN outside [-1, 1]."""
    size = x.abs()
    return with_sign_of(log1p(size * 2 / (1 - size)) * 0.5, x)
