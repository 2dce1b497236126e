"""Kernels of support vector machines: functions of a sample and a support vector."""

from dataclasses import dataclass

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array
from ....core.values import constant, tensor
from ...registry import Value
from .operands import numbers_like

KINDS = ("LINEAR", "POLY", "RBF", "SIGMOID")

EXACT = 16.0
"""Up to this exponent of a support vector, a difference of squares keeps the digits of f32."""


@dataclass(frozen=True)
class Kernel:
    """Describe a kernel as ONNX does: LINEAR, POLY, RBF or SIGMOID, and its parameters."""

    kind: str
    gamma: float
    offset: float
    degree: float

    @staticmethod
    def of(kind: str, parameters: tuple[float, ...]) -> "Kernel":
        if kind not in KINDS or len(parameters) not in (0, 3):
            raise Invalid(f"has kernel '{kind}' with {len(parameters)} parameters, must have 3")
        return Kernel(kind, *(parameters or (0.0, 0.0, 0.0)))

    def apply(self, x: Value, vectors: Array) -> Value:
        """Return the kernel of each sample and each vector, [N, vectors]."""
        if self.kind == "RBF":
            distances = self._distances(x, vectors)
            return tri.Exp.build(tri.Mul.build(distances, numbers_like(-self.gamma, x)).y).y
        y = tri.MatMul.build(x, constant(np.ascontiguousarray(vectors.T))).y
        if self.kind == "LINEAR":
            return y
        y = tri.Mul.build(y, numbers_like(self.gamma, x)).y
        y = tri.Add.build(y, numbers_like(self.offset, x)).y
        if self.kind == "SIGMOID":
            return tri.Tanh.build(y).y
        return tri.Pow.build(y, numbers_like(self.degree, x)).y

    def _distances(self, x: Value, vectors: Array) -> Value:
        """Return squared distances; by products, unless their rounding would show.

        Far samples have large errors, too, but no kernel.
        """
        centre = vectors.mean(axis=0)
        near = vectors - centre
        squares = (near.astype(np.float64) ** 2).sum(axis=1)
        if self.gamma * squares.max(initial=0) > EXACT:
            count, features = tensor(x).shape
            one = tri.Reshape.build(x, shape=(count, 1, features)).y
            apart = tri.Sub.build(one, constant(vectors[None])).y
            return tri.ReduceSumSquare.build(apart, axes=(2,), keepdims=False).y
        x = tri.Sub.build(x, constant(centre)).y
        both = tri.MatMul.build(x, constant(np.ascontiguousarray(-2 * near.T))).y
        own = tri.ReduceSumSquare.build(x, axes=(1,), keepdims=True).y
        total = tri.Add.build(tri.Add.build(both, constant(squares.astype(np.float32))).y, own).y
        return tri.Maximum.build(total, numbers_like(0, x)).y
