"""Quantised models on the CPU target: products of bytes, exactly as ONNX Runtime has them."""

import numpy as np
import onnx
import pytest
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node
from trivium.test.unit.compiler.frontends.onnx.quantized_models import (
    KINDS,
    RANDOM,
    TYPES,
    check,
    convolution,
    names,
    near,
    quantized,
    scales,
    whole,
)

WINDOWS = (
    {"pads": [1, 1, 1, 1]},
    {"pads": [2, 0, 1, 1], "strides": [2, 2]},
    {"dilations": [2, 2], "pads": [2, 1, 2, 3]},
    {"pads": [1, 1, 1, 1], "group": 2},
)


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


@pytest.mark.parametrize(("zero", "products"), [(128, 1), (100, 2), (0, 2)])
def test_weights_of_nine_bits_take_a_product_and_a_sum(zero: int, products: int) -> None:
    weights = whole("uint8", 30, 20)
    weights[0, :2] = 0, 255
    made = model(
        [node("MatMulInteger", "a w az wz")],
        {"a": info("a", (5, 30), onnx.TensorProto.UINT8)},
        initializers={
            "w": weights,
            "az": np.array(3, np.uint8),
            "wz": np.array(zero, np.uint8),
        },
    )
    check(made, {"a": whole("uint8", 5, 30)}, *["cpu.dot_mat_mul"] * products)


def test_each_column_of_nine_bits_has_a_zero_point_of_its_own() -> None:
    made = model(
        [node("MatMulInteger", "a w az wz")],
        {"a": info("a", (5, 30), onnx.TensorProto.INT8)},
        initializers={
            "w": whole("uint8", 30, 20),
            "az": np.array(-7, np.int8),
            "wz": whole("uint8", 20),
        },
    )
    check(made, {"a": whole("int8", 5, 30)}, *["cpu.dot_mat_mul"] * 2)


