"""Images of few channels as lines of numbers: words of neighbouring pixels.

Three channels of bf16 are two words of a pixel, a quarter of it filling. Where the channels of
a pixel follow one another, and those of the next pixel follow them, a line of a window is one run
of numbers, and only its last word has filling.

    tri.pad %x, tri.transpose   =>   [N, 1, lines, words of a line, numbers of a word]
"""

from dataclasses import dataclass
from typing import Any

from ....dialects import cpu, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.tensor import Array, Shape
from ....dialects.cpu.vnni import pack_vnni

Dots = cpu.DotConv | cpu.DotPanelConv


@dataclass(frozen=True)
class JoinedPixels:
    """Describe a convolution of such lines, which are blocked images of one block.

    `pads` are the begins and the ends of the axes of the plain image; `kernel` and `strides` count
    words along a line.
    """

    channels: int
    count: int
    pads: Shape
    kernel: Shape
    strides: Shape

    @staticmethod
    def of(op: Dots, count: int) -> "JoinedPixels | None":
        """Return how a convolution reads words of `count` numbers; None if it cannot."""
        x, y = tensor_of(op.x.type), tensor_of(op.y.type)
        if x.rank != 4 or not x.is_static or op.dilations[-1] != 1:
            return None
        channels, step = x.shape[1], op.strides[-1] * x.shape[1]
        if channels % count == 0 or step % count:
            return None
        words = -(-op.kernel[-1] * channels // count)
        width = -(-((y.shape[3] - 1) * step + words * count) // channels)
        while width * channels % count:
            width += 1
        after = width - x.shape[3] - op.pads[1]
        windows = (width * channels - words * count) // step + 1
        if after < 0 or windows != y.shape[3]:
            return None
        return JoinedPixels(
            channels,
            count,
            (*op.pads[:3], after),
            (*op.kernel[:-1], words),
            (*op.strides[:-1], step // count),
        )

    def build_image(self, x: ir.Value, padding: float) -> ir.Value:
        """Build the lines of an image."""
        top, left, bottom, right = self.pads
        if any(self.pads):
            whole = (0, 0, top, left, 0, 0, bottom, right)
            x = tri.Pad.build(x, pads=whole, value=padding).y
        turned = tri.Transpose.build(x, permutation=(0, 2, 3, 1)).y
        batch, height, width, channels = tensor_of(turned.type).shape
        words = width * channels // self.count
        return tri.Reshape.build(turned, shape=(batch, 1, height, words, self.count)).y

    def words(self, kernels: Array) -> Array:
        """Return kernels, [outputs, channels, height, width], as words: [outputs, 1, taps…]."""
        lines = kernels.transpose(0, 2, 3, 1).reshape(len(kernels), self.kernel[0], -1)
        return pack_vnni(lines, -1)[:, None]

    @property
    def window(self) -> dict[str, Any]:
        """The attributes of the convolution of the lines."""
        return {"kernel": self.kernel, "strides": self.strides, "pads": (0,) * 4, "padding": 0}
