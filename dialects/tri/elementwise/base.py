"""Bases of elementwise ops; selection and casts.

The other ops are in `unary`, `activation`, `binary` and `compare`, by theme.
"""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.narrow import ROUND_MODES, cast_narrow, powers_of_two
from ...core.numerics.text import numbers_of, spelled_numbers
from ...core.tensor import (
    DTYPES,
    Array,
    Tensor,
    broadcast,
    dtype_of,
    is_narrow,
    is_string,
    numpy_dtype,
    same_dtype,
)
from ..dialect import TriOp
from ..numeric import need_bool, need_float, need_integer, need_number


class Unary(TriOp, abstract=True):
    """Base of ops that map each element of `x`, a number, keeping its type."""

    x: Operand
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        return need_number(x)


class FloatUnary(Unary, abstract=True):
    """Base of ops that map each element of `x`, a float, keeping its type."""

    def infer(self, x: Tensor) -> Tensor:
        return need_float(x)


class Binary(TriOp, abstract=True):
    """Base of ops on two tensors of numbers of one element type that broadcast to each other."""

    a: Operand
    b: Operand
    y: Result

    elementwise = True

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), same_dtype(need_number(a), b))


class IntegerBinary(Binary, abstract=True):
    """Base of ops on two tensors of integers of one element type that broadcast to each other."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), same_dtype(need_integer(a), b))


class BoolBinary(Binary, abstract=True):
    """Base of ops on two tensors of bools that broadcast to each other."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), same_dtype(need_bool(a), b))


class Where(TriOp):
    """Select `a` where the condition is true and `b` elsewhere; all three broadcast."""

    condition: Operand
    a: Operand
    b: Operand
    y: Result

    elementwise = True

    def infer(self, condition: Tensor, a: Tensor, b: Tensor) -> Tensor:
        if condition.dtype != "i1":
            raise Invalid(f"condition has element type {condition.dtype}, must be i1")
        return Tensor(broadcast(condition.shape, a.shape, b.shape), same_dtype(a, b))

    def reference(self, condition: Array, a: Array, b: Array) -> Array:
        return np.where(condition, a, b)


POWERS = "f8E8M0FNU"
"""The element type of powers of two."""


class Cast(TriOp):
    """Convert each element to another type.

    Floats lose their fraction on the way to an integer; integers that do not fit wrap around;
    any non-zero value, NaN included, is true. A float outside of the range of the integer type
    has no defined result. `saturate` is for floats of 8 bits: without it, what does not fit becomes
    infinite or NaN. Numbers become text, and text the numbers that it spells.
    """

    x: Operand
    to: str
    saturate: bool = True
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        if self.to not in DTYPES:
            raise Invalid(f"casts to '{self.to}', must be one of {', '.join(DTYPES)}")
        if self.to == POWERS:
            raise Invalid(f"casts to {POWERS}, which 'tri.power_of_two' does")
        return Tensor(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        dtype = numpy_dtype(self.to)
        if x.dtype == object:
            return x if is_string(self.to) else numbers_of(x, dtype)
        if is_string(self.to):
            return spelled_numbers(x)
        if is_narrow(self.to) or is_narrow(dtype_of(x.dtype)):
            return cast_narrow(x, dtype, self.saturate)
        return x.astype(dtype)


class PowerOfTwo(TriOp):
    """Round the magnitude of each float to a power of two: "up", "down", or to the "nearest".

    Without `saturate`, what is greater than all of them becomes NaN. Source: ONNX `Cast`.
    """

    x: Operand
    saturate: bool = True
    round_mode: str = "up"
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("round_mode", self.round_mode, ROUND_MODES)
        return Tensor(need_float(x).shape, POWERS)

    def reference(self, x: Array) -> Array:
        return powers_of_two(x, self.saturate, self.round_mode).view(numpy_dtype(POWERS))


class BitCast(TriOp):
    """Read the bits of each element as an element of another type of the same width."""

    x: Operand
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        if self.to not in DTYPES:
            raise Invalid(f"casts to '{self.to}', must be one of {', '.join(DTYPES)}")
        if DTYPES[self.to].bits != DTYPES[x.dtype].bits:
            raise Invalid(
                f"casts {DTYPES[x.dtype].bits} bits to {DTYPES[self.to].bits}, must be equal"
            )
        return Tensor(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        return np.ascontiguousarray(x).view(numpy_dtype(self.to)).reshape(x.shape)
