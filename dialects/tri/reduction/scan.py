"""Ops that search or accumulate along one axis."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Operand, Result
from ...core.numerics.precision import widen
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

    @staticmethod
    def infer(x: Tensor, *, axis: int, keepdims: bool, select_last_index: bool) -> Tensor:
        axis = normalize_axis(axis, need_number(x).rank)
        if x.shape[axis] == 0:
            raise Invalid(f"searches axis {axis} of {x}, which has size 0")
        return Tensor(reduced_shape(x, (axis,), keepdims), "i64")


def _search(
    find: Callable[..., Any], x: Array, axis: int, keepdims: bool, select_last_index: bool
) -> Array:
    x = widen(x)
    if not select_last_index:
        return np.asarray(find(x, axis=axis, keepdims=keepdims))
    return x.shape[axis] - 1 - np.asarray(find(np.flip(x, axis), axis=axis, keepdims=keepdims))


class ArgMax(ArgReduction):
    """Find the index of the greatest element along an axis."""

    @staticmethod
    def reference(x: Array, *, axis: int, keepdims: bool, select_last_index: bool) -> Array:
        return _search(np.argmax, x, axis, keepdims, select_last_index)


class ArgMin(ArgReduction):
    """Find the index of the least element along an axis."""

    @staticmethod
    def reference(x: Array, *, axis: int, keepdims: bool, select_last_index: bool) -> Array:
        return _search(np.argmin, x, axis, keepdims, select_last_index)


class Scan(TriOp, abstract=True):
    """Base of ops that accumulate along an axis: floats in f64, integers wrapping around.

    Element i combines elements 0 to i, or to i - 1 if `exclusive`; from the end if `reverse`.
    """

    x: Operand
    axis: int
    exclusive: bool = False
    reverse: bool = False
    y: Result

    @staticmethod
    def infer(x: Tensor, *, axis: int, exclusive: bool, reverse: bool) -> Tensor:
        normalize_axis(axis, x.rank)
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

    @staticmethod
    def reference(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        return _scan(np.add, x, axis, exclusive, reverse)


class CumProd(Scan):
    """Compute running products."""

    @staticmethod
    def reference(x: Array, *, axis: int, exclusive: bool, reverse: bool) -> Array:
        return _scan(np.multiply, x, axis, exclusive, reverse)


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

    @staticmethod
    def infer(
        x: Tensor, *, k: int, axis: int, largest: bool, sorted: bool
    ) -> tuple[Tensor, Tensor]:
        axis = normalize_axis(axis, need_number(x).rank)
        if not 0 <= k <= x.shape[axis]:
            raise Invalid(f"takes {k} of the {x.shape[axis]} elements of axis {axis}")
        shape = (*x.shape[:axis], k, *x.shape[axis + 1 :])
        return Tensor(shape, x.dtype), Tensor(shape, "i64")

    @staticmethod
    def reference(
        x: Array, *, k: int, axis: int, largest: bool, sorted: bool
    ) -> tuple[Array, Array]:
        wide = widen(x)
        if largest:  # a stable sort of the reversed axis, read backwards, keeps ties in order
            backwards = np.argsort(np.flip(wide, axis), axis=axis, kind="stable")
            order = x.shape[axis] - 1 - np.flip(backwards, axis)
        else:
            order = np.argsort(wide, axis=axis, kind="stable")
        indices = np.take(order, np.arange(k), axis=axis)
        return np.take_along_axis(x, indices, axis), indices
