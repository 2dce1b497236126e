"""Rules for operators that change shapes."""

import math

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import broadcast, normalize_axis
from ...core.sizes.target_shapes import resolved
from ..registry import Complex, Value, torch_op
from ..views import (
    Ints,
    axis_of,
    expand,
    parts,
    rank_of,
    reshape,
    shape_of,
    swap,
    transpose,
)

Tensor = Value | Complex


@torch_op("Tensor.reshape", "Tensor.view", "aten::_unsafe_view", renamed={"size": "shape"})
def reshape_(input: Tensor, shape: Ints | None = None) -> Tensor:
    """Reshape; no shape at all is that of a scalar."""
    return reshape(input, _resolved(shape or (), math.prod(shape_of(input))))


def _resolved(shape: Ints, count: Size) -> Ints:
    fault = f"has shape {list(shape)}, which does not fit {count} elements"
    return resolved(shape, count, fault)


@torch_op("Tensor.reshape_as", "Tensor.view_as")
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    return reshape(input, shape_of(other))


@torch_op("torch.flatten", "nn.Flatten")
def flatten(input: Tensor, *, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    shape = shape_of(input) or (1,)
    start, end = (normalize_axis(dim, len(shape)) for dim in (start_dim, end_dim))
    if start > end:
        raise Invalid(f"flattens from axis {start} to {end}, must not go backwards")
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


@torch_op("Tensor.unflatten", "torch.unflatten", "nn.Unflatten")
def unflatten(input: Tensor, dim: int, sizes: Ints) -> Tensor:
    axis, shape = axis_of(input, dim), shape_of(input)
    return reshape(input, (*shape[:axis], *_resolved(sizes, shape[axis]), *shape[axis + 1 :]))


@torch_op("torch.squeeze", "Tensor.squeeze")
def squeeze(input: Tensor, dim: int | Ints | None = None) -> Tensor:
    """Drop axes of size 1: all, or those of the ones named that have it."""
    shape = shape_of(input)
    named = range(len(shape)) if dim is None else (dim,) if isinstance(dim, int) else dim
    dropped = {axis_of(input, axis) for axis in named if shape}
    return reshape(input, [d for axis, d in enumerate(shape) if axis not in dropped or d - 1])


@torch_op("aten::squeeze.dims")
def squeeze_axes(input: Tensor, dim: Ints) -> Tensor:
    return squeeze(input, dim)


@torch_op("torch.unsqueeze", "Tensor.unsqueeze")
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    shape = shape_of(input)
    axis = normalize_axis(dim, len(shape) + 1)
    return reshape(input, (*shape[:axis], 1, *shape[axis:]))


@torch_op("torch.transpose", "Tensor.transpose")
def transpose_(input: Tensor, dim0: int, dim1: int) -> Tensor:
    if not rank_of(input):
        return input
    return swap(input, axis_of(input, dim0), axis_of(input, dim1))


@torch_op("torch.t", "Tensor.t")
def t(input: Tensor) -> Tensor:
    if rank_of(input) > 2:
        raise Invalid(f"has an input of rank {rank_of(input)}, must be at most 2")
    return transpose(input, range(rank_of(input))[::-1])


@torch_op("Tensor.permute", "torch.permute")
def permute(input: Tensor, dims: Ints | None = None) -> Tensor:
    order = [axis_of(input, axis) for axis in dims or ()]
    if sorted(order) != list(range(rank_of(input))):
        raise Invalid(f"has dims {dims}, must name each of {rank_of(input)} axes once")
    return transpose(input, order)


@torch_op("Tensor.expand", "Tensor.broadcast_to", "torch.broadcast_to", renamed={"size": "sizes"})
def expand_(input: Tensor, sizes: Ints | None = None) -> Tensor:
    """Broadcast to sizes; -1 keeps what the axis has."""
    wanted, shape = sizes or (), shape_of(input)
    new = len(wanted) - len(shape)
    if new < 0 or -1 in wanted[:new]:
        raise Invalid(f"has sizes {wanted}, which a tensor of rank {len(shape)} does not expand to")
    kept = (*[1] * new, *shape)
    full = [have if want == -1 else want for have, want in zip(kept, wanted, strict=True)]
    return expand(input, full)


@torch_op("Tensor.expand_as")
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    return expand(input, shape_of(other))


@torch_op("Tensor.repeat", renamed={"repeats": "sizes"})
def repeat(input: Tensor, sizes: Ints) -> Tensor:
    if len(sizes) < rank_of(input):
        raise Invalid(f"has sizes {sizes}, must have {rank_of(input)} or more")
    return _tiled(input, sizes)


@torch_op("torch.tile", "Tensor.tile")
def tile(input: Tensor, dims: Ints) -> Tensor:
    return _tiled(input, (*[1] * (rank_of(input) - len(dims)), *dims))


def _tiled(x: Tensor, repeats: Ints) -> Tensor:
    """Repeat along all axes, new ones in front included."""
    new = len(repeats) - rank_of(x)
    pairs = zip(shape_of(x), repeats[new:], strict=True)
    if all(times == 1 or size == 1 for size, times in pairs):
        sizes = [size * n for size, n in zip(shape_of(x), repeats[new:], strict=True)]
        return expand(x, (*repeats[:new], *sizes))
    x = reshape(x, (*[1] * new, *shape_of(x)))
    if isinstance(x, Complex):
        return Complex(tri.Tile.build(parts(x), repeats=(*repeats, 1)).y)
    return tri.Tile.build(x, repeats=repeats).y


@torch_op("torch.broadcast_tensors")
def broadcast_tensors(*tensors: Tensor) -> tuple[Tensor, ...]:
    shape = broadcast(*(shape_of(x) for x in tensors))
    return tuple(expand(x, shape) for x in tensors)


@torch_op("Tensor.size")
def size(input: Tensor, dim: int | None = None) -> list[int] | tuple[int]:
    shape = shape_of(input)
    return list(shape) if dim is None else (shape[normalize_axis(dim, len(shape))],)
