"""Casts of values to element types, and the wide arithmetic of strict kernels."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from ...kernels.arithmetic import compute_dtype
from ...kernels.conversion import convert
from .buffer import pack, storage_dtype, unpack
from .value import Value, arith, is_strict

Function = TypeVar("Function", bound=Callable[..., Value])


def cast(x: Value, source: str, dtype: str) -> Value:
    """Convert and round to an element type, from numbers of element type `source`."""
    if source == "f64" and dtype == "f16":
        x = _round_to_odd(x)
    y = convert(x, dtype)
    if compute_dtype(dtype) == dtype or source == dtype:
        return y
    return unpack(pack(y, dtype), dtype)


def _round_to_odd(x: Value) -> Value:
    """Round f64 to one of the two nearest f32, the odd one: rounding once more is then right.

    Source: Boldo and Melquiond, When double rounding is odd, 2005.
    """
    y = convert(x, "f32")
    bits = y.bits("i32")
    back = convert(y, "f64")
    outward = back.abs().less(x.abs()).select(bits.like(1), -1)
    inexact = back.not_equal(x).logical_and(back.abs().less(float("inf")))
    even = bits.logical_and(bits.like(1)).equal(0)
    return inexact.logical_and(even).select(bits + outward, bits).bits("f32")


def reinterpret(x: Value, source: str, dtype: str) -> Value:
    """Read the bits of elements of type `source` as elements of another type of the same width."""
    stored = pack(x, source)
    other = Value(stored, storage_dtype(source)).shaped(storage_dtype(dtype))
    return unpack(stored if stored.type == other else arith.bitcast(other, stored), dtype)


def widened(function: Function) -> Function:
    """Compute a function of f32 values in f64, rounded once, in strict kernels.

    The f64 code of the function must then be as accurate as the C library.
    """

    @wraps(function)
    def compute(*arguments: Any) -> Value:
        values = [a for a in arguments if isinstance(a, Value)]
        if not is_strict() or all(value.dtype != "f32" for value in values):
            return function(*arguments)
        wide = [convert(a, "f64") if _is_f32(a) else a for a in arguments]
        y = function(*wide)
        return convert(y, "f32") if _is_f32(values[0]) else y

    return compute  # type: ignore[return-value]


def _is_f32(argument: Any) -> bool:
    return isinstance(argument, Value) and argument.dtype == "f32"
