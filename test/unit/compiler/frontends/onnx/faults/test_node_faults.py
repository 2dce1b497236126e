"""What a node is told when it cannot be: each message of the rules, with the values in it."""

from typing import Any

import numpy as np
import onnx
import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node

X = {"x": [2, 3, 4]}

Fault = tuple[onnx.NodeProto, dict[str, Any], int, str]

FAULTS: list[Fault] = [
    (node("BitShift", "i i", direction="UP"), {}, 11, "has direction 'UP', must be LEFT or RIGHT"),
    (node("Constant", ""), {}, 13, "has 0 values, must have 1"),
    (node("EyeLike", "x"), {}, 9, "has an input of rank 3, must be 2"),
    (
        node("Range", "a b c"),
        {"a": 1, "b": 5, "c": 0},
        11,
        "counts from 1 to 5 in steps of 0, must be finite",
    ),
    (
        node("Range", "a b c"),
        {"a": 0.0, "b": np.inf, "c": 1.0},
        11,
        "counts from 0.0 to inf in steps of 1.0, must be finite",
    ),
    (
        node("Range", "a b c"),
        {"a": 0, "b": 10**12, "c": 1},
        11,
        "counts from 0 to 1000000000000 in steps of 1, must be at most 2147483648 elements",
    ),
    (
        node("Compress", "x c", axis=1),
        {"c": [True] * 4},
        11,
        "has a condition of shape [4] for 3 elements",
    ),
    (node("Trilu", "x k"), {"k": [1, 2]}, 14, "has 2 numbers, must have 1"),
    (node("ConstantOfShape", "s"), {"s": [2, -1]}, 9, "has shape [2, -1], must not be negative"),
    (
        node("Reshape", "x s"),
        {"s": [2.0, 12.0]},
        13,
        "has numbers of type float64, must be integers",
    ),
    (
        node("RandomUniform", "", shape=[2], low=1.0, high=1.0),
        {},
        1,
        "draws from 1.0 to 1.0, must be in this order",
    ),
    (
        node("Reshape", "x s"),
        {"s": [2, 3, 4, 0]},
        13,
        "takes size 3 from tensor<2x3x4xf32>, which has rank 3",
    ),
    (
        node("Reshape", "x s"),
        {"s": [5, -1]},
        13,
        "shape [5, -1] does not fit the 24 elements of tensor<2x3x4xf32>",
    ),
    (node("Reshape", "x s"), {"s": [-1, -1]}, 13, "shape [-1, -1] does not fit the 24 elements"),
    (node("Reshape", "x s"), {"s": [5, 5]}, 13, "shape [5, 5] has 25 elements, x has 24"),
    (node("Flatten", "x", axis=4), {}, 13, "has axis 4, must be in [-3, 3]"),
    (node("Squeeze", "x a"), {"a": [1]}, 13, "drops axis 1, which has size 3, must be 1"),
    (node("Squeeze", "x a"), {"a": [3]}, 13, "axis 3 is outside [-3, 3) of a rank-3 tensor"),
    (node("Unsqueeze", "x a"), {"a": [0, -5]}, 13, "axes (0, -5) name an axis twice"),
    (node("Transpose", "x", perm=[0, 1, 1]), {}, 13, "permutation [0, 1, 1] does not name each"),
    (
        node("Slice", "x a b c"),
        {"a": [0], "b": [1, 2], "c": [0]},
        13,
        "has 1 starts, 2 ends, 1 axes, 1 steps, must have as many of each",
    ),
    (
        node("Slice", "x a b c d"),
        {"a": [0], "b": [1], "c": [-1], "d": [0]},
        13,
        "has step 0 along axis -1, must not be 0",
    ),
    (node("Split", "x", "y z", axis=1), {}, 13, "splits 3 elements into 2 equal parts"),
    (
        node("Split", "x s", "y z", axis=1, num_outputs=2),
        {"s": [1, 2]},
        18,
        "has both 'split' and 'num_outputs', must have one",
    ),
    (
        node("Split", "x", "y z", axis=1, num_outputs=0),
        {},
        18,
        "has num_outputs 0 and 2 outputs, must be as many",
    ),
    (node("Split", "x s", "y z", axis=1), {"s": [1, 1]}, 13, "sizes [1, 1] add up to 2, must be 3"),
    (
        node("Pad", "x p _ a"),
        {"p": [1, 2, 3], "a": [0, 1]},
        18,
        "has 3 pads, must have 2 for each of 2 axes",
    ),
    (
        node("CenterCropPad", "x s", axes=[0]),
        {"s": [1, 2]},
        18,
        "has 2 sizes for 1 axes, must be as many",
    ),
    (
        node("SpaceToDepth", "image", blocksize=2, mode="RCD"),
        {},
        28,
        "has mode 'RCD', must be DCR or CRD",
    ),
    (
        node("TensorScatter", "x x", mode="spiral"),
        {},
        24,
        "has mode 'spiral', must be linear or circular",
    ),
    (
        node("Add", "x v", broadcast=0),
        {"v": np.float32([1, 2, 3, 4])},
        6,
        "has operands of shapes [2, 3, 4] and [4], must be the same without 'broadcast'",
    ),
    (
        node("Add", "x v", broadcast=1, axis=2),
        {"v": np.float32([[1, 2, 3, 4]])},
        6,
        "places 2 axes at axis 2 of 3, which is too far",
    ),
    (node("Expand", "x s"), {"s": [5, 1]}, 13, "shapes 2x3x4 and 5x1 do not broadcast"),
    (node("Gather", "x i", axis=3), {}, 13, "axis 3 is outside [-3, 3) of a rank-3 tensor"),
    (
        node("Pad", "x", pads=[(1 << 63) - 1, 0, 0, 1, 0, 0]),
        {},
        7,
        "needs tensor<9223372036854775810x3x4xf32>, must have at most 2^47 bytes",
    ),
    (node("OneHot", "i d v"), {"d": np.nan, "v": [0.0, 1.0]}, 11, "has depth nan, must be finite"),
    (node("And", "x x"), {}, 7, "element type is f32, must be i1"),
    (node("Sqrt", "i"), {}, 13, "element type is i64, must be a float"),
]


@pytest.mark.parametrize(("made", "constants", "opset", "message"), FAULTS)
def test_fault(made: onnx.NodeProto, constants: dict[str, Any], opset: int, message: str) -> None:
    made.name = "it"
    inputs = X | {"i": info("i", [2], onnx.TensorProto.INT64), "image": [1, 2, 4, 4]}
    values = {name: np.array(value) for name, value in constants.items()}
    source = model([made], inputs, made.output, initializers=values, opset=opset)
    with new_context(), pytest.raises(CompileError) as caught:
        import_onnx(source)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.where == "it"
    assert diagnostic.message.startswith(f"'{made.op_type}' node {message}")
