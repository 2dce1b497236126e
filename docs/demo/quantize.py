"""Quantise networks of images to bytes, as ONNX Runtime's tools do.

python docs/demo/quantize.py FROM TO

Reads resnet_50.onnx and mobilenet_v2.onnx, which networks.py writes. Ranges of values are those
that two random images give; weights have a scale for each channel.
"""

import sys
from pathlib import Path

import numpy as np
from networks import IMAGE
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

NAMES = ("resnet_50", "mobilenet_v2")
IMAGES = 2


class RandomImages(CalibrationDataReader):
    """Hand out random images, each once."""

    def __init__(self) -> None:
        random = np.random.default_rng(0)
        images = [random.standard_normal(IMAGE, np.float32) for _ in range(IMAGES)]
        self.feeds = iter([{"image": image} for image in images])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def main(source: Path, target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        quantize_static(
            source / f"{name}.onnx",
            target / f"{name}.onnx",
            RandomImages(),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
