"""`Value`: a tile of a kernel under construction, with Python's operators.

Lowerings compute with numbers as if they were floats or ints; every operation emits an op of the
`tile` dialect at the current insertion point. f16 and bf16 are computed in f32.
"""

from collections.abc import Sequence

import numpy as np

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.tensor import DTYPES, numpy_dtype
from ....dialects.tile.types import Size, Tile, broadcast, plain_type
from ...number import Arithmetic

COMPUTE = {"f16": "f32", "bf16": "f32"}
"""The type that elements of a storage type are computed in, where it is another one."""


def compute_dtype(dtype: str) -> str:
    """Return the type that elements of a type are computed in."""
    return COMPUTE.get(dtype, dtype)


class Value(Arithmetic["Value"]):
    """Wrap a value of the tile dialect; sizes broadcast by numpy's rule."""

    def __init__(self, value: ir.Value) -> None:
        self.value = value

    # -- types --------------------------------------------------------------------------------

    @property
    def tile(self) -> Tile:
        """Return the type of the tile."""
        type_ = plain_type(self.value.type)
        assert isinstance(type_, Tile), "numbers are tiles"
        return type_

    @property
    def dtype(self) -> str:
        return self.tile.dtype

    @property
    def shape(self) -> tuple[Size, ...]:
        return self.tile.shape

    @property
    def kind(self) -> str:
        return DTYPES[self.dtype].kind

    def like(self, constant: float) -> "Value":
        """Make a constant of the same type, to broadcast."""
        return full(constant, self.dtype)

    def named(self, name: str) -> "Value":
        """Give the number a name in the printed source."""
        if isinstance(self.value, ir.OpResult):
            self.value.owner.location = ir.Location.name(name, context=self.value.owner.context)
        return self

    def _other(self, other: "Value | float") -> "Value":
        return other if isinstance(other, Value) else self.like(other)

    def _binary(self, other: "Value | float", function: str) -> "Value":
        return made(tile.Binary.build(self.value, self._other(other).value, function=function))

    # -- arithmetic ---------------------------------------------------------------------------

    def __add__(self, other: "Value | float") -> "Value":
        return self if _is(other, 0) and not self.is_float else self._binary(other, "add")

    def __sub__(self, other: "Value | float") -> "Value":
        return self if _is(other, 0) and not self.is_float else self._binary(other, "sub")

    def __mul__(self, other: "Value | float") -> "Value":
        return self if _is(other, 1) else self._binary(other, "mul")

    def __truediv__(self, other: "Value | float") -> "Value":
        """Divide floats, or integers rounding toward zero, where nothing divides by zero."""
        if _is(other, 1):
            return self
        return self._binary(other, "div" if self.is_float else "quotient")

    def remainder(self, other: "Value | float") -> "Value":
        """Return the remainder of truncating division, with the sign of the dividend."""
        return self._binary(other, "remainder")

    def __neg__(self) -> "Value":
        return self.apply("neg")

    def maximum(self, other: "Value | float") -> "Value":
        """Return the larger one; NaN when either is NaN."""
        return self._binary(other, "max")

    def minimum(self, other: "Value | float") -> "Value":
        """Return the smaller one; NaN when either is NaN."""
        return self._binary(other, "min")

    def abs(self) -> "Value":
        return self if self.kind in ("uint", "bool") else self.apply("abs")

    # -- comparison ---------------------------------------------------------------------------

    def equal(self, other: "Value | float") -> "Value":
        return self._binary(other, "eq")

    def not_equal(self, other: "Value | float") -> "Value":
        return self._binary(other, "ne")

    def less(self, other: "Value | float") -> "Value":
        return self._binary(other, "lt")

    def less_equal(self, other: "Value | float") -> "Value":
        return self._binary(other, "le")

    def greater(self, other: "Value | float") -> "Value":
        return self._binary(other, "gt")

    def greater_equal(self, other: "Value | float") -> "Value":
        return self._binary(other, "ge")

    def is_nan(self) -> "Value":
        return self.not_equal(self)

    # -- bits and choice ----------------------------------------------------------------------

    def logical_and(self, other: "Value | float") -> "Value":
        return self._binary(other, "and")

    def logical_or(self, other: "Value | float") -> "Value":
        return self._binary(other, "or")

    def logical_xor(self, other: "Value | float") -> "Value":
        return self._binary(other, "xor")

    def invert(self) -> "Value":
        return self.apply("not")

    def shift_left(self, other: "Value | float") -> "Value":
        return self._binary(other, "shift_left")

    def shift_right(self, other: "Value | float") -> "Value":
        """Shift right: zeros come in for unsigned numbers, copies of the sign for signed ones."""
        return self._binary(other, "shift_right")

    def select(self, if_true: "Value", if_false: "Value | float") -> "Value":
        """Choose by this condition (i1), element by element."""
        other = if_true._other(if_false)
        return made(tile.Where.build(self.value, if_true.value, other.value))

    def bits(self, dtype: str) -> "Value":
        """Reinterpret the bits as another element type of the same width."""
        return made(tile.BitCast.build(self.value, to=dtype))

    def cast(self, dtype: str) -> "Value":
        """Convert to another element type, as `tile.cast` does; what was widened to this type
        comes back as it was.
        """
        if dtype == self.dtype:
            return self
        before = view(self.value.owner) if isinstance(self.value, ir.OpResult) else None
        if isinstance(before, tile.Cast) and COMPUTE.get(dtype) == self.dtype:
            narrow = Value(before.x)
            if narrow.dtype == dtype:
                return narrow
        return made(tile.Cast.build(self.value, to=dtype))

    def apply(self, function: str) -> "Value":
        """Apply a function of `tile.unary`."""
        return made(tile.Unary.build(self.value, function=function))

    # -- shape --------------------------------------------------------------------------------

    def expand(self, axis: int) -> "Value":
        """Insert a dimension of size 1."""
        return made(tile.Expand.build(self.value, axis=axis))

    def transpose(self) -> "Value":
        """Swap the dimensions of a matrix."""
        return made(tile.Transpose.build(self.value))

    def reduce(self, kind: str, axis: int) -> "Value":
        """Combine the elements along a dimension, which vanishes."""
        return made(tile.Reduce.build(self.value, kind=kind, axis=axis))

    def scan(self, kind: str, axis: int, reverse: bool = False) -> "Value":
        """Combine each element with all before it along a dimension, or with all behind it."""
        return made(tile.Scan.build(self.value, kind=kind, axis=axis, reverse=reverse))

    def broadcast_to(self, shape: Sequence[Size]) -> "Value":
        """Repeat the tile to a larger shape; for what must not broadcast by itself."""
        want = Tile(tuple(shape), self.dtype)
        if self.shape == want.shape:
            return self
        assert broadcast(self.tile, want) == want.shape, f"{self.tile} does not fit {want}"
        if self.kind == "bool":
            return self.logical_or(full(0, self.dtype, want.shape))
        return self._binary(full(0, self.dtype, want.shape), "add")


