"""`Buffer`: a tensor that a kernel loads at coordinates, from memory or by computation."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from ....dialects import tile
from ....dialects.core.errors import Undecided
from ....dialects.core.mlir import ir
from ....dialects.core.sizes.atoms import is_symbolic
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape, Tensor, is_narrow
from ...kernels.arithmetic import compute_dtype
from ...kernels.strided import StridedBuffer
from .coordinates import Coordinates, Window
from .value import Value, full, made


@dataclass(frozen=True)
class Buffer(StridedBuffer):
    """View a tensor with strides, in elements; a stride of 0 repeats an element.

    `windows`, if there are any, give the part of memory that each dimension shows.
    """

    tensor: Tensor
    strides: Shape
    windows: tuple[Window, ...] = field(default=(), kw_only=True)

    def with_strides(self, shape: Shape, strides: Shape) -> Self:
        """View the same elements with other strides."""
        return replace(self, tensor=Tensor(shape, self.dtype), strides=strides)

    def broadcast_to(self, shape: Shape) -> Self:
        """View the tensor as repeated to a larger shape, by numpy's rule, without a copy."""
        assert not self.windows, "a part of a tensor does not repeat"
        return super().broadcast_to(shape)

    def transpose(self, permutation: Sequence[int]) -> Self:
        """View the dimensions in another order: dimension i is dimension permutation[i] of this."""
        windows = tuple(self.windows[axis] for axis in permutation) if self.windows else ()
        return replace(super().transpose(permutation), windows=windows)

    def slice(self, starts: Sequence[int], sizes: Shape, steps: Sequence[int]) -> Self:
        """View some elements along each dimension; a negative step goes backwards."""
        assert not self.windows, "a part of a tensor has no parts"
        windows = tuple(map(Window, starts, steps, self.shape))
        return replace(self.with_strides(sizes, self.strides), windows=windows)

    def restride(self, shape: Shape) -> Self | None:
        """View the same elements under another shape, or None when that needs a copy."""
        assert not self.windows, "a part of a tensor has one shape"
        return super().restride(shape)

    def split(self, shape: Shape) -> Self:
        """View the same elements under a shape that splits dimensions, or adds some of size 1."""
        view = self.restride(shape)
        if view is None and any(map(is_symbolic, (*self.shape, *shape))):
            raise Undecided(f"depends on whether {self.shape} splits to {shape}")
        assert view is not None, f"{self.shape} does not split to {shape}"
        return view

    def load(self, at: Coordinates | Sequence[Value], pad: float = 0.0) -> Value:
        """Load elements in their compute type, narrow ones as they are; out of bounds is `pad`."""
        return _computed(self.load_raw(at, pad), self.dtype)

    def load_raw(
        self, at: Coordinates | Sequence[Value], pad: float = 0.0, whole: bool = False
    ) -> Value:
        """Load elements in their own type.

        With `whole`, indices along dimensions of size 1 are checked, too, not assumed to be 0.
        """
        raise NotImplementedError

    def varies(self, dim: int) -> bool:
        """Return whether elements may differ along a dimension."""
        return self.strides[dim] != 0

    def _coordinates(self, at: Coordinates | Sequence[Value]) -> Coordinates:
        if not isinstance(at, Coordinates):
            at = Coordinates.of(self.shape, at)
        assert at.shape == self.shape, f"coordinates are of {at.shape}, the tensor of {self.shape}"
        return at


@dataclass(frozen=True)
class Argument(Buffer):
    """View an argument of a kernel; `source` is the value that it represents outside."""

    memory: ir.Value
    source: Hashable

    def load_raw(
        self, at: Coordinates | Sequence[Value], pad: float = 0.0, whole: bool = False
    ) -> Value:
        """Load elements in the type that they are stored in."""
        memory, indices = self._located(at, whole)
        checked = tuple(range(len(indices)))
        values = [index.value for index in indices]
        return made(tile.Load.build(memory, values, low=checked, high=checked, pad=pad))

    def store(
        self, number: Value, at: Coordinates | Sequence[Value], accumulate: bool = False
    ) -> None:
        """Store elements; elements out of bounds are not stored."""
        memory, indices = self._located(at, whole=True)
        checked = tuple(range(len(indices)))
        values = [index.value for index in indices]
        value = number.cast(self.dtype).value
        tile.Store.build(value, memory, values, low=checked, high=checked, accumulate=accumulate)

    def _located(
        self, at: Coordinates | Sequence[Value], whole: bool = False
    ) -> tuple[ir.Value, list[Value]]:
        # Indices of one dimension each may be beyond it, also where its size is 1.
        whole = whole or not isinstance(at, Coordinates)
        shape, strides, indices = self._coordinates(at).locate(self.strides, self.windows, whole)
        view = tile.View.build(self.memory, shape=shape, strides=strides)
        if view.y.type != self.memory.type:
            return view.y, indices
        view.operation.erase()
        return self.memory, indices


