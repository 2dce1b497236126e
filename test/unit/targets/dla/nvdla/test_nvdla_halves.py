"""Models of floats in fp16 for nv_full: loadables give the bits of references, near floats."""

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from trivium.compiler.check import can_run
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.tensor import Array
from trivium.runtime.dla.part import DlaPart
from trivium.targets.dla.nvdla.configuration import FILE
from trivium.targets.dla.nvdla.format.loadable import Loadable
from trivium.test.unit.targets.dla.image_networks import CLASSIC
from trivium.test.unit.targets.dla.nvdla.compared import cosine, interpreted, simulated, unequal
from trivium.test.unit.targets.dla.small_networks import Net

FULL = "nvdla:nv_full"
HALF = 2.0**-8
"""How far results may be from those of floats, of the largest one: four steps of fp16."""


def model(body: str, shape: tuple[int, ...], **weights: Any) -> onnx.ModelProto:
    text = (
        f'<ir_version: 10, opset_import: ["" : 21]> net (float{list(shape)} x) => (y) {{ {body} }}'
    )
    made = onnx.parser.parse_model(text.replace("(y)", "(float[n] y)"))
    made.graph.output[0].type.tensor_type.ClearField("shape")
    for name, array in weights.items():
        dense = np.asarray(array, np.float32)
        made.graph.initializer.append(onnx.numpy_helper.from_array(dense, name))
    for node in made.graph.node:
        node.name = node.output[0]
    return onnx.shape_inference.infer_shapes(made)


def drawn(*shape: int) -> Array:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def floats(made: onnx.ModelProto, x: Array) -> Array:
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return np.asarray(session.run(None, {"x": x})[0])


CASES: dict[str, tuple[str, tuple[int, ...], dict[str, Any], int]] = {
    "strided": (
        "a = Conv <pads = [1, 1, 1, 1], strides = [2, 2]> (x, w, b) y = Relu(a)",
        *((2, 70, 9, 7), {"w": drawn(20, 70, 3, 3), "b": drawn(20)}, 2),
    ),
    "dilated": (
        "y = Conv <dilations = [2, 3], pads = [0, 2, 1, 3]> (x, w)",
        *((1, 17, 9, 11), {"w": drawn(3, 17, 2, 3)}, 2),
    ),
    "depthwise": (
        "y = Conv <pads = [1, 1, 1, 1], group = 40> (x, w, b)",
        *((1, 40, 5, 6), {"w": drawn(40, 1, 3, 3), "b": drawn(40)}, 6),
    ),
    "rows": (
        "y = Conv <pads = [1, 1, 1, 1]> (x, w)",
        *((1, 64, 48, 130), {"w": drawn(2, 64, 3, 3)}, 4),
    ),
    "residual": (
        "a = Conv <pads = [1, 1, 1, 1]> (x, w, b) c = Add(a, x) y = Relu(c)",
        *((1, 16, 6, 5), {"w": drawn(16, 16, 3, 3), "b": drawn(16)}, 2),
    ),
    "normalized": (
        "a = Conv (x, w) c = BatchNormalization(a, s, b, m, v) y = Clip(c, low, high)",
        *((1, 20, 6, 5), {"w": drawn(7, 20, 1, 1), "s": drawn(7), "b": drawn(7), "m": drawn(7)}, 3),
    ),
    "product": (
        "p = MaxPool <kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 1, 1]> (x)"
        "f = Flatten (p) a = Gemm <transB = 1> (f, w, b) y = Tanh(a)",
        *((2, 5, 8, 6), {"w": drawn(10, 60) / 8, "b": drawn(10)}, 3),
    ),
    "averages": (
        "a = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)"
        "b = AveragePool <kernel_shape = [3, 2], count_include_pad = 1> (a)"
        "y = GlobalAveragePool (b)",
        *((1, 19, 11, 12), {}, 9),
    ),
    "response": ("a = Mul (x, k) y = LRN <size = 5> (a)", (1, 20, 4, 5), {"k": 40.0}, 2),
    "sigmoid": ("a = Mul (x, k) y = Sigmoid (a)", (1, 20, 4, 5), {"k": 5.0}, 1),
    "slopes": (
        "a = PRelu (x, s) b = LeakyRelu <alpha = 0.3> (a) y = Add(b, c)",
        *((1, 20, 4, 5), {"s": drawn(20, 1, 1), "c": drawn(20, 1, 1)}, 2),
    ),
    "joined": (
        "a = Conv (x, w) b = Relu (x) c = Concat <axis = 1> (a, b, a)"
        "y = Slice (c, start, end, axes)",
        *((1, 20, 4, 5), {"w": drawn(7, 20, 1, 1)}, 12),
    ),
}
"""Nodes, the shape of the input, weights, and how many operations a loadable has for them."""
INTEGERS = {"start": [3, 1], "end": [33, 4], "axes": [1, 2]}


def case(name: str) -> onnx.ModelProto:
    body, shape, weights, _ = CASES[name]
    if name == "normalized":
        weights = {**weights, "v": np.abs(drawn(7)), "low": -0.5, "high": 1.25}
    made = model(body, shape, **weights)
    if name == "joined":
        for key, numbers in INTEGERS.items():
            made.graph.initializer.append(onnx.numpy_helper.from_array(np.array(numbers), key))
    return made