@pytest.mark.parametrize(("kind", "zero", "products"), [("int8", 0, 1), ("uint8", 5, 2)])
def test_zero_points_of_the_run_time(kind: str, zero: int, products: int) -> None:
    made = model(
        [
            node("DynamicQuantizeLinear", "x", "a scale zero"),
            node("MatMulInteger", "a w zero wz", "product"),
            node("Cast", "product", "float", to=onnx.TensorProto.FLOAT),
            node("Mul", "scale scales", "factor"),
            node("Mul", "float factor"),
        ],
        {"x": (5, 30)},
        initializers={"w": whole(kind, 30, 40), "wz": np.array(zero, kind), "scales": scales(40)},
    )
    x = RANDOM.standard_normal((5, 30)).astype(np.float32)
    check(made, {"x": x}, *["cpu.dot_mat_mul"] * products)


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


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_kernels_of_nine_bits_take_a_product_and_a_sum_but_for_groups(
    window: dict[str, object],
) -> None:
    weights = whole("uint8", 8, 6 // window.get("group", 1), 3, 3)
    weights[:, 0, 0, :2] = 0, 255
    made = model(
        [node("ConvInteger", "x w xz wz", **window)],
        {"x": info("x", (1, 6, 11, 19), onnx.TensorProto.UINT8)},
        initializers={"w": weights, "xz": np.array(200, np.uint8), "wz": np.array(99, np.uint8)},
    )
    check(made, {"x": whole("uint8", 1, 6, 11, 19)}, *["cpu.dot_conv"] * 2)


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


# -- quantised models of f32 -----------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("biased", [False, True])
def test_convolutions_between_quantised_values(kind: str, biased: bool) -> None:
    before, weights = quantized("x", kind, 0.02, 7)
    after, more = quantized("c", kind, 0.1, 3)
    inputs = "x_d w_d b_d" if biased else "x_d w_d"
    dequantized = [
        node("DequantizeLinear", "w w_s w_z", "w_d", axis=0),
        node("DequantizeLinear", "b b_s", "b_d", axis=0),
        node("Conv", inputs, "c0", pads=[1, 1, 1, 1]),
        node("Relu", "c0", "c"),
    ]
    made = model(
        [*before, *dequantized, *after, node("Identity", "c_q")],
        {"x": (1, 6, 9, 11)},
        initializers=weights
        | more
        | {"w": whole("int8", 8, 6, 3, 3), "w_s": scales(8), "w_z": np.zeros(8, np.int8)}
        | {"b": RANDOM.integers(-900, 900, 8).astype(np.int32), "b_s": scales(8)},
    )
    x = RANDOM.standard_normal((1, 6, 9, 11)).astype(np.float32)
    near(made, {"x": x}, "cpu.dot_conv")


@KINDS
@pytest.mark.parametrize("zero", [0, 7])
def test_bytes_of_blocked_images(kind: str, zero: int) -> None:
    """A residual block, a pooling and a concatenation, of whole blocks and with zero points."""
    parts = [
        quantized("x", kind, 0.02, zero),
        convolution("a", "x_d", 64, 32, 3, 3, pads=[1, 1, 1, 1]),
        quantized("a", kind, 0.9, zero),
        convolution("b", "a_d", 64, 64, 1, 1),
        quantized("b", kind, 40.0, 100),
        ([node("Add", "a_d b_d", "r")], {}),
        quantized("r", kind, 40.0, zero),
        ([node("MaxPool", "r_d", "p", kernel_shape=[3, 3], pads=[1, 1, 1, 1])], {}),
        convolution("c", "r_d", 32, 64, 3, 3, pads=[1, 1, 1, 1]),
        ([node("Concat", "p c", "j", axis=1)], {}),
        quantized("j", kind, 900.0, zero),
        ([node("Identity", "j_q")], {}),
    ]
    weights = {name: array for _, more in parts for name, array in more.items()}
    graph = model(
        [each for nodes, _ in parts for each in nodes], {"x": (1, 32, 21, 23)}, initializers=weights
    )
    x = RANDOM.standard_normal((1, 32, 21, 23)).astype(np.float32)
    made = ("cpu.block", *["cpu.blocked_dot_conv"] * 2, "cpu.unblock", "cpu.blocked_dot_conv")
    near(graph, {"x": x}, *made, "cpu.unblock")


@pytest.mark.parametrize("turned", [0, 1])
def test_linear_layers_of_quantised_values(turned: int) -> None:
    before, weights = quantized("x", "int8", 0.02, -5)
    shape = (40, 30) if turned else (30, 40)
    made = model(
        [
            *before,
            node("DequantizeLinear", "w w_s w_z", "w_d", axis=1 - turned),
            node("Gemm", "x_d w_d b", transB=turned),
        ],
        {"x": (5, 30)},
        initializers=weights
        | {"w": whole("int8", *shape), "w_s": scales(40), "w_z": np.zeros(40, np.int8)}
        | {"b": RANDOM.standard_normal(40).astype(np.float32)},
    )
    x = RANDOM.standard_normal((5, 30)).astype(np.float32)
    near(made, {"x": x}, "cpu.dot_mat_mul")


def test_products_of_quantised_values() -> None:
    before, weights = quantized("x", "uint8", 0.02, 128)
    made = model(
        [
            *before,
            node("DequantizeLinear", "w w_s w_z", "w_d"),
            node("MatMul", "x_d w_d"),
        ],
        {"x": (2, 5, 30)},
        initializers=weights
        | {"w": whole("uint8", 30, 40), "w_s": np.float32(0.01), "w_z": np.array(128, np.uint8)},
    )
    x = RANDOM.standard_normal((2, 5, 30)).astype(np.float32)
    near(made, {"x": x}, "cpu.dot_mat_mul")


def test_sums_that_might_wrap_around_stay_floats() -> None:
    before, weights = quantized("x", "uint8", 0.02, 128)
    made = model(
        [
            *before,
            node("DequantizeLinear", "w w_s w_z", "w_d"),
            node("MatMul", "x_d w_d"),
        ],
        {"x": (1, 33_026)},
        initializers=weights
        | {"w": whole("int8", 33_026, 1), "w_s": np.float32(0.01), "w_z": np.array(0, np.int8)},
    )
    assert "cpu.dot_mat_mul" not in names(made)
