"""Lowering of convolution with vectors across outputs."""

import math
from collections.abc import Sequence

from .....dialects import cpu
from .....dialects.core.sizes.limits import at_least
from .....dialects.core.tensor import DTYPES, Shape
from ....element_types import NUMBERS, PACKED, ElementTypes
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import LINE, Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr
from ...kernels.loops import each_of
from ...kernels.products.contraction import Contraction, Left, Multiply, multiply_add
from ...kernels.products.panels import StoredPanel
from ...kernels.value import Value
from ...kernels.windows import Axis, inside_image, seen_sizes, window_axes
from ...registry import template
from ...schedule.tiles import fit_tile
from .pixels import read_pixels, read_windows


@template(cpu.PanelConv, types=ElementTypes(NUMBERS, layouts={"w": PACKED}))
def lower_panel_conv(
    op: cpu.PanelConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    begins = op.pads[: len(op.strides)]
    axes = window_axes(x.shape[2:], y.shape[2:], op.kernel, op.strides, begins, op.dilations)
    emit_panel_convolution(kernel, x, w, op.kernel, b, y, axes, most=op.rows)


def emit_panel_convolution(
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    taps: Shape,
    b: Buffer | None,
    y: Epilogue,
    axes: Sequence[Axis],
    sums: str | None = None,
    multiply: Multiply = multiply_add,
    most: int = 0,
) -> None:
    """Multiply windows by panels of outputs; the results are stored by pixels, then transposed.

    `sums` is the element type of the sums of `multiply`, that of `x` by default; `most` is the
    greatest number of pixels of a tile, 0 for any.
    """
    batch, outputs, *spatial = y.shape
    pixels, dtype = math.prod(spatial), sums or compute_dtype(x.dtype)
    tile = fit_tile(kernel.machine, dtype, pixels, w.shape[2], most)
    moved = any(axis.padded or axis.stride != 1 for axis in axes)
    pointwise = math.prod(taps) == 1 and not moved
    # Channels go round fastest: one long loop, of which the compiler unrolls nothing.
    depth = (*taps, x.shape[1])
    made = _pixel_rows(kernel, (batch, pixels, outputs), dtype)

    def image(n: IndexExpr) -> None:
        out = made.part([n])

        def finish(pixel: IndexExpr, output: IndexExpr, value: Value, lanes: Lanes) -> None:
            biased = value if b is None else value + b.load([output], lanes)
            out.store(biased, [pixel, output], lanes)

        left = _left(kernel, x.part([n]), taps, axes, y, pointwise)
        Contraction(
            pixels,
            outputs,
            depth,
            dtype,
            left,
            StoredPanel(w, depth, tile),
            finish,
            unit=1 if pointwise else spatial[-1],
            multiply=multiply,
        ).emit(tile)

    each_of(batch, image)
    y.reshape((batch, outputs, pixels)).emit_copy(made.transpose((0, 2, 1)))


def _pixel_rows(kernel: KernelBuilder, shape: tuple[int, int, int], dtype: str) -> Buffer:
    """Allocate results in padded rows, whose distance is no power of two."""
    batch, pixels, outputs = shape
    whole = kernel.scratch((batch, pixels, outputs + LINE * 8 // DTYPES[dtype].bits), dtype)
    return whole.slice([0, 0, 0], shape, [1, 1, 1])


def _left(
    kernel: KernelBuilder,
    image: Buffer,
    taps: Shape,
    axes: Sequence[Axis],
    y: Epilogue,
    pointwise: bool,
) -> Left:
    """Read pixels where each window is one pixel, else windows of the padded image."""
    padded = _padded(kernel, image, taps, axes, y)
    if pointwise:
        return read_pixels(padded.reshape((padded.shape[0], math.prod(padded.shape[1:]))))
    return read_windows(lambda channel, at: padded.load([*channel, *at]), y.shape[2:], axes)


def _padded(
    kernel: KernelBuilder, image: Buffer, taps: Shape, axes: Sequence[Axis], y: Epilogue
) -> Buffer:
    """Return an image with the padding that windows read, in the type of the products.

    The image is copied only if it has padding or another type: f16 and bf16 are converted once,
    not at each read.
    """
    dtype = compute_dtype(image.dtype)
    if image.dtype == dtype and not any(axis.padded for axis in axes):
        return image
    shape = (image.shape[0], *seen_sizes(y.shape[2:], taps, axes))
    # Iterations over a batch pad one image each; a single image is padded by all threads.
    memory = kernel.scratch if at_least(1, y.shape[0]) else kernel.private
    copy = memory(shape, dtype)
    width = kernel.lanes(dtype)

    def move(at: list[IndexExpr], lanes: Lanes | None) -> None:
        taken = lanes or Lanes(1)
        places = [i - axis.begin for i, axis in zip(at[1:], axes, strict=True)]
        mask = inside_image(places, axes, taken)
        copy.store(image.load([at[0], *places], Lanes(taken.width, mask)), at, taken)

    each_vector(copy.shape, width, move)
    return copy