@pytest.mark.parametrize("name", CASES)
def test_ops_of_fp16_give_the_bits_of_references_near_floats(name: str) -> None:
    made, (_, shape, _, operations) = case(name), CASES[name]
    x = drawn(*shape)
    kept = x.copy()
    found = simulated(made, FULL, [x], "fp16")
    part = found.package.manifest.part(DlaPart)
    assert part is not None
    assert [each.operations for each in part.loadables] == [operations]
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    assert {array.dtype for array in found.found} == {np.dtype(np.float16)}
    expected = floats(made, x)
    assert found.outputs[0].dtype == np.float32
    assert np.abs(found.outputs[0] - expected).max() < HALF * np.abs(expected).max()
    np.testing.assert_array_equal(x, kept)


@pytest.mark.parametrize(("name", "side"), [("alexnet", 67), ("resnet_18", 32)])
def test_networks_of_fp16_give_the_bits_of_references_near_floats(name: str, side: int) -> None:
    build, shape = CLASSIC[name]
    net = Net((*shape[:2], side, side), thin=16)
    made, x = net.model(build(net)), net.inputs()
    found = simulated(made, FULL, [x], "fp16")
    assert len(found.found) == 1
    assert unequal(interpreted(made, FULL, [x], "fp16"), found.found) == []
    assert cosine(found.outputs[0], floats(made, x)) > 0.9999
    assert [
        each.node for each in can_run(made, target=FULL, precision="fp16") if not each.runs
    ] == []


def test_sums_of_another_block_of_channels_are_rounded_otherwise(tmp_path: Any) -> None:
    text = "[nv_full]" + FILE.read_text().split("[nv_full]")[1]
    file = tmp_path / "narrow.toml"
    file.write_text(text.replace("macs_channels = 64", "macs_channels = 16"))
    made = model("y = Conv (x, w)", (1, 64, 9, 9), w=drawn(16, 64, 1, 1))
    x = drawn(1, 64, 9, 9)
    results: list[Array] = []
    for target in (FULL, f"nvdla:{file}"):
        found = simulated(made, target, [x], "fp16")
        assert unequal(interpreted(made, target, [x], "fp16"), found.found) == []
        results += found.found
    assert np.abs(results[0] - results[1]).max() < HALF * np.abs(results[0]).max()


def test_a_model_of_f16_needs_no_option() -> None:
    made = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float16[1, 3, 4, 4] x) => (float16[1, 3, 4, 4] y) { y = Relu (x) }
    """)
    x = drawn(1, 3, 4, 4).astype(np.float16)
    found = simulated(made, FULL, [x])
    assert len(found.found) == 1
    np.testing.assert_array_equal(found.outputs[0], np.maximum(x, 0))


def test_tensors_of_loadables_say_that_they_are_of_fp16() -> None:
    found = simulated(case("strided"), FULL, [drawn(2, 70, 9, 7)], "fp16")
    loadable = Loadable.read(bytes(found.package.entries["dla/nvdla_0.nvdla"]))
    described = [(each.data_type, each.stride_0, each.c) for each in loadable.tensor_desc_list]
    assert described == [(2, 2, 70), (2, 2, 20)]
    # 5 surfaces of 16 channels, 9 rows, 7 pixels of 32 bytes; 2 surfaces of 5 x 4 pixels.
    assert [each.size for each in loadable.tensor_desc_list] == [5 * 9 * 7 * 32, 2 * 5 * 4 * 32]


def test_configurations_without_fp16_and_other_precisions_are_refused() -> None:
    made = case("sigmoid")
    for name in ("nv_small", "nv_large"):
        with pytest.raises(
            CompileError, match=f"'nvdla' of configuration {name} computes in int8:"
        ):
            trivium.compile(made, target=f"nvdla:{name}", precision="fp16")
    with pytest.raises(CompileError, match="nv_full computes in int8, int16, fp16"):
        trivium.compile(made, target=FULL, precision="bf16")


def test_what_runs_on_the_cpu_has_a_reason() -> None:
    made = model("a = Conv (x, w) b = Exp(a) y = Softmax(b)", (1, 5, 4, 4), w=drawn(7, 5, 1, 1))
    told = {each.node: each.refusals for each in can_run(made, target=FULL, precision="fp16")}
    assert told["a"] == ()
    assert told["b"] == ("nvdla has no op for tri.exp",)
    softmax = "nv_full has a softmax over channels of one pixel, not axis 3 of 1x7x4x4"
    assert softmax in told["y"]
    for target, remedy in ((FULL, ", or compile it with precision fp16"), ("nvdla:nv_small", "")):
        told = {each.node: each.refusals for each in can_run(made, target=target)}
        reason = f"nvdla computes on integers, not on f32: quantise the model first{remedy}"
        assert told["a"] == (reason,)
    wide = model("y = MaxPool <kernel_shape = [9, 9]> (x)", (1, 5, 12, 12))
    (found,) = can_run(wide, target=FULL, precision="fp16")
    assert "nv_full pools windows of 8x8 or less, not of (9, 9)" in found.refusals
