"""Lowering of transposed convolution of blocked images: one convolution for each phase."""

import math
from collections.abc import Sequence

from .....dialects import cpu
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, unravel
from ...kernels.products.contraction import Contraction, emit_each
from ...kernels.products.panels import StoredPanel
from ...kernels.value import Value
from ...kernels.widened import widened
from ...registry import IMAGES, template
from ...schedule.tiles import fit_tile
from .blocked import ImageReader


@template(cpu.BlockedConvTranspose, types=IMAGES)
def lower_blocked_conv_transpose(
    op: cpu.BlockedConvTranspose,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    b: Buffer | None,
    y: Epilogue,
) -> None:
    lanes, ones = y.shape[-1], (1,) * len(op.kernel)
    counts = tuple(size // stride for size, stride in zip(op.sizes, op.strides, strict=True))
    pixels, phases = math.prod(counts), math.prod(op.strides)
    dtype = compute_dtype(x.dtype)
    tile = fit_tile(kernel.machine, dtype, pixels, w.shape[2], op.rows, lanes)
    panels = w.reshape((phases, w.shape[0] // phases, *w.shape[1:]))
    wide = widened(kernel, x)

    def one(at: list[IndexExpr]) -> Contraction:
        number, flat = at
        phase = unravel(flat, op.strides)
        seen = _moved(
            wide,
            [
                (p + crop) // stride
                for p, crop, stride in zip(phase, op.crops, op.strides, strict=True)
            ],
        )
        image = ImageReader(seen, counts, op.kernel, ones, ones)

        def finish(pixel: IndexExpr, output: IndexExpr, total: Value, taken: Lanes) -> None:
            biased = total if b is None else total + b.load([output], taken)
            place = [
                m * stride + p
                for m, stride, p in zip(unravel(pixel, counts), op.strides, phase, strict=True)
            ]
            y.store(biased, [number, output // lanes, *place, output % lanes], taken)

        return Contraction(
            pixels,
            op.outputs,
            image.depth,
            dtype,
            image.left(number, IndexExpr(0)),
            StoredPanel(panels.part([flat]), image.depth, tile),
            finish,
            unit=counts[-1],
        )

    emit_each((x.shape[0], phases), one, tile)


def _moved(x: Buffer, starts: Sequence[IndexExpr]) -> Buffer:
    """View a blocked image from some pixel on."""
    origin = x.position([IndexExpr(0), IndexExpr(0), *starts, IndexExpr(0)])
    return Buffer(x.memory, x.tensor, x.strides, origin)
