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

    def infer(self, x: Tensor) -> Tensor:
        normalize_axis(self.axis, x.rank)
        return need_float(x)


class Softmax(Distribution):
    """Compute exp(x) divided by its sum along `axis`. Source: ONNX `Softmax` since 13."""

    def reference(self, x: Array) -> Array:
        powers = np.exp(_shifted(x, self.axis))
        return narrow(powers / powers.sum(self.axis, keepdims=True), x)


class LogSoftmax(Distribution):
    """Compute the logarithm of the softmax along `axis`. Source: ONNX `LogSoftmax` since 13."""

    def reference(self, x: Array) -> Array:
        shifted = _shifted(x, self.axis)
        total = np.exp(shifted).sum(self.axis, keepdims=True)
        return narrow(shifted - np.log(total), x)


class Hardmax(Distribution):
    """Put 1 at the first maximum along `axis` and 0 elsewhere. Source: ONNX `Hardmax` since 13."""

    def reference(self, x: Array) -> Array:
        y = np.zeros_like(x)
        if not y.size:
            return y
        if x.size:
            np.put_along_axis(
                y, x.argmax(self.axis, keepdims=True), np.ones((), x.dtype), self.axis
            )
        return y


def _shifted(x: Array, axis: int) -> Array:
    """Subtract the maximum, so that no power overflows."""
    wide = widen(x)
    return wide - wide.max(axis, keepdims=True, initial=-np.inf)
