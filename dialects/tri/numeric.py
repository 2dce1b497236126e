"""Numeric helpers of the references: rounding, checks, and functions that numpy lacks."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.errors import Invalid
from ..core.numerics.precision import narrow, widen
from ..core.sizes.checks import need_same_shape
from ..core.tensor import (
    DTYPES,
    STRING,
    Array,
    Shape,
    Tensor,
    is_computed,
    is_float,
    is_integer,
    is_string,
)

Reference = Callable[..., Array]


def rounded(reference: Reference) -> Reference:
    """Make a reference compute f16 and bf16 in f32 and round once, to its first operand's type."""

    @functools.wraps(reference)
    def compute(op: Any, x: Array, *others: Array) -> Array:
        return narrow(np.asarray(reference(op, widen(x), *map(widen, others))), x)

    return compute


def span(size: int) -> Array:
    """Return the numbers 0 to size - 1."""
    return np.arange(size, dtype=np.int64)


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


def softmax_rows(scores: Array) -> Array:
    """Compute the softmax of each row; a row of nothing but -inf gives zeros."""
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    np.copyto(highest, 0, where=highest == -np.inf)
    powers = np.exp(scores - highest)
    total: Array = powers.sum(-1, keepdims=True)
    np.copyto(total, 1, where=total == 0)
    return powers / total


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
    """Return the operand; raise Invalid when its elements are bools, or narrow."""
    if DTYPES[x.dtype].kind == "bool":
        raise Invalid(f"element type is {x.dtype}, must be a number")
    return need_wide(x)


def need_wide(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid when its elements are to be cast before computing."""
    if not is_computed(x.dtype):
        raise Invalid(f"element type is {x.dtype}, must be one to compute with: cast it")
    return x


def need_string(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid unless its elements are strings."""
    if not is_string(x.dtype):
        raise Invalid(f"element type is {x.dtype}, must be {STRING}")
    return x


def need_bool(x: Tensor) -> Tensor:
    """Return the operand; raise Invalid unless its elements are bools."""
    if DTYPES[x.dtype].kind != "bool":
        raise Invalid(f"element type is {x.dtype}, must be i1")
    return x


def need_shape(name: str, operand: Tensor | None, shape: Shape) -> None:
    """Require an operand to be absent or to have a shape."""
    if operand is not None and operand.shape != shape:
        wanted = "x".join(map(str, shape))
        need_same_shape(operand.shape, shape, f"{name} is {operand}, must have shape {wanted}")
