"""Ops that search or accumulate along one axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.fields import Operand, Result
from ...core.numerics.precision import widen
from ...core.sizes.checks import need
from ...core.tensor import Array, Tensor, normalize_axis
from ..dialect import TriOp
from ..numeric import need_number
from .reduce import exact, reduced_shape


class ArgReduction(TriOp, abstract=True):
    """Base of ops that find the place of an extreme element along an axis.

    Of equal ones it is the first, or the last if `select_last_index`. NaN is the extreme.
    """

    x: Operand
    axis: int = 0
    keepdims: bool = True
    select_last_index: bool = False
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        axis = normalize_axis(self.axis, need_number(x).rank)
        need(x.shape[axis], 1, f"searches axis {axis} of {x}, which has size 0")
        return Tensor(reduced_shape(x, (axis,), self.keepdims), "i64")


def _search(
    find: Callable[..., Any], x: Array, axis: int, keepdims: bool, select_last_index: bool
) -> Array:
    x = widen(x)
    if not select_last_index:
        return np.asarray(find(x, axis=axis, keepdims=keepdims))
    return x.shape[axis] - 1 - np.asarray(find(np.flip(x, axis), axis=axis, keepdims=keepdims))


class ArgMax(ArgReduction):
    """Find the index of the greatest element along an axis."""

    def reference(self, x: Array) -> Array:
        return _search(np.argmax, x, self.axis, self.keepdims, self.select_last_index)


class ArgMin(ArgReduction):
    """Find the index of the least element along an axis."""

    def reference(self, x: Array) -> Array:
        return _search(np.argmin, x, self.axis, self.keepdims, self.select_last_index)


class Scan(TriOp, abstract=True):
    """Base of ops that accumulate along an axis: floats in f64, integers wrapping around.

    Element i combines elements 0 to i, or to i - 1 if `exclusive`; from the end if `reverse`.
    """

    x: Operand
    axis: int
    exclusive: bool = False
    reverse: bool = False
    y: Result

    def infer(self, x: Tensor) -> Tensor:
        normalize_axis(self.axis, x.rank)
        return need_number(x)


def _scan(ufunc: np.ufunc, x: Array, axis: int, exclusive: bool, reverse: bool) -> Array:
    along = np.moveaxis(exact(x), axis, 0)
    along = along[::-1] if reverse else along
    if exclusive and len(along):
        first = np.full((1, *along.shape[1:]), ufunc.identity, along.dtype)
        along = np.concatenate([first, along[:-1]])
    scanned = ufunc.accumulate(along, axis=0, dtype=along.dtype)
    scanned = scanned[::-1] if reverse else scanned
    return np.moveaxis(scanned, 0, axis).astype(x.dtype)


class CumSum(Scan):
    """Compute running sums."""

    def reference(self, x: Array) -> Array:
        return _scan(np.add, x, self.axis, self.exclusive, self.reverse)


class CumProd(Scan):
    """Compute running products."""

    def reference(self, x: Array) -> Array:
        return _scan(np.multiply, x, self.axis, self.exclusive, self.reverse)


class TopK(TriOp):
    """Find the `k` greatest or least elements along an axis, and their indices.

    Of equal elements the one with the lesser index comes first; NaN counts as the greatest.
    The results are in order of value; when not `sorted`, nobody may rely on it.
    """

    x: Operand
    k: int
    axis: int = -1
    largest: bool = True
    sorted: bool = True
    values: Result
    indices: Result

    def infer(self, x: Tensor) -> tuple[Tensor, Tensor]:
        axis = normalize_axis(self.axis, need_number(x).rank)
        fault = f"takes {self.k} of the {x.shape[axis]} elements of axis {axis}"
        need(self.k, 0, fault)
        need(x.shape[axis], self.k, fault)
        shape = (*x.shape[:axis], self.k, *x.shape[axis + 1 :])
        return Tensor(shape, x.dtype), Tensor(shape, "i64")

    def reference(self, x: Array) -> tuple[Array, Array]:
        wide = widen(x)
        if self.largest:  # a stable sort of the reversed axis, read backwards, keeps ties in order
            backwards = np.argsort(np.flip(wide, self.axis), axis=self.axis, kind="stable")
            order = x.shape[self.axis] - 1 - np.flip(backwards, self.axis)
        else:
            order = np.argsort(wide, axis=self.axis, kind="stable")
        indices = np.take(order, np.arange(self.k), axis=self.axis)
        return np.take_along_axis(x, indices, self.axis), indices
