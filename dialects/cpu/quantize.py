"""Quantisation as one op, what rounds, shifts, limits and narrows numbers; functions of bytes."""

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.tensor import Array, Tensor, numpy_dtype
from .dialect import CpuOp

MOST_ZERO = 1 << 16
"""The largest zero point: with it, whole numbers between the limits are exact in f32."""


class Quantize(CpuOp):
    """Round f32 to whole numbers, halves to even, add `zero`, limit to [low, high]: bytes of `to`.

    NaN becomes `low`. Source: ONNX `QuantizeLinear`, behind the division.
    """

    x: Operand
    zero: int
    low: int
    high: int
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        if x.dtype != "f32":
            raise Invalid(f"quantises {x}, must be f32")
        need_one_of("to", self.to, ("ui8", "i8"))
        info = np.iinfo(numpy_dtype(self.to))
        if not info.min <= self.low <= self.high <= info.max:
            raise Invalid(f"limits are {self.low} and {self.high}, must be bytes of {self.to}")
        if abs(self.zero) > MOST_ZERO:
            raise Invalid(f"zero is {self.zero}, must be from -{MOST_ZERO} to {MOST_ZERO}")
        return Tensor(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        whole = np.where(np.isnan(x), np.float32(self.low - self.zero), np.rint(x))
        shifted = whole + np.float32(self.zero)
        made: Array = np.clip(shifted, self.low, self.high).astype(numpy_dtype(self.to))
        return made


class LookUp(CpuOp):
    """Replace each byte by another one, of type `to`, by a table of all 256.

    `table` begins with what a byte of bits 0 becomes and ends with that of bits 255: bytes with a
    sign are counted as those without.
    """

    x: Operand
    table: tuple[int, ...]
    to: str
    y: Result

    elementwise = True

    def infer(self, x: Tensor) -> Tensor:
        need_one_of("to", self.to, ("ui8", "i8"))
        if x.dtype not in ("ui8", "i8"):
            raise Invalid(f"looks up {x}, must be bytes")
        info = np.iinfo(numpy_dtype(self.to))
        if len(self.table) != ENTRIES:
            raise Invalid(f"table has {len(self.table)} numbers, must have {ENTRIES}")
        if not all(info.min <= number <= info.max for number in self.table):
            raise Invalid(f"table has other numbers than bytes of {self.to}")
        return Tensor(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        made: Array = np.array(self.table, numpy_dtype(self.to))[x.view(np.uint8)]
        return made


ENTRIES = 256
"""The number of bytes, and of entries of a table of what they become."""
