"""Conversions of numbers between element types; none traps or leaves a result undefined."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from ....dialects.core.tensor import DTYPES, numpy_dtype
from ...number import float_below
from .buffer import pack, storage_dtype, unpack
from .value import Value, arith, compute_dtype, is_strict

Function = TypeVar("Function", bound=Callable[..., Value])


def convert(x: Value, dtype: str) -> Value:
    """Convert to the compute type of an element type.

    Floats become integers by truncation, saturate at the bounds, and NaN becomes 0;
    integers that do not fit wrap around; any non-zero value, NaN included, is true.
    """
    dtype = compute_dtype(dtype)
    kind = DTYPES[dtype].kind
    if x.dtype == dtype:
        return x
    if kind == "bool":
        return x.not_equal(0)
    if kind == "float":
        return _to_float(x, dtype)
    return _float_to_int(x, dtype) if x.is_float else _resize(x, dtype)


def _to_float(x: Value, dtype: str) -> Value:
    if x.is_float:
        change = arith.extf if dtype == "f64" else arith.truncf
    else:
        change = arith.sitofp if x.kind == "int" else arith.uitofp
    return Value(change(x.shaped(dtype), x.ssa), dtype)


def _resize(x: Value, dtype: str) -> Value:
    """Convert an integer or bool to an integer of any width."""
    have, want = (1 if x.kind == "bool" else DTYPES[x.dtype].bits), DTYPES[dtype].bits
    if have == want:
        return Value(x.ssa, dtype)
    if have > want:
        return Value(arith.trunci(x.shaped(dtype), x.ssa), dtype)
    extend = arith.extsi if x.kind == "int" else arith.extui
    return Value(extend(x.shaped(dtype), x.ssa), dtype)


def _float_to_int(x: Value, dtype: str) -> Value:
    """Convert a float to an integer type that is at least 32 bits wide, then to the one wanted."""
    info = np.iinfo(numpy_dtype(dtype))
    low, high = int(info.min), int(info.max)
    limit = float_below(high, x.dtype)
    inside = x.is_nan().select(x.like(0), x).maximum(float(low)).minimum(limit)
    signed = DTYPES[dtype].kind == "int"
    wide = dtype if DTYPES[dtype].bits >= 32 else "i32"
    change = arith.fptosi if signed or wide == "i32" else arith.fptoui
    whole = _resize(Value(change(x.shaped(wide), inside.ssa), wide), dtype)
    return whole if limit == high else x.greater(limit).select(whole.like(high), whole)


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
