"""Lowering of convolution with vectors across outputs, for maps of few pixels."""

import math
from collections.abc import Sequence

from ...dialects import cpu
from ...dialects.core.tensor import DTYPES
from .buffer import Buffer, Lanes
from .contraction import Contraction, Left, Rows, StoredPanel, fit_tile, splat
from .index import Index
from .kernel import KernelBuilder
from .lower_packed_matmul import LINE
from .number import Number, arith, compute_dtype
from .parallel import each_of
from .sink import Sink, each_vector
from .target import template
from .windows import Axis, inside_axis, lane_numbers, window_axes

MOST_TAPS = 9
"""Windows of so many taps are done without a loop; of larger ones, only a row of taps."""


@template(cpu.PanelConv)
def lower_panel_conv(
    op: cpu.PanelConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Sink
) -> None:
    """Multiply windows by panels of outputs; the results lie pixel by pixel, and are transposed."""
    batch, outputs, *spatial = y.shape
    pixels, dtype = math.prod(spatial), compute_dtype(x.dtype)
    tile = fit_tile(kernel.machine, dtype, pixels, w.shape[2])
    begins = op.pads[: len(op.strides)]
    axes = window_axes(x.shape[2:], y.shape[2:], op.kernel, op.strides, begins, op.dilations)
    moved = any(op.pads) or any(stride != 1 for stride in op.strides)
    pointwise = math.prod(op.kernel) == 1 and not moved
    depth = (x.shape[1], *op.kernel)
    loops = 1 if math.prod(op.kernel) <= MOST_TAPS else len(depth) - 1
    made = _pixel_rows(kernel, (batch, pixels, outputs), dtype)

    def image(n: Index) -> None:
        out = made.part([n])

        def finish(pixel: Index, output: Index, number: Number, lanes: Lanes) -> None:
            biased = number if b is None else number + b.load([output], lanes)
            out.store(biased, [pixel, output], lanes)

        left = _pixels(x.part([n])) if pointwise else _windows(kernel, x.part([n]), op, axes, y)
        Contraction(
            pixels,
            outputs,
            depth[:loops],
            dtype,
            left,
            StoredPanel(w, depth, tile),
            finish,
            unit=1 if pointwise else spatial[-1],
            taps=depth[loops:],
        ).emit(tile)

    each_of(batch, image)
    y.over((batch, outputs, pixels)).copy(made.transpose((0, 2, 1)))


def _pixel_rows(kernel: KernelBuilder, shape: tuple[int, int, int], dtype: str) -> Buffer:
    """Take memory for results, in rows that never lie a power of two apart."""
    batch, pixels, outputs = shape
    whole = kernel.scratch((batch, pixels, outputs + LINE * 8 // DTYPES[dtype].bits), dtype)
    return whole.slice([0, 0, 0], shape, [1, 1, 1])


def _pixels(image: Buffer) -> Left:
    matrix = image.reshape((image.shape[0], math.prod(image.shape[1:])))
    return lambda rows, r, depth: matrix.load([depth[0], rows.first + r])


def _windows(
    kernel: KernelBuilder, image: Buffer, op: cpu.PanelConv, axes: Sequence[Axis], y: Sink
) -> Left:
    """Read windows of an image that was padded; tiles are whole rows of outputs."""
    width = y.shape[-1]
    padded = _padded(kernel, image, op, axes, y)

    def left(rows: Rows, r: int, depth: Sequence[Index]) -> Number:
        channel, *tap = depth
        place = [rows.first // width + r // width, Index(r % width)][-len(axes) :]
        at = [
            p * axis.stride + t * axis.dilation for p, t, axis in zip(place, tap, axes, strict=True)
        ]
        return padded.load([channel, *at])

    return left


def _padded(
    kernel: KernelBuilder, image: Buffer, op: cpu.PanelConv, axes: Sequence[Axis], y: Sink
) -> Buffer:
    """Copy an image with as much of its padding as windows see, where they see any."""
    if not any(axis.padded for axis in axes):
        return image
    spatial = [
        (count - 1) * axis.stride + (taps - 1) * axis.dilation + 1
        for count, taps, axis in zip(y.shape[2:], op.kernel, axes, strict=True)
    ]
    shape = (image.shape[0], *spatial)
    # Iterations over a batch pad one image each; a single image is padded by all threads.
    memory = kernel.private if y.shape[0] > 1 else kernel.scratch
    copy = memory(shape, image.dtype)
    width = kernel.lanes(image.dtype)

    def move(at: list[Index], lanes: Lanes | None) -> None:
        taken = lanes or Lanes(1)
        places = [i - axis.begin for i, axis in zip(at[1:], axes, strict=True)]
        mask = inside_axis(places[-1], lane_numbers(taken.width), axes[-1])
        for place, axis in zip(places[:-1], axes[:-1], strict=True):
            inside = splat(place.within(0, axis.size), taken.width).value
            mask = arith.andi(mask, inside)
        if taken.mask is not None:
            mask = arith.andi(mask, taken.mask)
        copy.store(image.load([at[0], *places], Lanes(taken.width, mask)), at, taken)

    each_vector(copy.shape, width, move)
    return copy
