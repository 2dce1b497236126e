"""The convolution core with fp16: sums of products in the order of the hardware, in 48 bits."""

import numpy as np
import numpy.typing as npt

from ..format.operations import ConvOperation
from .accumulator import Accumulator
from .floats import bits_of, float32_of
from .mac import sums_of_products


def convolve_fp16(
    image: npt.NDArray[np.generic],
    weights: npt.NDArray[np.generic],
    operation: ConvOperation,
    block: int,
) -> npt.NDArray[np.float32]:
    """Return the results [K, H', W'], float32, of an image [C, H, W] and weights [K, C, R, S].

    A sum has the products of a `block` of channels at one place of the kernel; sums are added for
    each block, place by place, row by row.
    """
    pads = (
        (0, 0),
        (operation.pad_top, operation.pad_bottom),
        (operation.pad_left, operation.pad_right),
    )
    padded = np.pad(bits_of(image), pads, constant_values=operation.pad_value & 0xFFFF)
    kernels = bits_of(weights)
    count, channels, kernel_height, kernel_width = weights.shape
    height, width = operation.height_cmac, operation.width_cmac
    total = Accumulator.zeros((count, height * width))
    for start in range(0, channels, block):
        part = slice(start, min(start + block, channels))
        for r in range(kernel_height):
            for s in range(kernel_width):
                y, x = r * operation.dilation_y, s * operation.dilation_x
                rows = slice(y, y + operation.stride_y * (height - 1) + 1, operation.stride_y)
                columns = slice(x, x + operation.stride_x * (width - 1) + 1, operation.stride_x)
                data = padded[part, rows, columns].reshape(part.stop - start, -1)
                total = total.plus(sums_of_products(kernels[:, part, r, s], data))
    return float32_of(total.to_fp32()).reshape(count, height, width)
