"""`Buffer`: a tensor in memory as a kernel sees it; converts between memory and numbers."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ...dialects import tile
from ...dialects.core.mlir import ir
from ...dialects.core.tensor import Shape, Tensor
from ..strides import reshaped_strides
from .coordinates import Coordinates, Window
from .number import Number, compute_dtype, made


@dataclass(frozen=True)
class Buffer:
    """View an argument of a kernel as a tensor with strides; a stride of 0 repeats an element.

    `source` is what the argument stands for outside of the kernel: a value, or a temporary.
    `windows`, if there are any, say for each dimension which part of memory it shows.
    """

    memory: ir.Value
    tensor: Tensor
    strides: Shape
    source: Hashable
    windows: tuple[Window, ...] = ()

    @property
    def shape(self) -> Shape:
        return self.tensor.shape

    @property
    def dtype(self) -> str:
        return self.tensor.dtype

    def broadcast_to(self, shape: Shape) -> "Buffer":
        """View the tensor as repeated to a larger shape, by numpy's rule, without a copy."""
        assert not self.windows, "a part of a tensor does not repeat"
        lead = (0,) * (len(shape) - len(self.shape))
        pairs = zip(self.shape, self.strides, strict=True)
        strides = lead + tuple(0 if size == 1 else stride for size, stride in pairs)
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def transpose(self, permutation: Sequence[int]) -> "Buffer":
        """View the dimensions in another order: dimension i is dimension permutation[i] of this."""
        shape = tuple(self.shape[axis] for axis in permutation)
        strides = tuple(self.strides[axis] for axis in permutation)
        windows = tuple(self.windows[axis] for axis in permutation) if self.windows else ()
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides, windows=windows)

    def slice(self, starts: Sequence[int], sizes: Shape, steps: Sequence[int]) -> "Buffer":
        """View some elements along each dimension; a negative step goes backwards."""
        assert not self.windows, "a part of a tensor has no parts"
        windows = tuple(map(Window, starts, steps, self.shape))
        return replace(self, tensor=Tensor(sizes, self.dtype), windows=windows)

    def restride(self, shape: Shape) -> "Buffer | None":
        """View the same elements under another shape, or None when that needs a copy."""
        assert not self.windows, "a part of a tensor has one shape"
        strides = reshaped_strides(self.shape, self.strides, shape)
        if strides is None:
            return None
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def load(self, at: Coordinates | Sequence[Number], pad: float = 0.0) -> Number:
        """Load elements to compute with; `pad` stands for those out of bounds."""
        return self.load_raw(at, pad).cast(compute_dtype(self.dtype))

    def load_raw(self, at: Coordinates | Sequence[Number], pad: float = 0.0) -> Number:
        """Load elements in the type that they are stored in."""
        memory, indices = self._located(at)
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
        shape, strides, indices = at.locate(self.strides, self.windows, whole)
        view = tile.View.build(self.memory, shape=shape, strides=strides)
        same = view.y.type == self.memory.type
        if not same:
            return view.y, indices
        view.operation.erase()
        return self.memory, indices
