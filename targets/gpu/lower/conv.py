"""Lowerings of convolution: implicit matrix products of windows by kernels."""

from collections.abc import Sequence

from ....dialects import tri
from ...element_types import NUMBERS, ElementTypes
from ..kernels.buffer import Buffer
from ..kernels.builder import KernelBuilder
from ..kernels.convolution import Convolution
from ..kernels.epilogue import Epilogue
from ..kernels.factor import as_stored
from ..kernels.windows import ConvolutionIndex, InputIndex, Kernels, TransposedIndex, Windows
from ..registry import template


@template(tri.Conv, types=ElementTypes(NUMBERS))
def lower_conv(
    op: tri.Conv, kernel: KernelBuilder, x: Buffer, w: Buffer, b: Buffer | None, y: Epilogue
) -> None:
    x, w = as_stored(x, w)
    input_indices = [ConvolutionIndex(*step) for step in _steps(op)]
    kernels = Kernels(w.split((op.group, w.shape[0] // op.group, *w.shape[1:])))
    Convolution(_windows(x, y, op.group, input_indices), kernels, b, y).emit(kernel)


@template(tri.ConvTranspose, types=ElementTypes(NUMBERS))
def lower_conv_transpose(
    op: tri.ConvTranspose,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    b: Buffer | None,
    y: Epilogue,
) -> None:
    """Gather, for every output, the inputs that spread to it."""
    x, w = as_stored(x, w)
    input_indices = [TransposedIndex(*step) for step in _steps(op)]
    split = w.split((op.group, w.shape[0] // op.group, *w.shape[1:]))
    kernels = Kernels(split.transpose((0, 2, 1, *range(3, len(split.shape)))))
    Convolution(_windows(x, y, op.group, input_indices), kernels, b, y).emit(kernel)


def _steps(op: tri.Conv | tri.ConvTranspose) -> list[tuple[int, int, int]]:
    """Return the stride, the padding before the first input and the dilation along each axis."""
    begins = op.pads[: len(op.strides)]
    return list(zip(op.strides, begins, op.dilations, strict=True))


def _windows(x: Buffer, y: Epilogue, group: int, input_indices: Sequence[InputIndex]) -> Windows:
    images = x.split((x.shape[0], group, x.shape[1] // group, *x.shape[2:]))
    outputs = (y.shape[0], *y.shape[2:])
    order = tuple(max(dim - 1, 0) for dim in y.order if dim != 1)
    return Windows(images, outputs, order, input_indices)
