"""Write layers to measure as ONNX files: of bytes, of f32 and of bf16, of the same sizes.

python docs/demo/layers.py FOLDER

Weights are random, which changes no time. A file of f32 whose name ends in `direct` has taps that
lie two apart: as much work, which Winograd's method does not do.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

RANDOM = np.random.default_rng(0)

PRODUCTS = ((512, 512, 512), (128, 768, 768), (1024, 1024, 1024))
"""Matrix products: rows, depth, columns."""

CONVOLUTIONS = (
    *((256, 256, 28, 3, 1), (1024, 256, 14, 1, 1), (64, 64, 56, 3, 1)),
    *((512, 512, 7, 3, 1), (512, 1024, 28, 1, 2), (64, 256, 56, 1, 1), (3, 64, 224, 7, 2)),
)
"""Convolutions: channels, outputs, size of the image, size of the window, stride."""


def model(
    node: onnx.NodeProto, x: tuple[int, ...], y: tuple[int, ...], kinds: tuple[int, int], **weights
) -> onnx.ModelProto:
    """Make a model of one node, whose first input is not a weight."""
    graph = helper.make_graph(
        [node],
        "layer",
        [helper.make_tensor_value_info("x", kinds[0], x)],
        [helper.make_tensor_value_info("y", kinds[1], y)],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in weights.items()],
    )
    return helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])


def whole(*shape: int) -> np.ndarray:
    return RANDOM.integers(-128, 128, shape).astype(np.int8)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape, np.float32)


def products(rows: int, depth: int, columns: int) -> dict[str, onnx.ModelProto]:
    """Make a product of bytes that stays as wide as its sums, one of f32 and one of bf16."""
    x, y = (rows, depth), (rows, columns)
    byte = helper.make_node("MatMulInteger", ["x", "w", "zero"], ["y"])
    single = helper.make_node("MatMul", ["x", "w"], ["y"])
    kinds = TensorProto.UINT8, TensorProto.INT32
    weights = {"w": whole(depth, columns), "zero": np.uint8(120)}
    floats, halves = (TensorProto.FLOAT,) * 2, (TensorProto.BFLOAT16,) * 2
    half = normal(depth, columns).astype(ml_dtypes.bfloat16)
    name = f"product-{rows}-{depth}-{columns}"
    return {
        f"{name}-i8": model(byte, x, y, kinds, **weights),
        f"{name}-f32": model(single, x, y, floats, w=normal(depth, columns)),
        f"{name}-bf16": model(single, x, y, halves, w=half),
    }


def convolutions(
    channels: int, outputs: int, size: int, taps: int, stride: int
) -> dict[str, onnx.ModelProto]:
    """Make a convolution that is quantised again, one of f32, and a direct one if that differs."""
    around = taps // 2
    made = (size + 2 * around - taps) // stride + 1
    x, y = (1, channels, size, size), (1, outputs, made, made)
    shape = (outputs, channels, taps, taps)
    scales = {"xs": np.float32(0.02), "ys": np.float32(0.5)}
    scales |= {"ws": RANDOM.uniform(0.001, 0.01, outputs).astype(np.float32)}
    zeros = {"xz": np.uint8(120), "wz": np.zeros(outputs, np.int8), "yz": np.uint8(100)}
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    window = {"strides": [stride, stride]}
    near, apart = (window | {"pads": [around * step] * 4} for step in (1, 2))
    byte = helper.make_node("QLinearConv", names, ["y"], **near)
    single = helper.make_node("Conv", ["x", "w"], ["y"], **near)
    kinds, floats = (TensorProto.UINT8,) * 2, (TensorProto.FLOAT,) * 2
    name = f"conv-{taps}x{taps}-{channels}-{outputs}-{size}"
    models = {
        f"{name}-i8": model(byte, x, y, kinds, w=whole(*shape), **scales, **zeros),
        f"{name}-f32": model(single, x, y, floats, w=normal(*shape)),
    }
    if (taps, stride) == (3, 1):
        direct = helper.make_node("Conv", ["x", "w"], ["y"], dilations=[2, 2], **apart)
        models[f"{name}-f32-direct"] = model(direct, x, y, floats, w=normal(*shape))
    return models


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made = {}
    for sizes in PRODUCTS:
        made |= products(*sizes)
    for sizes in CONVOLUTIONS:
        made |= convolutions(*sizes)
    for name, layer in made.items():
        onnx.checker.check_model(layer)
        onnx.save(layer, folder / f"{name}.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
