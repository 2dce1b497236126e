"""Networks for images as their papers have them, with random weights."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from trivium.dialects.core.tensor import Array
from trivium.test.unit.targets.dla.small_networks import Net

IMAGE = (1, 3, 224, 224)
CLASSES = 1000

RESNET_18 = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Stages of two blocks: channels, and the stride of the first block."""

MOBILENET_V2 = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Stages: expansion, channels, blocks, stride of the first block."""

MOBILENET_V1 = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)
"""Blocks: filters, and the stride of the depthwise convolution."""

SQUEEZENET = ((16, 64), (16, 64), (32, 128), (32, 128), (48, 192), (48, 192), (64, 256), (64, 256))
"""Blocks: filters that squeeze, and those of each of two that expand."""


def resnet_18(net: Net) -> str:
    """He et al., 2015."""
    x = net.op("Relu", net.conv("x", 3, 64, 7, strides=[2, 2]))
    x = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = 64
    for filters, first in RESNET_18:
        for block in range(2):
            stride = first if block == 0 else 1
            y = net.op("Relu", net.conv(x, channels, filters, 3, strides=[stride] * 2))
            y = net.conv(y, filters, filters, 3)
            if stride > 1:
                x = net.conv(x, channels, filters, 1, strides=[stride] * 2)
            x, channels = net.op("Relu", net.op("Add", y, x)), filters
    return classified(net, x, channels)


def mobilenet_v1(net: Net) -> str:
    """Howard et al., 2017, of width 1."""
    x, channels = net.op("Relu", net.conv("x", 3, 32, 3, strides=[2, 2])), 32
    for filters, stride in MOBILENET_V1:
        x = net.op("Relu", net.conv(x, channels, channels, 3, group=channels, strides=[stride] * 2))
        x, channels = net.op("Relu", net.conv(x, channels, filters, 1)), filters
    return classified(net, x, channels)


def mobilenet_v2(net: Net) -> str:
    """Sandler et al., 2018, of width 1."""
    x, channels = clipped(net, net.conv("x", 3, 32, 3, strides=[2, 2])), 32
    for expansion, filters, blocks, first in MOBILENET_V2:
        for block in range(blocks):
            stride, wide = first if block == 0 else 1, channels * expansion
            y = clipped(net, net.conv(x, channels, wide, 1)) if expansion > 1 else x
            y = clipped(net, net.conv(y, wide, wide, 3, group=wide, strides=[stride] * 2))
            y = net.conv(y, wide, filters, 1)
            x = net.op("Add", x, y) if block else y
            channels = filters
    return classified(net, clipped(net, net.conv(x, channels, 1280, 1)), 1280)


def squeezenet(net: Net) -> str:
    """Iandola et al., 2016, of version 1.1."""
    x, channels = net.op("Relu", net.conv("x", 3, 64, 3, strides=[2, 2], pads=[0] * 4)), 64
    x = pooled(net, x)
    for block, (few, many) in enumerate(SQUEEZENET):
        if block in (2, 4):
            x = pooled(net, x)
        x = net.op("Relu", net.conv(x, channels, few, 1))
        parts = [net.op("Relu", net.conv(x, few, many, size)) for size in (1, 3)]
        x, channels = net.op("Concat", *parts, axis=1), 2 * many
    x = net.op("Relu", net.conv(x, channels, CLASSES, 1))
    return net.op("Flatten", net.op("GlobalAveragePool", x))


def alexnet(net: Net) -> str:
    """Krizhevsky et al., 2012, with normalisations and groups of two; 227x227 gives 6x6 pixels."""
    x = normalized(net, net.op("Relu", net.conv("x", 3, 96, 11, strides=[4, 4], pads=[0] * 4)))
    x = normalized(net, net.op("Relu", net.conv(pooled(net, x), 96, 256, 5, group=2)))
    x = net.op("Relu", net.conv(pooled(net, x), 256, 384, 3))
    for filters in (384, 256):
        x = net.op("Relu", net.conv(x, 384, filters, 3, group=2))
    side = (net.shape[2] - 11) // 4 + 1
    for _ in range(3):
        side = (side - 3) // 2 + 1
    x = net.op("Flatten", pooled(net, x))
    x = net.op("Relu", net.dense(x, 256 * side * side, 4096))
    return net.dense(net.op("Relu", net.dense(x, 4096, 4096)), 4096, CLASSES)


def lenet(net: Net) -> str:
    """LeCun et al., 1998, as Caffe has it, for 28x28 pixels of one channel."""
    channels = 1
    x = "x"
    for filters in (20, 50):
        x = net.op("Relu", net.conv(x, channels, filters, 5, pads=[0] * 4))
        x, channels = pooled(net, x, 2), filters
    hidden = net.op("Relu", net.dense(net.op("Flatten", x), 50 * 16, 500))
    return net.op("Softmax", net.dense(hidden, 500, 10 * net.thin))


def pooled(net: Net, x: str, size: int = 3) -> str:
    return net.op("MaxPool", x, kernel_shape=[size] * 2, strides=[2, 2])


def normalized(net: Net, x: str) -> str:
    return net.op("LRN", x, size=5, alpha=1e-4, beta=0.75, bias=1.0)


def clipped(net: Net, x: str) -> str:
    bounds = [net.weight(np.array(bound, np.float32)) for bound in (0, 6)]
    return net.op("Clip", x, *bounds)


def classified(net: Net, x: str, channels: int) -> str:
    vector = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.dense(vector, channels, CLASSES)


@dataclass
class PictureNet(Net):
    """A network whose results differ from image to image: these differ, and biases are small."""

    gain: float = 2**0.5
    bias: float = 0.1

    def inputs(self, count: int = 1) -> Array:
        """Draw images that each have a colour, a contrast, and a few waves."""
        _, channels, rows, columns = self.shape
        y, x = np.mgrid[:rows, :columns] / max(rows, columns)
        drawn: list[Array] = []
        for _ in range(count):
            image = self.random.normal(size=(channels, 1, 1)) + np.zeros((1, rows, columns))
            for _ in range(4):
                across, down, phase = self.random.uniform(-20, 20, 3)
                waves = np.sin(across * x + down * y + phase)
                image = image + self.random.normal(size=(channels, 1, 1)) * waves
            drawn.append(image * self.random.uniform(0.3, 1))
        return np.asarray(drawn, np.float32)


CLASSIC: dict[str, tuple[Callable[[Net], str], tuple[int, ...]]] = {
    "lenet": (lenet, (1, 1, 28, 28)),
    "alexnet": (alexnet, (1, 3, 227, 227)),
    "squeezenet": (squeezenet, (1, 3, 227, 227)),
    "resnet_18": (resnet_18, IMAGE),
    "mobilenet_v1": (mobilenet_v1, IMAGE),
    "mobilenet_v2": (mobilenet_v2, IMAGE),
}
"""Networks by name, with the images that they take."""
