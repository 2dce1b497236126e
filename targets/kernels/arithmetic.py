"""`Arithmetic`: the operators that values of every kernel have, for lowerings of all targets."""

import math
from typing import Any, Generic, TypeVar, cast

import numpy as np

from ...dialects.core.tensor import DTYPES, is_narrow, numpy_dtype

V = TypeVar("V", bound="Arithmetic[Any]")

COMPUTE = {"f16": "f32", "bf16": "f32"} | {name: "ui8" for name in DTYPES if is_narrow(name)}
"""The type that elements of a storage type are computed in, where the two differ.

Of a narrow type kernels have the bits, which are moved, or cast.
"""


def compute_dtype(dtype: str) -> str:
    """Return the type that elements of a storage type are computed in."""
    return COMPUTE.get(dtype, dtype)


def float_dtype(dtype: str) -> str:
    """Return the float type that fractions of elements of a type are computed in."""
    return compute_dtype(dtype) if DTYPES[dtype].kind == "float" else "f64"


def mean_dtype(dtype: str) -> str:
    """Return the type in which elements are summed up for their mean."""
    return {"int": "i64", "uint": "ui64"}.get(DTYPES[dtype].kind, compute_dtype(dtype))


def extreme_value(dtype: str, least: bool) -> float:
    """Return the least or the greatest number of a type; integers are exact."""
    kind = DTYPES[dtype].kind
    if kind == "float":
        return -math.inf if least else math.inf
    if kind == "bool":
        return 0 if least else 1
    info = np.iinfo(numpy_dtype(dtype))
    return int(info.min if least else info.max)


class Arithmetic(Generic[V]):
    """Compute with Python's operators; a target's `Value` emits the code of each of them."""

    dtype: str
    """The element type, which may be unsigned where the type of the emitted code is signless."""

    @property
    def kind(self) -> str:
        """Return "float", "int", "uint" or "bool"."""
        return DTYPES[self.dtype].kind

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def like(self, constant: float) -> V:
        """Emit a constant of the same type."""
        raise NotImplementedError

    def cast(self, dtype: str) -> V:
        """Convert to another element type; floats outside an integer type give any number."""
        raise NotImplementedError

    def _other(self, other: V | float) -> V:
        return cast(V, other) if isinstance(other, Arithmetic) else self.like(other)

    def _binary(self, other: V | float, function: str) -> V:
        """Emit a binary function; functions have the names of `tile.binary`."""
        raise NotImplementedError

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: V | float) -> V:
        return self._binary(other, "add")

    def __sub__(self, other: V | float) -> V:
        return self._binary(other, "sub")

    def __mul__(self, other: V | float) -> V:
        return self._binary(other, "mul")

    def __truediv__(self, other: V | float) -> V:
        raise NotImplementedError

    def __neg__(self) -> V:
        raise NotImplementedError

    def __radd__(self, other: float) -> V:
        return self + other

    def __rsub__(self, other: float) -> V:
        return self.like(other) - self

    def __rmul__(self, other: float) -> V:
        return self * other

    def __rtruediv__(self, other: float) -> V:
        return self.like(other) / self

    def fma(self, factor: V | float, term: V | float) -> V:
        """Compute self * factor + term; a target may round once."""
        return self * factor + term

    def maximum(self, other: V | float) -> V:
        """Return the larger value; NaN when either is NaN."""
        return self._binary(other, "max")

    def minimum(self, other: V | float) -> V:
        """Return the smaller value; NaN when either is NaN."""
        return self._binary(other, "min")

    def abs(self) -> V:
        raise NotImplementedError

    def apply(self, function: str) -> V:
        """Apply an elementary function of the dialect that the target emits, such as "sqrt"."""
        raise NotImplementedError

    # -- comparison ---------------------------------------------------------------------------

    def equal(self, other: V | float) -> V:
        return self._binary(other, "eq")

    def not_equal(self, other: V | float) -> V:
        return self._binary(other, "ne")

    def less(self, other: V | float) -> V:
        return self._binary(other, "lt")

    def less_equal(self, other: V | float) -> V:
        return self._binary(other, "le")

    def greater(self, other: V | float) -> V:
        return self._binary(other, "gt")

    def greater_equal(self, other: V | float) -> V:
        return self._binary(other, "ge")

    def is_nan(self) -> V:
        raise NotImplementedError

    # -- bits and choice ----------------------------------------------------------------------

    def logical_and(self, other: V | float) -> V:
        return self._binary(other, "and")

    def logical_or(self, other: V | float) -> V:
        return self._binary(other, "or")

    def logical_xor(self, other: V | float) -> V:
        return self._binary(other, "xor")

    def bits(self, dtype: str) -> V:
        """Reinterpret the bits as another element type of the same width."""
        raise NotImplementedError

    def invert(self) -> V:
        raise NotImplementedError

    def shift_left(self, other: V | float) -> V:
        return self._binary(other, "shift_left")

    def shift_right(self, other: V | float) -> V:
        """Shift right: zeros enter unsigned values, copies of the sign enter signed ones."""
        return self._binary(other, "shift_right")

    def select(self, if_true: V, if_false: V | float) -> V:
        """Choose by this condition (i1), element by element."""
        raise NotImplementedError
