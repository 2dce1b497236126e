"""Convolutions of small groups, above all of one channel each: tap by tap, without `tile.dot`."""

import math
from collections.abc import Callable, Sequence
from itertools import product

from ....dialects.core.sizes.substitution import likely
from ...kernels.arithmetic import compute_dtype
from ..schedule.candidates import direct_settings
from ..schedule.product_blocks import direct_blocks
from .builder import KernelBuilder
from .contraction import Finish
from .coordinates import Axis, Coordinates
from .depth import unravel
from .epilogue import Epilogue
from .loop import loop
from .value import Value, scalar, zeros
from .windows import Kernels, Windows

UNROLLED = 9
"""Up to so many taps are written out one by one."""

Add = Callable[[Value, Sequence[Value]], Value]
"""Add the product at a channel and a tap."""


def emit_direct(
    kernel: KernelBuilder, windows: Windows, kernels: Kernels, epilogue: Epilogue, finish: Finish
) -> None:
    """Compute blocks of pixels and outputs of all groups; `epilogue` has [N, G, O, spatial…]."""
    _, groups, outputs, *_ = epilogue.shape
    pixel_dims = tuple(dim if dim == 0 else dim + 2 for dim in windows.order)
    pixels = math.prod(windows.outputs)
    nearest = epilogue.order[-1] in (1, 2)
    blocks = direct_blocks(likely(pixels), likely(groups * outputs), nearest)
    rows = kernel.axis(pixels, "BM", blocks.rows, name="pixels").expand(1)
    columns = kernel.axis(groups * outputs, "BN", blocks.columns, name="outputs").expand(0)
    kernel.warps, kernel.stages = blocks.warps, blocks.stages
    kernel.candidates = direct_settings(blocks)
    group, output = unravel(columns, (groups, outputs))
    image, *places = windows.places(rows)
    dtype = compute_dtype(epilogue.tensor.dtype)

    def add(total: Value, at: Sequence[Value]) -> Value:
        channel, *taps = at
        seen = zip(windows.input_indices, places, taps, strict=True)
        inputs = [reach(place, tap) for reach, place, tap in seen]
        x = windows.buffer.load_raw([image, group, channel, *inputs], whole=True)
        w = kernels.buffer.load_raw([group, output, *at], whole=True)
        return total + x.cast(dtype) * w.cast(dtype)

    total = zeros(dtype, "BM", "BN").named("acc")
    total = _walk(kernels.buffer.shape[2:], total, add)
    at = Coordinates(epilogue.shape, (Axis(pixel_dims, rows), Axis((1, 2), columns)))
    epilogue.store(finish(total, at), at)


def _walk(depth: Sequence[int], total: Value, add: Add) -> Value:
    """Add up channels and taps: the inner ones written out, a loop over the outer ones."""
    inner = len(depth)
    while inner and math.prod(depth[inner - 1 :]) <= UNROLLED:
        inner -= 1
    outer, unrolled = tuple(depth[:inner]), tuple(depth[inner:])

    def body(index: Value, carried: Value) -> Value:
        first = unravel(index, outer)
        for rest in product(*map(range, unrolled)):
            carried = add(carried, [*first, *map(scalar, rest)])
        return carried

    if not outer:
        return body(scalar(0), total)
    (total,) = loop(0, math.prod(outer), 1, [total], body)
    return total
