"""Four small networks for requests of mixed sizes; as a program, it saves them as packages."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import trivium

HUGE = 1 << 22
"""So many rows and columns are a result that no computer has memory for: 64 TB."""

IMAGES = """
    <ir_version: 10, opset_import: ["" : 21]>
    images (float[1, 3, 16, 16] x) => (float[1, 10] y) {
        [convolve] a = Conv <pads = [1, 1, 1, 1]> (x, w1)
        [clip] b = Relu (a)
        [halve] c = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (b)
        [convolve_again] d = Conv (c, w2)
        [average] e = GlobalAveragePool (d)
        [flatten] f = Flatten (e)
        [classify] y = MatMul (f, w3)
    }
"""

TABLES = """
    <ir_version: 10, opset_import: ["" : 21]>
    tables (float[N, 1] rows, float[1, M] columns) => (float[N, M] y, float[N, 1] z) {
        [product] a = Mul (rows, columns)
        [bend] y = Tanh (a)
        [sum] z = ReduceSum <keepdims = 1> (y, last)
    }
"""

TEXTS = """
    <ir_version: 10, opset_import: ["" : 21]>
    texts (string[N] left, string[N] right) => (string[N] both, bool[N] same) {
        [join] both = StringConcat (left, right)
        [compare] same = Equal (left, right)
    }
"""

LOOPS = """
    <ir_version: 10, opset_import: ["" : 21]>
    loops (int64 count, float[N, 4] x) => (float[N, 4] y)
    <bool on = {1}, float limit = {3}, float half = {0.5}> {
        [repeat] y = Loop (count, on, x) <body = body (int64 i, bool on_in, float[N, 4] v) => (bool on_out, float[N, 4] v_out) {
            on_out = Identity (on_in)
            product = MatMul (v, w)
            total = ReduceSum <keepdims = 0> (product)
            large = Greater (total, limit)
            v_out = If (large) <
                then_branch = shrink () => (float[N, 4] a) { a = Mul (product, half) },
                else_branch = keep () => (float[N, 4] b) { b = Add (product, half) }
            >
        }>
    }
"""  # noqa: E501


def network(text: str, **weights: Any) -> onnx.ModelProto:
    """Return a network with weights of float32."""
    model = onnx.parser.parse_model(text)
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
    return model


def networks() -> dict[str, onnx.ModelProto]:
    """Return the networks by name: images, tables, texts and loops."""
    draw = np.random.default_rng(0)

    def weights(*shape: int) -> Any:
        return (draw.standard_normal(shape) / 4).astype(np.float32)

    return {
        "images": network(
            IMAGES, w1=weights(8, 3, 3, 3), w2=weights(8, 8, 3, 3), w3=weights(8, 10)
        ),
        "tables": network(TABLES, last=np.array([1], np.int64)),
        "texts": network(TEXTS),
        "loops": network(LOOPS, w=weights(4, 4)),
    }


def main() -> None:
    """Save the networks as packages in the folder of the first argument."""
    for name, model in networks().items():
        trivium.build(model).save(Path(sys.argv[1]) / f"{name}.trv")


if __name__ == "__main__":
    main()
