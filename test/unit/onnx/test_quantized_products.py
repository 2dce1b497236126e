"""Quantised models on the CPU target: products of bytes, exactly as ONNX Runtime has them."""

from collections.abc import Iterator, Mapping

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from graphs import info, model, node
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array

RANDOM = np.random.default_rng(23)
TYPES = {"uint8": onnx.TensorProto.UINT8, "int8": onnx.TensorProto.INT8}
KINDS = pytest.mark.parametrize("kind", TYPES)
WINDOWS = (
    {"pads": [1, 1, 1, 1]},
    {"pads": [2, 0, 1, 1], "strides": [2, 2]},
    {"dilations": [2, 2], "pads": [2, 1, 2, 3]},
    {"pads": [1, 1, 1, 1], "group": 2},
)


def whole(kind: str, *shape: int) -> Array:
    bounds = np.iinfo(kind)
    return RANDOM.integers(bounds.min, bounds.max + 1, shape).astype(kind)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.001, 0.02, shape).astype(np.float32)


def expected(graph: onnx.ModelProto, feeds: Mapping[str, Array]) -> list[Array]:
    """Run a model as it is: what optimisers make of it may round otherwise."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options)
    return session.run(None, dict(feeds))


def names(graph: onnx.ModelProto) -> list[str]:
    """List the ops that are left of a model for the CPU target, those in groups included."""
    with new_context():
        module = import_onnx(graph)
        pipeline_for("cpu", 2).run(module)
        return list(_names(module))


def _names(module: Module) -> Iterator[str]:
    return (op.op_name for op in ops(module.operation))


def check(graph: onnx.ModelProto, feeds: Mapping[str, Array], *made: str) -> None:
    """Compare all outputs exactly; `made` are ops that must be there, in place of `tri`'s."""
    found = names(graph)
    assert [name for name in found if name.startswith("cpu.")] == list(made)
    assert not {"tri.mat_mul", "tri.conv"} & {*found} or not made
    results = trivium.compile(graph).run(feeds)
    for name, want in zip(results, expected(graph, feeds), strict=True):
        assert results[name].dtype == want.dtype
        np.testing.assert_array_equal(results[name], want)


@KINDS
@pytest.mark.parametrize("shape", [(5, 30), (1, 7), (2, 3, 64)])
def test_mat_mul_integer(kind: str, shape: tuple[int, ...]) -> None:
    made = model(
        [node("MatMulInteger", "a w az wz")],
        {"a": info("a", shape, TYPES[kind])},
        initializers={
            "w": whole("int8", shape[-1], 40),
            "az": np.array(np.iinfo(kind).max, kind),
            "wz": np.array(0, np.int8),
        },
    )
    check(made, {"a": whole(kind, *shape)}, "cpu.dot_mat_mul")


def test_weights_of_nine_bits_take_two_products() -> None:
    made = model(
        [node("MatMulInteger", "a w az wz")],
        {"a": info("a", (5, 30), onnx.TensorProto.UINT8)},
        initializers={
            "w": whole("uint8", 30, 20),
            "az": np.array(3, np.uint8),
            "wz": np.array(100, np.uint8),
        },
    )
    check(made, {"a": whole("uint8", 5, 30)}, "cpu.dot_mat_mul", "cpu.dot_mat_mul")


def test_zero_points_of_the_run_time() -> None:
    made = model(
        [
            node("DynamicQuantizeLinear", "x", "a scale zero"),
            node("MatMulInteger", "a w zero", "product"),
            node("Cast", "product", "float", to=onnx.TensorProto.FLOAT),
            node("Mul", "scale scales", "factor"),
            node("Mul", "float factor"),
        ],
        {"x": (5, 30)},
        initializers={"w": whole("int8", 30, 40), "scales": scales(40)},
    )
    x = RANDOM.standard_normal((5, 30)).astype(np.float32)
    check(made, {"x": x}, "cpu.dot_mat_mul")


@KINDS
def test_qlinear_mat_mul(kind: str) -> None:
    made = model(
        [node("QLinearMatMul", "a as az w ws wz ys yz")],
        {"a": info("a", (9, 50), TYPES[kind])},
        initializers={
            "as": np.float32(0.02),
            "az": np.array(17, kind),
            "w": whole("int8", 50, 20),
            "ws": np.float32(0.01),
            "wz": np.array(0, np.int8),
            "ys": np.float32(0.3),
            "yz": np.array(100, kind),
        },
    )
    check(made, {"a": whole(kind, 9, 50)}, "cpu.dot_mat_mul")


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_conv_integer(window: dict[str, object]) -> None:
    channels = 6 // window.get("group", 1)
    made = model(
        [node("ConvInteger", "x w xz", **window)],
        {"x": info("x", (1, 6, 11, 19), onnx.TensorProto.UINT8)},
        initializers={"w": whole("int8", 8, channels, 3, 3), "xz": np.array(200, np.uint8)},
    )
    check(made, {"x": whole("uint8", 1, 6, 11, 19)}, "cpu.dot_conv")


@KINDS
@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_qlinear_conv(kind: str, window: dict[str, object]) -> None:
    channels = 6 // window.get("group", 1)
    made = model(
        [node("QLinearConv", "x xs xz w ws wz ys yz b", **window)],
        {"x": info("x", (1, 6, 11, 19), TYPES[kind])},
        initializers={
            "xs": np.float32(0.02),
            "xz": np.array(np.iinfo(kind).min + 9, kind),
            "w": whole("int8", 8, channels, 3, 3),
            "ws": scales(8),
            "wz": np.zeros(8, np.int8),
            "ys": np.float32(0.7),
            "yz": np.array(100, kind),
            "b": RANDOM.integers(-5000, 5000, 8).astype(np.int32),
        },
    )
    check(made, {"x": whole(kind, 1, 6, 11, 19)}, "cpu.dot_conv")


def test_vectors_across_outputs() -> None:
    made = model(
        [node("QLinearConv", "x xs xz w ws wz ys yz", pads=[1, 1, 1, 1])],
        {"x": info("x", (2, 6, 7, 7), onnx.TensorProto.UINT8)},
        initializers={
            "xs": np.float32(0.02),
            "xz": np.array(255, np.uint8),
            "w": whole("int8", 40, 6, 3, 3),
            "ws": scales(40),
            "wz": np.zeros(40, np.int8),
            "ys": np.float32(0.7),
            "yz": np.array(100, np.uint8),
        },
    )
    check(made, {"x": whole("uint8", 2, 6, 7, 7)}, "cpu.dot_panel_conv")


def test_depthwise_convolutions_stay() -> None:
    made = model(
        [node("ConvInteger", "x w xz", group=6)],
        {"x": info("x", (1, 6, 11, 19), onnx.TensorProto.UINT8)},
        initializers={"w": whole("int8", 6, 1, 3, 3), "xz": np.array(200, np.uint8)},
    )
    check(made, {"x": whole("uint8", 1, 6, 11, 19)})
