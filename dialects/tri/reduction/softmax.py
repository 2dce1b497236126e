"""Ops that turn scores along an axis into a distribution."""

import numpy as np

from ...core.fields import Operand, Result
from ...core.numerics.precision import narrow, widen
from ...core.tensor import Array, Tensor, normalize_axis
from ..dialect import TriOp
from ..numeric import need_float


class Distribution(TriOp, abstract=True):
    """Base of ops along one axis of a float tensor that keep its type."""

    x: Operand
    y: Result
    axis: int = -1

    anchor = True

    @staticmethod
    def infer(x: Tensor, *, axis: int = -1) -> Tensor:
        normalize_axis(axis, x.rank)
        return need_float(x)


class Softmax(Distribution):
    """Compute exp(x) divided by its sum along `axis`. Source: ONNX `Softmax` since 13."""

    @staticmethod
    def reference(x: Array, *, axis: int = -1) -> Array:
        powers = np.exp(_shifted(x, axis))
        return narrow(powers / powers.sum(axis, keepdims=True), x)


class LogSoftmax(Distribution):
    """Compute the logarithm of the softmax along `axis`. Source: ONNX `LogSoftmax` since 13."""

    @staticmethod
    def reference(x: Array, *, axis: int = -1) -> Array:
        shifted = _shifted(x, axis)
        total = np.exp(shifted).sum(axis, keepdims=True)
        return narrow(shifted - np.log(total), x)


class Hardmax(Distribution):
    """Put 1 at the first maximum along `axis` and 0 elsewhere. Source: ONNX `Hardmax` since 13."""

    @staticmethod
    def reference(x: Array, *, axis: int = -1) -> Array:
        y = np.zeros_like(x)
        if not y.size:
            return y
        if x.size:
            np.put_along_axis(y, x.argmax(axis, keepdims=True), np.ones((), x.dtype), axis)
        return y


def _shifted(x: Array, axis: int) -> Array:
    """Subtract the maximum, so that no power overflows."""
    wide = widen(x)
    return wide - wide.max(axis, keepdims=True, initial=-np.inf)
