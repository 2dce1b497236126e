"""What numbers of any target can do, for lowerings that need no more than that."""

from typing import Any, Generic, TypeVar

import numpy as np

from ..dialects.core.tensor import numpy_dtype

Number = TypeVar("Number", bound="Arithmetic[Any]")


class Arithmetic(Generic[Number]):
    """Compute with Python's operators; a target's `Number` says what each of them emits."""

    @property
    def kind(self) -> str:
        """Return "float", "int", "uint" or "bool"."""
        raise NotImplementedError

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    def like(self, constant: float) -> Number:
        """Make a constant of the same type."""
        raise NotImplementedError

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: Number | float) -> Number:
        raise NotImplementedError

    def __sub__(self, other: Number | float) -> Number:
        raise NotImplementedError

    def __mul__(self, other: Number | float) -> Number:
        raise NotImplementedError

    def __truediv__(self, other: Number | float) -> Number:
        raise NotImplementedError

    def __radd__(self, other: float) -> Number:
        return self + other

    def __rsub__(self, other: float) -> Number:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Number:
        return self * other

    def __rtruediv__(self, other: float) -> Number:
        return self.like(other) / self

    def maximum(self, other: Number | float) -> Number:
        """Return the larger one; NaN when either is NaN."""
        raise NotImplementedError

    def minimum(self, other: Number | float) -> Number:
        """Return the smaller one; NaN when either is NaN."""
        raise NotImplementedError

    def abs(self) -> Number:
        raise NotImplementedError

    # -- comparison ---------------------------------------------------------------------------

    def equal(self, other: Number | float) -> Number:
        raise NotImplementedError

    def less(self, other: Number | float) -> Number:
        raise NotImplementedError

    def less_equal(self, other: Number | float) -> Number:
        raise NotImplementedError

    def greater(self, other: Number | float) -> Number:
        raise NotImplementedError

    def greater_equal(self, other: Number | float) -> Number:
        raise NotImplementedError

    def is_nan(self) -> Number:
        raise NotImplementedError

    # -- bits and choice ----------------------------------------------------------------------

    def logical_and(self, other: Number) -> Number:
        raise NotImplementedError

    def logical_or(self, other: Number) -> Number:
        raise NotImplementedError

    def logical_xor(self, other: Number) -> Number:
        raise NotImplementedError

    def select(self, if_true: Number, if_false: Number | float) -> Number:
        """Choose by this condition (i1), element by element."""
        raise NotImplementedError


def float_below(value: int, dtype: str) -> float:
    """Return the greatest float of a type that is not above an integer."""
    kind = numpy_dtype(dtype).type
    near = kind(value)
    return float(near) if int(near) <= value else float(np.nextafter(near, kind(0)))
