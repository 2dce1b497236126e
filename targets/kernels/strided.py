"""`StridedBuffer`: a tensor that kernels see with strides, and its views without a copy."""

from collections.abc import Sequence
from typing import Self

from ...dialects.core.tensor import Shape, Tensor
from ..memory.strides import reshaped_strides


class StridedBuffer:
    """View a tensor with strides, in elements; a stride of 0 repeats along a dimension."""

    tensor: Tensor
    strides: Shape

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    def with_strides(self, shape: Shape, strides: Shape) -> Self:
        """View the same elements with other strides."""
        raise NotImplementedError

    def slice(self, starts: Sequence[int], sizes: Shape, steps: Sequence[int]) -> Self:
        """View `sizes` elements of each dimension, from `starts` on, `steps` apart."""
        raise NotImplementedError

    def restride(self, shape: Shape) -> Self | None:
        """View the same elements under another shape, or None when that needs a copy."""
        strides = reshaped_strides(self.shape, self.strides, shape)
        return None if strides is None else self.with_strides(shape, strides)

    def broadcast_to(self, shape: Shape) -> Self:
        """View the tensor as repeated to a larger shape, by numpy's rule, without a copy."""
        lead = (0,) * (len(shape) - len(self.shape))
        pairs = zip(self.shape, self.strides, strict=True)
        return self.with_strides(
            shape, lead + tuple(0 if size == 1 else stride for size, stride in pairs)
        )

    def transpose(self, permutation: Sequence[int]) -> Self:
        """View the dimensions in another order: dimension i is dimension permutation[i] of this."""
        shape = tuple(self.shape[axis] for axis in permutation)
        return self.with_strides(shape, tuple(self.strides[axis] for axis in permutation))
