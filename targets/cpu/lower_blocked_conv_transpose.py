"""Lowering of transposed convolution of blocked images: one convolution for each phase."""

import math
from collections.abc import Sequence

from ...dialects import cpu
from .buffer import Buffer, Lanes
from .contraction import Contraction
from .index import Index, unravel
from .kernel import KernelBuilder
from .lower_blocked import ImageReader
from .number import Number, compute_dtype
from .panels import StoredPanel
from .parallel import each
from .registry import template
from .sink import Sink
from .tiles import fit_tile


@template(cpu.BlockedConvTranspose)
def lower_blocked_conv_transpose(
    op: cpu.BlockedConvTranspose,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    b: Buffer | None,
    y: Sink,
) -> None:
    lanes, ones = y.shape[-1], (1,) * len(op.kernel)
    counts = tuple(size // stride for size, stride in zip(op.sizes, op.strides, strict=True))
    pixels, phases = math.prod(counts), math.prod(op.strides)
    dtype = compute_dtype(x.dtype)
    tile = fit_tile(kernel.machine, dtype, pixels, w.shape[2], op.rows, lanes)
    panels = w.reshape((phases, w.shape[0] // phases, *w.shape[1:]))

    def one(at: list[Index]) -> None:
        number, flat = at
        phase = unravel(flat, op.strides)
        seen = _moved(
            x,
            [
                (p + crop) // stride
                for p, crop, stride in zip(phase, op.crops, op.strides, strict=True)
            ],
        )
        image = ImageReader(seen, counts, op.kernel, ones, ones)

        def finish(pixel: Index, output: Index, total: Number, taken: Lanes) -> None:
            biased = total if b is None else total + b.load([output], taken)
            place = [
                m * stride + p
                for m, stride, p in zip(unravel(pixel, counts), op.strides, phase, strict=True)
            ]
            y.store(biased, [number, output // lanes, *place, output % lanes], taken)

        Contraction(
            pixels,
            op.outputs,
            image.depth,
            dtype,
            image.left(number, Index(0)),
            StoredPanel(panels.part([flat]), image.depth, tile),
            finish,
            unit=counts[-1],
        ).emit(tile)

    each((x.shape[0], phases), one)


def _moved(x: Buffer, starts: Sequence[Index]) -> Buffer:
    """View a blocked image from some pixel on."""
    origin = x.position([Index(0), Index(0), *starts, Index(0)])
    return Buffer(x.memory, x.tensor, x.strides, origin)
