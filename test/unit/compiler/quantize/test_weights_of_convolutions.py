"""Weights alone to int8, without data: convolutions and products, a quarter of the size."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.quantize import WeightReport

RANDOM = np.random.default_rng(11)
X = RANDOM.standard_normal((4, 16, 8, 8)).astype(np.float32)
SHAPES = {"k0": (64, 16, 3, 3), "b0": (64,), "k1": (64, 64, 3, 3), "tiny": (4, 1, 3, 3)}
PARAMETERS = {
    name: (RANDOM.standard_normal(shape) / 12).astype(np.float32)
    for name, shape in {**SHAPES, "w": (64, 128), "c": (128,)}.items()
}


def net() -> onnx.ModelProto:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[N, 16, 8, 8] x) => (float[N, 128] y) {
            [first] a = Conv <pads = [1, 1, 1, 1]> (x, k0, b0)
            [bend] h = Relu (a)
            [second] d = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (h, k1)
            [mean] m = GlobalAveragePool (d)
            [flat] f = Flatten (m)
            [layer] y = Gemm (f, w, c)
        }
    """)
    held = [onnx.numpy_helper.from_array(PARAMETERS[n], n) for n in ("k0", "b0", "k1", "w", "c")]
    model.graph.initializer.extend(held)
    return model


def by_onnxruntime(model: onnx.ModelProto, x: Any) -> Any:
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]


def test_files_and_packages_are_a_quarter_and_results_are_close(tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    assert trivium.quantize_weights(net(), None, path, weights="int8") == 3
    floats = len(net().SerializeToString())
    assert path.stat().st_size < 0.3 * floats
    made = onnx.load(path)
    held = {t.name: onnx.numpy_helper.to_array(t) for t in made.graph.initializer}
    kernels = {name: array for name, array in held.items() if array.ndim == 4}
    assert {array.dtype for array in kernels.values()} == {np.dtype(np.int8)}
    wanted = by_onnxruntime(net(), X)
    close = by_onnxruntime(made, X)
    assert 0 < np.abs(close - wanted).max() < 0.02 * np.abs(wanted).max()
    package = trivium.build(made)
    assert package.manifest.memory.weight_bytes < 0.3 * floats
    ours = trivium.compile(made).run({"x": X})["y"]
    assert np.abs(ours - close).max() < 1e-4 * np.abs(wanted).max()


def test_each_channel_has_a_scale(tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    trivium.quantize_weights(net(), None, path, weights="int8")
    made = onnx.load(path)
    held = {t.name: onnx.numpy_helper.to_array(t) for t in made.graph.initializer}
    makers = {node.output[0]: node for node in made.graph.node}
    convs = [node for node in made.graph.node if node.op_type == "Conv"]
    for conv, name in zip(convs, ("k0", "k1"), strict=True):
        given = makers[conv.input[1]]
        assert given.op_type == "DequantizeLinear"
        scales = np.abs(PARAMETERS[name]).max((1, 2, 3)) / np.float32(127)
        assert np.array_equal(held[given.input[1]], scales)
        whole = np.rint(PARAMETERS[name].astype(np.float64) / scales[:, None, None, None])
        assert np.array_equal(held[given.input[0]], whole)


def test_convolutions_stay_floats_with_four_bits_and_where_they_are_small(tmp_path: Path) -> None:
    path = tmp_path / "q.onnx"
    assert trivium.quantize_weights(net(), None, path, weights="int4") == 1
    assert not [n for n in onnx.load(path).graph.node if n.op_type == "DequantizeLinear"]
    small = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1, 4, 8, 8] x) => (float[1, 4, 6, 6] y) { y = Conv <group = 4> (x, tiny) }
    """)
    small.graph.initializer.append(onnx.numpy_helper.from_array(PARAMETERS["tiny"], "tiny"))
    with pytest.raises(trivium.CompileError, match="no products or convolutions with constants"):
        trivium.quantize_weights(small, weights="int8")


def test_the_report_has_convolutions() -> None:
    found: list[WeightReport] = []
    trivium.quantize_weights(net(), weights="int8", report=found.append)
    nodes = {each.node: (each.columns, each.depth, each.matrix.sqnr) for each in found[0].products}
    assert {name: sizes[:2] for name, sizes in nodes.items()} == {
        "first": (64, 144),
        "second": (64, 576),
        "layer": (128, 64),
    }
    kernel = PARAMETERS["k1"].reshape(64, -1).astype(np.float64)
    steps = np.abs(kernel).max(1, keepdims=True) / 127
    noise = np.sum((kernel - np.rint(kernel / steps) * steps) ** 2)
    sqnr = 10 * np.log10(np.sum(kernel**2) / noise)
    assert nodes["second"][2] == pytest.approx(sqnr, abs=0.05)
