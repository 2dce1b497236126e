"""Find ops that rearrange a tensor as a function on arrays does, by what it does to indices."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array, Shape

_Indices = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Moves:
    """Cut a tensor, fill it up with zeros, cut its axes in parts, and reorder these.

    The tensor is seen in the shape `whole`. Of its axis d, the elements from `starts[d]` on are
    taken, `taken[d]` of them, then `added[d]` zeros. `parts` are the sizes of all axes in their
    parts; `order` permutes these, and the result has the `shape`.
    """

    whole: Shape
    starts: Shape
    taken: Shape
    added: Shape
    parts: Shape
    order: Shape
    shape: Shape

    def apply(self, array: Array) -> Array:
        """Return the rearranged array."""
        begins = zip(self.starts, self.taken, strict=True)
        array = array.reshape(self.whole)
        cut = array[tuple(slice(start, start + size) for start, size in begins)]
        padded = np.pad(cut, [(0, after) for after in self.added])
        return padded.reshape(self.parts).transpose(self.order).reshape(self.shape)

    def build(self, x: ir.Value) -> ir.Value:
        """Build the ops at the insertion point; those that would do nothing are left out."""
        rank = len(self.whole)
        if self.whole != tensor_of(x.type).shape:
            x = tri.Reshape.build(x, shape=self.whole).y
        if self.taken != tensor_of(x.type).shape:
            x = tri.Slice.build(x, starts=self.starts, sizes=self.taken, steps=(1,) * rank).y
        if any(self.added):
            x = tri.Pad.build(x, pads=((0,) * rank + self.added)).y
        if self.parts != tensor_of(x.type).shape:
            x = tri.Reshape.build(x, shape=self.parts).y
        if self.order != tuple(range(len(self.order))):
            x = tri.Transpose.build(x, permutation=self.order).y
        if self.shape != tensor_of(x.type).shape:
            x = tri.Reshape.build(x, shape=self.shape).y
        return x


def numbered(shape: Shape) -> _Indices:
    """Return an array of a shape that has the numbers from 1 on: zeros are added ones."""
    size = math.prod(shape)
    narrow = np.int32 if size < 1 << 31 else np.int64
    return np.arange(1, size + 1, dtype=narrow).reshape(shape)


def find_moves(shape: Shape, moved: _Indices) -> Moves | None:
    """Return the moves that make `moved` of the array of a shape that is `numbered`, if any do."""
    if not moved.size or moved.flat[0] == 0:
        return None
    first = int(moved.flat[0]) - 1
    digits = _all_digits(moved, shape)
    if digits is None:
        return None
    made = _assembled(shape, first, digits, moved.shape)
    if made is None or not np.array_equal(made.apply(numbered(shape)), moved):
        return None
    return made


@dataclass(frozen=True)
class _Digit:
    """Count `size` steps of `stride` elements along a part of an axis.

    All but the first are zeros where the stride is 0.
    """

    size: int
    stride: int


def _all_digits(moved: _Indices, shape: Shape) -> list[_Digit] | None:
    """Return the parts of all axes of the result, in order; None where one has no fixed strides."""
    found: list[_Digit] = []
    for axis, size in enumerate(moved.shape):
        line = moved[tuple(slice(None) if a == axis else 0 for a in range(moved.ndim))]
        valid = int(np.count_nonzero(line))
        if size == 1:
            continue
        if valid < size:
            stride = int(line[1] - line[0]) if valid > 1 else 0
            if stride < 0 or (line[valid:] != 0).any():
                return None
            found.append(_Digit(size, stride))
            continue
        digits = _digits(line - line[0])
        if digits is None:
            return None
        found += [part for digit in digits for part in _within_axes(digit, shape)]
    return found


def _digits(steps: _Indices) -> list[_Digit] | None:
    """Return the parts of an axis, the outermost first, by the distances from its first element."""
    digits: list[_Digit] = []
    while steps.size > 1:
        stride = int(steps[1])
        if stride <= 0:
            return None
        run = np.arange(steps.size, dtype=np.int64) * stride
        longest = int(np.argmin(steps == run)) or steps.size
        size = next(n for n in range(longest, 0, -1) if steps.size % n == 0)
        if size == 1:
            return None
        rows = steps.reshape(-1, size)
        if not np.array_equal(rows, rows[:, :1] + run[:size]):
            return None
        digits.insert(0, _Digit(size, stride))
        steps = rows[:, 0]
    return digits


def _within_axes(digit: _Digit, shape: Shape) -> Iterator[_Digit]:
    """Yield a part of the result in parts that are each along one axis of the tensor."""
    for stride in _strides(shape):
        inner, rest = divmod(stride, digit.stride)
        if not rest and 1 < inner < digit.size and digit.size % inner == 0:
            yield from _within_axes(_Digit(digit.size // inner, stride), shape)
            digit = _Digit(inner, digit.stride)
            break
    yield digit


def _strides(shape: Shape) -> list[int]:
    """Return the strides of axes of more than one element, the smallest first."""
    counts = [math.prod(shape[axis + 1 :]) for axis, size in enumerate(shape) if size > 1]
    return counts[::-1]


def _assembled(shape: Shape, first: int, digits: Sequence[_Digit], target: Shape) -> Moves | None:
    """Return the moves of which digits are the parts; None where they fill no axes."""
    starts: list[int] = []
    taken: list[int] = []
    added: list[int] = []
    parts: list[int] = []
    placed: list[_Digit] = []
    above = math.inf
    for axis, size in enumerate(shape):
        stride = math.prod(shape[axis + 1 :])
        start = first // stride % size
        own: list[_Digit] = []
        if size > 1:
            own = sorted((d for d in digits if stride <= d.stride < above), key=_by_stride)
            above = stride
        extent = 1
        for digit in reversed(own):
            if digit.stride != stride * extent:
                inner, rest = divmod(digit.stride, stride)
                if rest or inner < 2 or size % inner:
                    return None
                cut = (*shape[:axis], size // inner, inner, *shape[axis + 1 :])
                return _assembled(cut, first, digits, target)
            extent *= digit.size
        starts.append(start)
        taken.append(min(size - start, extent))
        added.append(extent - taken[-1])
        placed += own
        parts += [digit.size for digit in own]
    for digit in digits:
        if not digit.stride:
            starts.append(0)
            taken.append(1)
            added.append(digit.size - 1)
            placed.append(digit)
            parts.append(digit.size)
    if len(placed) != len(digits) or len({*digits}) != len(digits):
        return None
    order = tuple(placed.index(digit) for digit in digits)
    whole = (*shape, *(1,) * (len(starts) - len(shape)))
    cuts = tuple(starts), tuple(taken), tuple(added)
    return Moves(whole, *cuts, tuple(parts), order, target)


def _by_stride(digit: _Digit) -> int:
    return -digit.stride
