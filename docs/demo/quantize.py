"""Quantise networks of images to bytes, as ONNX Runtime's tools do.

python docs/demo/quantize.py FROM TO [NAME ...]

Reads FROM/NAME.onnx, resnet_50 and mobilenet_v2 by default, which networks.py writes. Ranges of
values are those that two random images give; weights have a scale for each channel.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
from networks import IMAGE
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

NAMES = ("resnet_50", "mobilenet_v2")
IMAGES = 2


class RandomImages(CalibrationDataReader):
    """Hand out random images, each once."""

    def __init__(self, network: Path) -> None:
        (image, *_) = onnx.load(network).graph.input
        random = np.random.default_rng(0)
        images = [random.standard_normal(IMAGE, np.float32) for _ in range(IMAGES)]
        self.feeds = iter([{image.name: pixels} for pixels in images])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def main(source: Path, target: Path, names: Sequence[str] = NAMES) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        quantize_static(
            source / f"{name}.onnx",
            target / f"{name}.onnx",
            RandomImages(source / f"{name}.onnx"),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    folders = [Path(argument) for argument in sys.argv[1:3]]
    main(folders[0], folders[1], sys.argv[3:] or NAMES)
