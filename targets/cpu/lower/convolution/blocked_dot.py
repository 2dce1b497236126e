"""Convolution of bytes to a blocked image: vectors across outputs, words of pixels in all lanes."""

import math
from dataclasses import replace

from .....dialects import cpu
from .....dialects.core.tensor import DTYPES
from .....dialects.cpu.vnni import VNNI, products_of
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.products.contraction import Contraction, Left, emit_each
from ...kernels.products.dot import choose_dot
from ...kernels.products.panels import StoredPanel
from ...kernels.products.vnni import Words, flipped
from ...kernels.value import Value
from ...registry import BLOCKED_DOTS, template
from ...schedule.tiles import fit_tile
from .blocked import ImageReader, PixelSink
from .word_images import word_images

WORD_BYTES = DTYPES[VNNI].itemsize


@template(cpu.BlockedDotConv, types=BLOCKED_DOTS)
def lower_blocked_dot_conv(
    op: cpu.BlockedDotConv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer, y: Epilogue
) -> None:
    batch, _, *spatial, lanes = y.shape
    pixels, products = math.prod(spatial), products_of(x.tensor, op.signed)
    tile = fit_tile(kernel.machine, VNNI, pixels, w.shape[2], op.rows, lanes)
    epilogue = PixelSink(y)
    blocked = len(x.shape) == len(op.kernel) + 3
    images = Words.of(x) if blocked else word_images(op, kernel, x, tuple(spatial), 1)[0]
    image = ImageReader(images, tuple(spatial), op.kernel, op.strides, op.dilations)
    # Blocks may be shorter than the machine's vectors: dot products are of theirs.
    machine = replace(kernel.machine, vector_bytes=tile.lanes * WORD_BYTES)
    # Words that are packed for the kernel have the bytes that its instructions take.
    flips = blocked and products.offset != 0

    def one(at: list[IndexExpr]) -> Contraction:
        number, group = at

        def finish(pixel: IndexExpr, output: IndexExpr, total: Value, taken: Lanes) -> None:
            epilogue.store(total, number, output, pixel, taken)

        left = image.left(number, group)
        return Contraction(
            pixels,
            op.outputs,
            image.depth,
            products.sums,
            _flipping(left) if flips else left,
            StoredPanel(w, image.depth, tile),
            finish,
            bias=lambda output, taken: b.load([output], taken),
            ahead=image.ahead(number, group),
            unit=1 if image.pointwise else spatial[-1],
            seen=image.seen(() if flips else op.border),
            multiply=choose_dot(machine, x.dtype, op.signed),
        )

    emit_each((batch, 1), one, tile)


def _flipping(left: Left) -> Left:
    return lambda rows, r, depth: flipped(left(rows, r, depth))
