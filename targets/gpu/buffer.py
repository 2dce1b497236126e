"""`Buffer`: a tensor in memory as a kernel sees it; converts between memory and numbers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ...dialects import tile
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import Shape, Tensor
from ..strides import reshaped_strides
from .coordinates import Coordinates
from .number import Number, compute_dtype, made


@dataclass(frozen=True)
class Buffer:
    """View an argument of a kernel as a tensor with strides; a stride of 0 repeats an element.

    `source` is what the argument stands for outside of the kernel: a value, or a temporary.
    """

    memory: ir.Value
    tensor: Tensor
    strides: Shape
    source: Hashable

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    def broadcast_to(self, shape: Shape) -> "Buffer":
        """View the tensor as repeated to a larger shape, by numpy's rule, without a copy."""
        lead = (0,) * (len(shape) - len(self.shape))
        pairs = zip(self.shape, self.strides, strict=True)
        strides = lead + tuple(0 if size == 1 else stride for size, stride in pairs)
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def transpose(self, permutation: Sequence[int]) -> "Buffer":
        """View the dimensions in another order: dimension i is dimension permutation[i] of this."""
        shape = tuple(self.shape[axis] for axis in permutation)
        strides = tuple(self.strides[axis] for axis in permutation)
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def restride(self, shape: Shape) -> "Buffer | None":
        """View the same elements under another shape, or None when that needs a copy."""
        strides = reshaped_strides(self.shape, self.strides, shape)
        if strides is None:
            return None
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def split(self, shape: Shape) -> "Buffer":
        """View the same elements under a shape that splits dimensions, or adds some of size 1."""
        view = self.restride(shape)
        assert view is not None, f"{self.shape} does not split to {shape}"
        return view

    def load(self, at: Coordinates | Sequence[Number], pad: float = 0.0) -> Number:
        """Load elements to compute with; `pad` stands for those out of bounds."""
        return self.load_raw(at, pad).cast(compute_dtype(self.dtype))

    def load_raw(
        self, at: Coordinates | Sequence[Number], pad: float = 0.0, whole: bool = False
    ) -> Number:
        """Load elements in the type that they are stored in.

        With `whole`, indices along dimensions of size 1 are checked too, not taken for 0.
        """
        memory, indices = self._located(at, whole)
        checked = tuple(range(len(indices)))
        values = [index.value for index in indices]
        return made(tile.Load.build(memory, values, low=checked, high=checked, pad=pad))

    def store(
        self, number: Number, at: Coordinates | Sequence[Number], accumulate: bool = False
    ) -> None:
        """Store elements, those out of bounds left out."""
        memory, indices = self._located(at, whole=True)
        checked = tuple(range(len(indices)))
        values = [index.value for index in indices]
        value = number.cast(self.dtype).value
        tile.Store.build(value, memory, values, low=checked, high=checked, accumulate=accumulate)

    def _located(
        self, at: Coordinates | Sequence[Number], whole: bool = False
    ) -> tuple[ir.Value, list[Number]]:
        if not isinstance(at, Coordinates):
            at = Coordinates.of(self.shape, at)
        assert at.shape == self.shape, f"coordinates are of {at.shape}, memory of {self.shape}"
        shape, strides, indices = at.locate(self.strides, whole)
        view = tile.View.build(self.memory, shape=shape, strides=strides)
        same = view.y.type == self.memory.type
        if not same:
            return view.y, indices
        view.operation.erase()
        return self.memory, indices
