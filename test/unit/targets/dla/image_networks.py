"""ResNet-18 and MobileNetV2 as their papers have them, with random weights."""

import numpy as np
from models import Net

IMAGE = (1, 3, 224, 224)
CLASSES = 1000

RESNET_18 = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Stages of two blocks: channels, and the stride of the first block."""

MOBILENET_V2 = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Stages: expansion, channels, blocks, stride of the first block."""


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


def clipped(net: Net, x: str) -> str:
    bounds = [net.weight(np.array(bound, np.float32)) for bound in (0, 6)]
    return net.op("Clip", x, *bounds)


def classified(net: Net, x: str, channels: int) -> str:
    vector = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.op("Gemm", vector, net.drawn(CLASSES, channels), net.drawn(CLASSES), transB=1)
