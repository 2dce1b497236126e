"""Images of VNNI words, which convolutions of bytes and bf16 pack of plain ones."""

from .....dialects.core.tensor import Shape
from .....dialects.cpu.dot import DotKernelConv
from .....dialects.cpu.vnni import products_of
from ...kernels.buffer import Buffer
from ...kernels.builder import KernelBuilder
from ...kernels.products.vnni import vnni_images
from ...kernels.windows import Axis, seen_sizes, window_axes


def word_images(
    op: DotKernelConv, kernel: KernelBuilder, x: Buffer, outputs: Shape, group: int
) -> tuple[Buffer, list[Axis]]:
    """Pack channels into VNNI words, padding included; return the words and their window axes.

    `outputs` are the sizes of the result.
    """
    begins = op.pads[: len(op.strides)]
    around = window_axes(x.shape[2:], outputs, op.kernel, op.strides, begins, op.dilations)
    sizes = seen_sizes(outputs, op.kernel, around)
    products = products_of(x.tensor, op.signed)
    images = vnni_images(kernel, x, group, sizes, around, op.padding, products)
    inside = (0,) * len(begins)
    return images, window_axes(sizes, outputs, op.kernel, op.strides, inside, op.dilations)
