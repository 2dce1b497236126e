"""Ops that combine elements of tiles, and ops that move their dimensions."""

from collections.abc import Callable, Mapping

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.tensor import Array
from .dialect import TileOp
from .types import FLOAT8, Tile, need_computed

PRECISIONS = ("ieee", "tf32")

ACCUMULATORS = {
    **{"f64": "f64", "f32": "f32", "f16": "f32", "bf16": "f32", "i8": "i32", "ui8": "i32"},
    **dict.fromkeys(FLOAT8, "f32"),
}
"""What products are added up in, by the type of their factors."""

REDUCTIONS: Mapping[str, Callable[..., Array]] = {
    "sum": np.add.reduce,
    "prod": np.multiply.reduce,
    "max": np.fmax.reduce,
    "min": np.fmin.reduce,
    "argmax": np.argmax,
    "argmin": np.argmin,
}
"""Kinds of reduction."""

PLACES = frozenset({"argmax", "argmin"})

SCANS: Mapping[str, Callable[..., Array]] = {
    "sum": np.add.accumulate,
    "prod": np.multiply.accumulate,
}


class Dot(TileOp):
    """Multiply two matrices and add the product to `acc`, which has the type of the result.

    That is f32 for factors of f16, bf16 and floats of 8 bits, and i32, which wraps around, for
    bytes. `precision` says what factors of f32 are rounded to, and nothing for others: `ieee`
    leaves them as they are, `tf32` keeps 10 bits of fraction.
    """

    a: Operand
    b: Operand
    acc: Operand
    precision: str = "ieee"
    y: Result

    def infer(self, a: Tile, b: Tile, acc: Tile) -> Tile:
        if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
            raise Invalid(f"multiplies {a} by {b}, must be matrices with one size in common")
        if a.dtype != b.dtype or a.dtype not in ACCUMULATORS:
            known = ", ".join(ACCUMULATORS)
            raise Invalid(f"multiplies {a.dtype} by {b.dtype}, must be two of one type: {known}")
        need_one_of("precision", self.precision, PRECISIONS)
        want = Tile((a.shape[0], b.shape[1]), ACCUMULATORS[a.dtype])
        if acc != want:
            raise Invalid(f"adds to {acc}, must be {want}")
        return want

    def reference(self, a: Array, b: Array, acc: Array) -> Array:
        if self.precision == "tf32" and a.dtype == np.float32:
            a, b = _round_to_tf32(a), _round_to_tf32(b)
        return acc + a.astype(acc.dtype) @ b.astype(acc.dtype)


def _round_to_tf32(x: Array) -> Array:
    """Round to the nearest number with 10 bits of fraction, to the even one of two."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    rounded = (bits + 0xFFF + ((bits >> 13) & 1)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded.view(np.float32), x)


class Reduce(TileOp):
    """Combine the elements along one dimension, which vanishes.

    `kind` is sum or prod, in which integers wrap around; max or min, which skip NaN; argmax or
    argmin, which return the first place of the extreme as i32, or with NaN any place. In which
    order elements are combined is open.
    """

    x: Operand
    kind: str
    axis: int
    y: Result

    def infer(self, x: Tile) -> Tile:
        need_one_of("kind", self.kind, REDUCTIONS)
        _check_axis(self.axis, len(x.shape))
        _check_numbers(self.kind, x)
        dtype = "i32" if self.kind in PLACES else x.dtype
        return Tile(x.shape[: self.axis] + x.shape[self.axis + 1 :], dtype)

    def reference(self, x: Array) -> Array:
        if self.kind in PLACES:
            return np.asarray(REDUCTIONS[self.kind](x, axis=self.axis), np.int32)
        return REDUCTIONS[self.kind](x, axis=self.axis, dtype=x.dtype)


class Scan(TileOp):
    """Combine each element with all before it along one dimension; with `reverse`, all behind.

    `kind` is sum or prod.
    """

    x: Operand
    kind: str
    axis: int
    reverse: bool = False
    y: Result

    def infer(self, x: Tile) -> Tile:
        need_one_of("kind", self.kind, SCANS)
        _check_axis(self.axis, len(x.shape))
        _check_numbers(self.kind, x)
        return x

    def reference(self, x: Array) -> Array:
        if self.reverse:
            return np.flip(
                Scan(kind=self.kind, axis=self.axis).reference(np.flip(x, self.axis)), self.axis
            )
        return SCANS[self.kind](x, axis=self.axis, dtype=x.dtype)


class Expand(TileOp):
    """Insert a dimension of size 1 before dimension `axis`."""

    x: Operand
    axis: int
    y: Result

    def infer(self, x: Tile) -> Tile:
        _check_axis(self.axis, len(x.shape) + 1)
        return Tile((*x.shape[: self.axis], 1, *x.shape[self.axis :]), x.dtype)

    def reference(self, x: Array) -> Array:
        return np.expand_dims(x, self.axis)


class Transpose(TileOp):
    """Swap the two dimensions of a matrix."""

    x: Operand
    y: Result

    def infer(self, x: Tile) -> Tile:
        if len(x.shape) != 2:
            raise Invalid(f"transposes {x}, must be a matrix")
        return Tile((x.shape[1], x.shape[0]), x.dtype)

    def reference(self, x: Array) -> Array:
        return x.T


def _check_axis(axis: int, rank: int) -> None:
    if not 0 <= axis < rank:
        raise Invalid(f"axis is {axis}, must be in [0, {rank})")


def _check_numbers(kind: str, x: Tile) -> None:
    need_computed(x.dtype)
    if x.dtype == "i1":
        raise Invalid(f"kind {kind} takes numbers, not {x.dtype}")