def made(op: Op) -> Value:
    """Wrap the one result of an op."""
    return Value(op.results[0])


def full(value: float, dtype: str, shape: Sequence[Size] = ()) -> Value:
    """Emit a tile full of one number, or a scalar."""
    with np.errstate(all="ignore"):
        element = np.asarray(value).astype(numpy_dtype(dtype))
    return made(tile.Full.build(value=element, shape=tuple(map(str, shape))))


def zeros(dtype: str, *shape: Size) -> Value:
    """Emit a tile of zeros."""
    return full(0, dtype, shape)


def aligned(*numbers: Value) -> list[Value]:
    """Repeat numbers, of any types, to the shape that they have together."""
    shape = broadcast(*(number.tile for number in numbers))
    return [number.broadcast_to(shape) for number in numbers]


def scalar(value: int) -> Value:
    """Emit an index that is known."""
    return full(value, "i32")


def arange(block: str) -> Value:
    """Emit the indices 0, 1, 2, … of a block."""
    return made(tile.Arange.build(block=block))


def block_size(block: str) -> Value:
    """Emit the value of a block size."""
    return made(tile.BlockSize.build(block=block))


def dot(a: Value, b: Value, acc: Value, precision: str = "ieee") -> Value:
    """Multiply matrices and add them to `acc`."""
    return made(tile.Dot.build(a.value, b.value, acc.value, precision=precision))


def _is(other: "Value | float", constant: int) -> bool:
    return not isinstance(other, Value) and other == constant
