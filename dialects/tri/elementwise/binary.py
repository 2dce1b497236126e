"""Arithmetic on two tensors that broadcast to each other."""

import numpy as np

from ...core.numerics.functions import integer_power
from ...core.tensor import Array, Tensor, broadcast, dtype_of, is_integer, same_dtype
from ..numeric import need_float, need_number, rounded, truncated_divide
from .base import Binary, IntegerBinary


class Add(Binary):
    """Compute a + b; integers wrap around."""

    def reference(self, a: Array, b: Array) -> Array:
        return a + b


class Sub(Binary):
    """Compute a - b; integers wrap around."""

    def reference(self, a: Array, b: Array) -> Array:
        return a - b


class Mul(Binary):
    """Compute a * b; integers wrap around."""

    def reference(self, a: Array, b: Array) -> Array:
        return a * b


class Div(Binary):
    """Compute a / b; integers round toward zero, and division by the integer zero gives zero."""

    def reference(self, a: Array, b: Array) -> Array:
        return truncated_divide(a, b) if is_integer(dtype_of(a.dtype)) else a / b


class Mod(Binary):
    """Compute the remainder of a / b: with the sign of b, or with the sign of a if `fmod`.

    The remainder by the integer zero is zero.
    """

    fmod: bool = False

    @rounded
    def reference(self, a: Array, b: Array) -> Array:
        return np.fmod(a, b) if self.fmod else np.mod(a, b)


class Pow(Binary):
    """Compute a to the power b, as the type of a; b may have another type.

    Two integers wrap around, and a negative power of an integer is 1 / a**-b rounded toward zero
    (zero of zero). Anything else is computed in f64 and converted once.
    """

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), need_number(a).dtype if need_number(b) else "")

    def reference(self, a: Array, b: Array) -> Array:
        if is_integer(dtype_of(a.dtype)) and is_integer(dtype_of(b.dtype)):
            return integer_power(a, b)
        return np.power(a.astype(np.float64), b.astype(np.float64)).astype(a.dtype)


class Atan2(Binary):
    """Compute the angle of the point (b, a) in radians, between -pi and pi; of floats."""

    def infer(self, a: Tensor, b: Tensor) -> Tensor:
        return Tensor(broadcast(a.shape, b.shape), same_dtype(need_float(a), b))

    @rounded
    def reference(self, a: Array, b: Array) -> Array:
        return np.arctan2(a, b)


class Minimum(Binary):
    """Compute the lesser of a and b; NaN if either is NaN."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)


class Maximum(Binary):
    """Compute the greater of a and b; NaN if either is NaN."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)


class BitwiseAnd(IntegerBinary):
    """Compute the bitwise and of integers."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.bitwise_and(a, b)


class BitwiseOr(IntegerBinary):
    """Compute the bitwise or of integers."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.bitwise_or(a, b)


class BitwiseXor(IntegerBinary):
    """Compute the bitwise exclusive or of integers."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.bitwise_xor(a, b)


class ShiftLeft(IntegerBinary):
    """Shift the bits of a left by b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.left_shift(a, b)


class ShiftRight(IntegerBinary):
    """Shift the bits of a right by b."""

    def reference(self, a: Array, b: Array) -> Array:
        return np.right_shift(a, b)
