"""Models that ONNX Runtime's quantisers write, against ONNX Runtime."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)
from trivium.dialects.core.tensor import Array
from trivium.test.unit.compiler.frontends.onnx.graphs import model, node

QDQ, OPERATORS = QuantFormat.QDQ, QuantFormat.QOperator
INT8, UINT8, INT4, UINT4 = QuantType.QInt8, QuantType.QUInt8, QuantType.QInt4, QuantType.QUInt4

Network = tuple[onnx.ModelProto, tuple[int, ...]]


class Samples(CalibrationDataReader):
    """Draw inputs of a model."""

    def __init__(self, shape: tuple[int, ...], seed: int) -> None:
        random = np.random.default_rng(seed)
        self.left = [{"x": random.normal(size=shape).astype(np.float32)} for _ in range(6)]

    def get_next(self) -> dict[str, Array] | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return self.left.pop() if self.left else None


def drawn(random: np.random.Generator, *shape: int) -> Array:
    depth = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
    return (random.normal(size=shape) / np.sqrt(depth)).astype(np.float32)


def layers(seed: int) -> Network:
    """Return products of drawn sizes, with a bias and an activation."""
    random = np.random.default_rng(seed)
    rows, *sizes = (int(n) for n in random.integers((2, 20, 20, 20), (9, 90, 90, 90)))
    parts = {
        "v": drawn(random, sizes[0], sizes[1]),
        "b": drawn(random, 1, sizes[1])[0],
        "w": drawn(random, sizes[1], sizes[2]),
    }
    nodes = [
        *(node("MatMul", "x v", "m"), node("Add", "m b", "a")),
        *(node("Relu", "a", "r"), node("MatMul", "r w")),
    ]
    shape = (rows, sizes[0])
    return model(nodes, {"x": shape}, initializers=parts), shape


def images(seed: int) -> Network:
    """Return convolutions of drawn sizes, plain, depthwise and of pixels, and a classifier."""
    random = np.random.default_rng(seed)
    channels, inner, outputs = (int(n) for n in random.integers((1, 4, 4), (5, 24, 40)))
    parts = {
        "k": drawn(random, inner, channels, 3, 3),
        "b": drawn(random, 1, inner)[0],
        "d": drawn(random, inner, 1, 3, 3),
        "p": drawn(random, outputs, inner, 1, 1),
        "w": drawn(random, outputs, 10),
        "c": drawn(random, 1, 10)[0],
    }
    nodes = [
        *(node("Conv", "x k b", "s", pads=[1] * 4), node("Relu", "s", "r")),
        node("Conv", "r d", "e", group=inner, strides=[2, 2]),
        *(node("Conv", "e p", "q"), node("Relu", "q", "u")),
        *(node("GlobalAveragePool", "u", "g"), node("Flatten", "g", "f")),
        node("Gemm", "f w c"),
    ]
    shape = (1, channels, 11, 13)
    return model(nodes, {"x": shape}, initializers=parts), shape


NETWORKS = {"layers": layers, "images": images}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """Do without the quantisers' advice."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def agree(path: Path, shape: tuple[int, ...], seed: int, *levels: int) -> None:
    """Compare outputs: a number in between may be the integer beside, which is a small error."""
    x = np.random.default_rng(seed + 1).normal(size=shape).astype(np.float32)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    (wanted,) = onnxruntime.InferenceSession(path, options).run(None, {"x": x})
    for level in (*levels, 2):
        got = trivium.compile(path, opt_level=level).run({"x": x})["y"]
        error = np.abs(got - wanted) / np.abs(wanted).max()
        assert error.max() < 0.03, f"level {level}"
        assert error.mean() < 2e-3, f"level {level}"


STATIC: list[dict[str, Any]] = [
    {"quant_format": QDQ, "weight_type": INT8, "activation_type": UINT8},
    {"quant_format": QDQ, "weight_type": INT8, "activation_type": INT8, "per_channel": True},
    {"quant_format": QDQ, "weight_type": UINT8, "activation_type": UINT8},
    {"quant_format": QDQ, "weight_type": INT4, "activation_type": UINT8},
    {"quant_format": QDQ, "weight_type": INT4, "activation_type": INT8, "per_channel": True},
    {"quant_format": QDQ, "weight_type": UINT4, "activation_type": UINT8},
    {"quant_format": OPERATORS, "weight_type": INT8, "activation_type": UINT8},
    {"quant_format": OPERATORS, "weight_type": INT8, "activation_type": UINT8, "per_channel": True},
]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("number", range(len(STATIC)))
def test_static_quantisation(name: str, number: int, tmp_path: Path) -> None:
    network, shape = NETWORKS[name](number)
    onnx.save(network, tmp_path / "float.onnx")
    path = tmp_path / "quantised.onnx"
    quantize_static(tmp_path / "float.onnx", path, Samples(shape, number), **STATIC[number])
    agree(path, shape, number, *((0,) if number in (3, 6) else ()))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("kind", [INT8, UINT8])
def test_dynamic_quantisation(
    name: str, per_channel: bool, kind: QuantType, tmp_path: Path
) -> None:
    network, shape = NETWORKS[name](20 + per_channel)
    onnx.save(network, tmp_path / "float.onnx")
    path = tmp_path / "quantised.onnx"
    quantize_dynamic(tmp_path / "float.onnx", path, per_channel=per_channel, weight_type=kind)
    agree(path, shape, 20)