@dataclass(frozen=True)
class Computed(Buffer):
    """View a tensor that is not stored: each element is computed from the leaves when it is loaded.

    `leaves` are the buffers it is computed from, each in the shape of the tensor. `narrow` has the
    same elements in a smaller type, if the last op is a cast from that type.
    """

    leaves: tuple[Buffer, ...]
    compute: Callable[[Sequence[Value]], Value]
    narrow: Buffer | None = None

    @staticmethod
    def of(
        tensor: Tensor,
        leaves: Sequence[Buffer],
        compute: Callable[[Sequence[Value]], Value],
        narrow: Buffer | None = None,
    ) -> "Computed":
        """Compute a tensor from others that broadcast to its shape."""
        seen = tuple(leaf.broadcast_to(tensor.shape) for leaf in leaves)
        largest = max(leaves, key=lambda leaf: likely(leaf.tensor.size), default=None)
        strides = (0,) * tensor.rank if largest is None else seen[leaves.index(largest)].strides
        return Computed(tensor, strides, seen, compute, narrow)

    def broadcast_to(self, shape: Shape) -> "Computed":
        """View the tensor as repeated to a larger shape, by numpy's rule, without a copy."""
        return super().broadcast_to(shape)._viewed(lambda leaf: leaf.broadcast_to(shape))

    def transpose(self, permutation: Sequence[int]) -> "Computed":
        """View the dimensions in another order: dimension i is dimension permutation[i] of this."""
        return super().transpose(permutation)._viewed(lambda leaf: leaf.transpose(permutation))

    def slice(self, starts: Sequence[int], sizes: Shape, steps: Sequence[int]) -> "Computed":
        """View some elements along each dimension; a negative step goes backwards."""
        seen = super().slice(starts, sizes, steps)
        return seen._viewed(lambda leaf: leaf.slice(starts, sizes, steps))

    def restride(self, shape: Shape) -> "Computed | None":
        """View the same elements under another shape, or None when that needs a copy."""
        seen = super().restride(shape)
        if seen is None or any(leaf.restride(shape) is None for leaf in self.leaves):
            return None
        return seen._viewed(lambda leaf: leaf.split(shape))

    def _viewed(self, view: Callable[[Buffer], Buffer]) -> "Computed":
        leaves = tuple(map(view, self.leaves))
        return replace(self, leaves=leaves, narrow=self.narrow and view(self.narrow))

    def varies(self, dim: int) -> bool:
        """Return whether elements may differ along a dimension."""
        return any(leaf.varies(dim) for leaf in self.leaves)

    def load_raw(
        self, at: Coordinates | Sequence[Value], pad: float = 0.0, whole: bool = False
    ) -> Value:
        """Compute elements, and round them to the type of the tensor."""
        at = self._coordinates(at)
        number, inside = self._anywhere(at), at.inside()
        return number if inside is None else inside.select(number, pad)

    def _anywhere(self, at: Coordinates) -> Value:
        """Compute elements; elements out of bounds have any value."""
        leaves = [
            _computed(leaf._anywhere(at), leaf.dtype)
            if isinstance(leaf, Computed)
            else leaf.load(at)
            for leaf in self.leaves
        ]
        return self.compute(leaves).cast(self.dtype)


def _computed(number: Value, dtype: str) -> Value:
    """Return elements in their compute type, narrow ones as they are."""
    return number if is_narrow(dtype) else number.cast(compute_dtype(dtype))


def constant_buffer(tensor: Tensor, value: float) -> Computed:
    """View one number as a tensor."""
    return Computed.of(tensor, (), lambda _: full(value, compute_dtype(tensor.dtype)))
