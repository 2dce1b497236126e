"""`Value`: a tile of a kernel under construction, with Python's operators.

Lowerings compute with numbers as if they were floats or ints; every operation emits an op of the
`tile` dialect at the current insertion point. f16 and bf16 are computed in f32.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from ....dialects import tile
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.tensor import numpy_dtype
from ....dialects.tile.types import Size, Tile, broadcast, plain_type
from ...kernels.arithmetic import COMPUTE, Arithmetic


class Value(Arithmetic["Value"]):
    """Wrap a value of the tile dialect; sizes broadcast by numpy's rule."""

    def __init__(self, value: ir.Value) -> None:
        self.value = value
        self.dtype = self.tile.dtype

    # -- types --------------------------------------------------------------------------------

    @property
    def tile(self) -> Tile:
        """Return the type of the tile."""
        type_ = plain_type(self.value.type)
        assert isinstance(type_, Tile), "numbers are tiles"
        return type_

    @property
    def shape(self) -> tuple[Size, ...]:
        return self.tile.shape

    def like(self, constant: float) -> "Value":
        """Make a constant of the same type, to broadcast."""
        return full(constant, self.dtype)

    def named(self, name: str) -> "Value":
        """Give the number a name in the printed source."""
        if isinstance(self.value, ir.OpResult):
            self.value.owner.location = ir.Location.name(name, context=self.value.owner.context)
        return self

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

    def divided_nearest(self, other: "Value | float") -> "Value":
        """Divide floats; the quotient is rounded to nearest: it decides what Round makes of it."""
        return self._binary(other, "div_nearest")

    def remainder(self, other: "Value | float") -> "Value":
        """Return the remainder of truncating division, with the sign of the dividend."""
        return self._binary(other, "remainder")

    def __neg__(self) -> "Value":
        return self.apply("neg")

    def abs(self) -> "Value":
        return self if self.kind in ("uint", "bool") else self.apply("abs")

    def is_nan(self) -> "Value":
        return self.not_equal(self)

    # -- bits and choice ----------------------------------------------------------------------

    def invert(self) -> "Value":
        return self.apply("not")

    def select(self, if_true: "Value", if_false: "Value | float") -> "Value":
        """Choose by this condition (i1), element by element."""
        other = if_true._other(if_false)
        return made(tile.Where.build(self.value, if_true.value, other.value))

    def bits(self, dtype: str) -> "Value":
        """Reinterpret the bits as another element type of the same width."""
        return made(tile.BitCast.build(self.value, to=dtype))

    def cast(self, dtype: str) -> "Value":
        """Convert to another element type, as `tile.cast` does; undo a widening to this type."""
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
    """Emit a tile full of one number, or a scalar; the number may be a size with symbols."""
    if is_symbolic(size := cast("int", value)):
        return made(tile.SizeOf.build(size=size)).cast(dtype).broadcast_to(shape)
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
