"""The reshape engine: it contracts channels to pixels, which completes a deconvolution.

Its other modes, split and merge, copy between surfaces and planes, and compute nothing.
"""

import numpy as np
import numpy.typing as npt

from ..format.operations import RubikOperation

CONTRACT, SPLIT, MERGE = range(3)


def unsupported(operation: RubikOperation) -> str | None:
    """Explain what of an operation is not computed here, None if all is."""
    return f"mode {operation.mode}" if operation.mode > MERGE else None


def channels_read(operation: RubikOperation, channels: int, atom: int) -> int:
    """Return how many channels a contraction to some reads, even if its cube states fewer."""
    return -(-channels // atom) * atom * operation.stride_y * operation.stride_x


def contract(
    image: npt.NDArray[np.generic], operation: RubikOperation, channels: int, atom: int
) -> npt.NDArray[np.generic]:
    """Return the image [channels, H * stride_y, W * stride_x] of an image [C, H, W].

    The input has, for each row and then column of a stride, the channels in whole atoms of `atom`
    channels. Raises ValueError for an input of another number of atoms.
    """
    stride_y, stride_x = operation.stride_y, operation.stride_x
    group = -(-channels // atom) * atom
    needed = channels_read(operation, channels, atom)
    if -(-len(image) // atom) * atom != needed:
        raise ValueError(f"has {len(image)} channels of input, must be {needed}")
    padded = np.pad(image, ((0, needed - len(image)), (0, 0), (0, 0)))
    height, width = image.shape[1:]
    pixels = padded.reshape(stride_y, stride_x, group, height, width).transpose(2, 3, 0, 4, 1)
    return pixels.reshape(group, height * stride_y, width * stride_x)[:channels]
