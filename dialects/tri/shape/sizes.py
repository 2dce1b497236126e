"""Numbers that follow from the sizes of a run, which symbols stand for."""

import math

import numpy as np

from ...core.errors import Invalid
from ...core.fields import Result
from ...core.sizes.checks import need
from ...core.tensor import Array, Tensor
from ..dialect import TriOp


class Sizes(TriOp):
    """Produce sizes as numbers, in row-major order; `shape` is the result's.

    Source: ONNX `Shape` and `Size`.
    """

    values: tuple[int, ...]
    shape: tuple[int, ...]
    y: Result

    def infer(self) -> Tensor:
        if len(self.values) != math.prod(self.shape):
            raise Invalid(f"has {len(self.values)} values for shape {list(self.shape)}")
        return Tensor(self.shape, "i64")

    def reference(self) -> Array:
        return np.array(self.values, np.int64).reshape(self.shape)


class Iota(TriOp):
    """Count from 0 to `size` - 1. Source: ONNX `Range`; `torch.arange`."""

    size: int
    y: Result

    def infer(self) -> Tensor:
        need(self.size, 0, f"has size {self.size}, must be at least 0")
        return Tensor((self.size,), "i64")

    def reference(self) -> Array:
        return np.arange(self.size, dtype=np.int64)
