"""Rules for pooling to a given size: windows as even as they can be, which may overlap."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Undecided
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.sizes.checks import need, need_static
from .....dialects.core.tensor import Array, numpy_dtype
from ...core.values import constant, tensor
from ..registry import Value, torch_op
from ..spatial import batched
from ..views import Ints, move, reshape, take, transpose
from .pool import in_plane

Sizes = int | Ints | tuple[str, ...]
"""The sizes of the output; None, which PNNX writes as 0, keeps that of the input."""


MOST = 1 << 16
"""More windows along an axis than this are taken for a mistake."""


def _wanted(output_size: tuple[int | str | None, ...] | int, sizes: Ints) -> Ints:
    listed = (output_size,) * len(sizes) if isinstance(output_size, int) else output_size
    if len(listed) == 1:
        listed = listed * len(sizes)
    if len(listed) != len(sizes):
        raise Invalid(f"has output_size {output_size} for {len(sizes)} spatial axes")
    pairs = zip(listed, sizes, strict=True)
    wanted = tuple(size if want in (None, "None", 0) else _size(want) for want, size in pairs)
    fault = f"pools sizes {sizes} to {wanted}, must be from 1 to {MOST}"
    for size, want in zip(sizes, wanted, strict=True):
        need(size, 1, fault)
        if want != size:
            need(want, 1, fault)
            need(MOST, want, fault)
    return wanted


def _size(text: int | str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        raise Invalid(f"has '{text}' in output_size, must be an integer or None") from None


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Return where each of `count` windows over an axis begins and ends."""
    return [(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]


def _even(sizes: Ints, wanted: Ints) -> bool:
    return all(size % want == 0 for size, want in zip(sizes, wanted, strict=True))


def _options(sizes: Ints, wanted: Ints) -> dict[str, Any]:
    """Return the windows that split axes evenly."""
    kernel = tuple(size // want for size, want in zip(sizes, wanted, strict=True))
    zeros, ones = (0,) * (2 * len(kernel)), (1,) * len(kernel)
    return {"kernel": kernel, "strides": kernel, "pads": zeros, "dilations": ones}


def register_average(axes: int) -> None:
    @torch_op(f"nn.AdaptiveAvgPool{axes}d", f"F.adaptive_avg_pool{axes}d")
    def adaptive_average_pool(input: Value, *, output_size: Sizes) -> Value:
        x, drop = batched(input, axes)
        return drop(average_to(x, output_size))


def average_to(x: Value, output_size: tuple[int | str | None, ...] | int) -> Value:
    """Average [N, C, spatial…] to sizes; windows that are not even as a product with weights."""
    sizes = tensor(x).shape[2:]
    wanted = _wanted(output_size, sizes)
    if all(want == 1 for want in wanted):
        return tri.ReduceMean.build(x, axes=tuple(range(2, tensor(x).rank)), keepdims=True).y
    if _even(sizes, wanted):
        return tri.AveragePool.build(x, **_options(sizes, wanted)).y
    for axis, (size, want) in enumerate(zip(sizes, wanted, strict=True), 2):
        if size != want:
            need_static(size, f"axis that is pooled to {want} windows")
            weights = np.zeros((size, want), numpy_dtype(tensor(x).dtype))
            for window, (start, end) in enumerate(_bounds(size, want)):
                weights[start:end, window] = 1 / (end - start)
            last = tensor(x).rank - 1
            x = move(tri.MatMul.build(move(x, axis, last), constant(weights)).y, last, axis)
    return x


def register_max(axes: int) -> None:
    @torch_op(f"nn.AdaptiveMaxPool{axes}d", f"F.adaptive_max_pool{axes}d")
    def adaptive_max_pool(
        input: Value, *, output_size: Sizes, return_indices: bool = False
    ) -> Value | tuple[Value, Value]:
        x, drop = batched(input, axes)
        sizes = tensor(x).shape[2:]
        wanted = _wanted(output_size, sizes)
        if not return_indices and any(map(is_symbolic, sizes)):
            return drop(_greatest(x, wanted))
        if not return_indices and _even(sizes, wanted):
            return drop(tri.MaxPool.build(x, **_options(sizes, wanted)).y)
        if return_indices and _even(sizes, wanted):
            made = tri.MaxPoolIndices.build(x, **_options(sizes, wanted))
            return drop(made.y), drop(in_plane(made.indices, sizes))
        seen, places = _windows(x, wanted)
        y = tri.ReduceMax.build(seen, axes=(tensor(seen).rank - 1,), keepdims=False).y
        return (drop(y), drop(_indices(seen, places))) if return_indices else drop(y)


def _greatest(x: Value, wanted: Ints) -> Value:
    """Reduce axes whose size is not known to one window; the others keep their size."""
    sizes = tensor(x).shape[2:]
    if any(want not in (1, size) for size, want in zip(sizes, wanted, strict=True)):
        raise Undecided(f"pools {list(sizes)} to {list(wanted)}: bind the sizes that change")
    axes = [2 + i for i, (size, want) in enumerate(zip(sizes, wanted, strict=True)) if size != want]
    return tri.ReduceMax.build(x, axes=tuple(axes), keepdims=True).y if axes else x


def _taps(size: int, count: int) -> Array:
    """List what each window of an axis sees, the last element again where it sees fewer."""
    need_static(size, f"axis that is pooled to {count} windows")
    bounds = _bounds(size, count)
    longest = max(end - start for start, end in bounds)
    return np.array([[min(start + i, end - 1) for i in range(longest)] for start, end in bounds])


def _windows(x: Value, wanted: Ints) -> tuple[Value, Array]:
    """Return [N, C, windows…, taps], and the place in its plane of each tap: [windows…, taps]."""
    sizes = tensor(x).shape[2:]
    taps = [_taps(size, want) for size, want in zip(sizes, wanted, strict=True)]
    places: Array = np.zeros((), np.int64)
    for axis, (size, seen) in enumerate(zip(sizes, taps, strict=True)):
        x = take(x, seen, 2 + 2 * axis)
        places = places[..., None, None] * size + seen
    count = len(sizes)
    order = [*range(0, 2 * count, 2), *range(1, 2 * count, 2)]
    flat = (*wanted, math.prod(seen.shape[1] for seen in taps))
    x = transpose(x, (0, 1, *(2 + axis for axis in order)))
    return reshape(x, (*tensor(x).shape[:2], *flat)), places.transpose(order).reshape(flat)


def _indices(seen: Value, places: Array) -> Value:
    """Return the place of the first greatest tap of each window."""
    axis = tensor(seen).rank - 1
    best = tri.ArgMax.build(seen, axis=axis, keepdims=True).y
    table = tri.Expand.build(constant(places), shape=tensor(seen).shape).y
    found = tri.GatherElements.build(table, best, axis=axis).y
    return reshape(found, tensor(found).shape[:-1])


for _axes in (1, 2, 3):
    register_average(_axes)
    register_max(_axes)
