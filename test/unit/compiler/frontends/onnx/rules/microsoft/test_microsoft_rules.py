"""Operators of ONNX Runtime, against ONNX Runtime."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
import trivium
from onnx import ModelProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from trivium.dialects.core.errors import CompileError
from trivium.test.unit.compiler.frontends.onnx.rules.microsoft.microsoft_nodes import (
    RANDOM,
    Array,
    bytes_of,
    check,
    check_integers,
    floats,
    refused,
    run_both,
    scale,
)


@pytest.mark.parametrize("op", ["Gelu", "QuickGelu", "FastGelu"])
def test_gelu(op: str) -> None:
    given = {"alpha": 1.3} if op == "QuickGelu" else {}
    check(op, [floats(3, 40)], **given)


@pytest.mark.parametrize("op", ["BiasGelu", "FastGelu"])
def test_gelu_of_a_sum(op: str) -> None:
    check(op, [floats(3, 40), floats(40)])


@pytest.mark.parametrize("kind", ["float32", "float16"])
@pytest.mark.parametrize("scale_kind", [None, "float32", "float16"])
def test_silu_of_a_product(kind: str, scale_kind: str | None) -> None:
    x = (3 * floats(3, 40)).astype(kind)
    given = [np.array(1.7, scale_kind)] if scale_kind else []
    ((got, wanted),) = run_both("ScaledSiLU", [x, *given], alpha=0.3)
    assert got.dtype == wanted.dtype == kind
    bound = 1e-6 if kind == "float32" else 2e-3
    np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound)


def test_a_scale_for_each_element_is_refused() -> None:
    message = "node has scale tensor<2xf32>, must be a scalar"
    refused(message, "ScaledSiLU", [floats(2), floats(2)])


@pytest.mark.parametrize("rows", [(3,), (2, 3), ()])
def test_sum_with_gates(rows: tuple[int, ...]) -> None:
    check("GatedAdd", [floats(*rows, 8), floats(*rows, 8), floats(*rows, 1)])


@pytest.mark.parametrize("shapes", [[(3, 4), (1, 4), (3, 1)], [(3, 4), (3, 4), (1, 1)], [(4,)] * 3])
def test_gates_of_other_rows_are_refused(shapes: list[tuple[int, ...]]) -> None:
    with pytest.raises(CompileError, match="must have one gate for each row"):
        run_both("GatedAdd", [floats(*shape) for shape in shapes])


def test_gates_that_are_projected_are_refused() -> None:
    message = "node has a gate_weight, must have none: ONNX Runtime has that on GPUs alone"
    refused(message, "GatedAdd", [floats(3, 4), floats(3, 4), floats(3, 2), floats(2, 1)])


@pytest.mark.parametrize(
    ("activation", "given"),
    [("Relu", []), ("Tanh", []), ("LeakyRelu", [0.2]), ("Clip", [-0.5, 0.7]), ("", [])],
)
@pytest.mark.parametrize("adds", [False, True])
def test_fused_conv(activation: str, given: list[float], adds: bool) -> None:
    z = [floats(1, 6, 8, 8)] if adds else []
    fused: dict[str, Any] = {"activation": activation} if activation else {}
    fused |= {"activation_params": given} if given else {}
    inputs = [floats(1, 4, 8, 8), floats(6, 2, 3, 3), floats(6), *z]
    check("FusedConv", inputs, group=2, pads=[1] * 4, **fused)


@pytest.mark.parametrize("activation", ["Relu", "LeakyRelu", "Sigmoid", "HardSigmoid"])
def test_fused_gemm(activation: str) -> None:
    given = {"activation_alpha": 0.3} if activation in ("LeakyRelu", "HardSigmoid") else {}
    given |= {"activation_beta": 0.4} if activation == "HardSigmoid" else {}
    check(
        "FusedGemm",
        [floats(5, 7), floats(9, 7), floats(9)],
        activation=activation,
        transB=1,
        alpha=0.5,
        **given,
    )


@pytest.mark.parametrize(
    "turned", [(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0), (0, 1, 1, 0), (1, 0, 1, 1)]
)
def test_fused_matmul(turned: tuple[int, ...]) -> None:
    names = ("transA", "transB", "transBatchA", "transBatchB")
    given = dict(zip(names, turned, strict=True))

    def shaped(matrix: int, batch: int, *shape: int) -> Array:
        axes = (shape[0], shape[2], shape[1]) if matrix else shape
        return floats(*((axes[1], axes[0], axes[2]) if batch else axes))

    a = shaped(turned[0], turned[2], 3, 4, 5)
    b = shaped(turned[1], turned[3], 3, 5, 6)
    check("FusedMatMul", [a, b], alpha=0.25, **given)


@pytest.mark.parametrize("kind", ["uint8", "int8"])
@pytest.mark.parametrize("columns", [(), (6,)])
def test_products_of_integers(kind: str, columns: tuple[int, ...]) -> None:
    a, b = bytes_of("uint8", 3, 20), bytes_of(kind, 20, 6)
    zero = bytes_of(kind, *columns)
    inputs = [a, b, scale(), scale(*columns), np.array(120, np.uint8), zero]
    check("MatMulIntegerToFloat", [*inputs, floats(6)])
    check("MatMulIntegerToFloat", inputs[:4])


@pytest.mark.parametrize("bias", [False, True])
def test_products_that_quantise_by_range(bias: bool) -> None:
    more = [floats(6)] if bias else []
    inputs: list[Array | None] = [
        floats(3, 20),
        bytes_of("uint8", 20, 6),
        scale(),
        np.array(99, np.uint8),
    ]
    for got, wanted in run_both("DynamicQuantizeMatMul", [*inputs, *more]):
        np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=2e-2)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("columns", [(), (6,)])
def test_q_gemm(real: bool, columns: tuple[int, ...]) -> None:
    inputs: list[Array | None] = [bytes_of("uint8", 3, 20), scale(), np.array(7, np.uint8)]
    inputs += [bytes_of("int8", 6, 20), scale(*columns), np.zeros(columns, np.int8)]
    inputs.append(RANDOM.integers(-999, 999, 6).astype(np.int32))
    if real:
        check("QGemm", inputs, transB=1, alpha=0.5)
    else:
        end = [np.array(0.3, np.float32), np.array(90, np.uint8)]
        check_integers("QGemm", [*inputs, *end], transB=1, alpha=1.0)


@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("kind", ["uint8", "int8"])
def test_elementwise_on_integers(op: str, kind: str) -> None:
    a, b = bytes_of(kind, 3, 40), bytes_of(kind, 40)
    zero = np.array(3, kind)
    check_integers(op, [a, scale(), zero, b, scale(), zero, np.array(0.06, np.float32), zero])


@pytest.mark.parametrize("op", ["QLinearSigmoid", "QLinearLeakyRelu"])
def test_activations_of_integers(op: str) -> None:
    given = {"alpha": 0.2} if op == "QLinearLeakyRelu" else {}
    ends = [np.array(0.01, np.float32), np.array(20, np.uint8)]
    check_integers(op, [bytes_of("uint8", 3, 40), scale(), np.array(128, np.uint8), *ends], **given)


@pytest.mark.parametrize(("opset", "axis"), [(13, -1), (12, 1)])
def test_softmax_of_integers(opset: int, axis: int) -> None:
    ends = [np.array(1 / 256, np.float32), np.array(0, np.uint8)]
    inputs = [bytes_of("uint8", 2, 3, 10), scale(), np.array(128, np.uint8), *ends]
    check_integers("QLinearSoftmax", inputs, opset=opset, axis=axis)


@pytest.mark.parametrize("last", [0, 1])
def test_pools_of_integers(last: int) -> None:
    x = bytes_of("uint8", 2, 5, 6, 7)
    ends = [np.array(0.03, np.float32), np.array(9, np.uint8)]
    check_integers(
        "QLinearGlobalAveragePool", [x, scale(), np.array(99, np.uint8), *ends], channels_last=last
    )


def test_integers_of_other_scales_are_joined() -> None:
    parts: list[Array | None] = [np.array(0.04, np.float32), np.array(12, np.uint8)]
    for columns in (3, 5):
        parts += [bytes_of("uint8", 2, columns), scale(), np.array(100 + columns, np.uint8)]
    check_integers("QLinearConcat", parts, axis=1)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("each", [False, True])
def test_lstm_of_integers(direction: str, each: bool) -> None:
    """All inputs are rounded together, and the state in each step, of all of the batch.

    Several threads of ONNX Runtime divide the batch: each then rounds its part by itself.
    """
    count, hidden = (2 if direction == "bidirectional" else 1), 8
    gates = (count, 4 * hidden) if each else (count,)
    w, r = bytes_of("int8", count, 5, 4 * hidden), bytes_of("int8", count, hidden, 4 * hidden)
    ws, rs = scale(*gates) / 10, scale(*gates) / 10
    zero = np.zeros(gates, np.int8)
    b, x = floats(count, 8 * hidden) / 4, floats(7, 2, 5)
    inputs: list[Array | None] = [x, w, r, b, None, None, None, None, ws, zero, rs, zero]
    given = {"hidden_size": hidden, "direction": direction}
    names = [f"i{n}" if each is not None else "" for n, each in enumerate(inputs)]
    stored = [
        numpy_helper.from_array(a, n)
        for n, a in zip(names, inputs, strict=True)
        if a is not None and n != "i0"
    ]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    ports = [helper.make_tensor_value_info("i0", 1, x.shape)], [onnx.ValueInfoProto(name="y")]
    node = helper.make_node("DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", **given)
    graph = helper.make_graph([node], "g", *ports, stored)
    rounded = helper.make_model(graph, opset_imports=opsets, ir_version=10)

    got = trivium.compile(rounded).run({"i0": x})["y"]
    np.testing.assert_allclose(got, on_one_thread(rounded).run(None, {"i0": x})[0], atol=1e-6)


def on_one_thread(model: ModelProto) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_lstm_that_onnxruntime_quantised(kind: str, tmp_path: Path) -> None:
    """The number of steps and the batch change; the last states are results, too."""
    hidden, columns = 33, 20
    weights = {
        "w": floats(2, 4 * hidden, columns) / 4,
        "r": floats(2, 4 * hidden, hidden) / 4,
        "b": floats(2, 8 * hidden) / 4,
    }
    outputs = ["y", "y_h", "y_c"]
    given = {"hidden_size": hidden, "direction": "bidirectional"}
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], outputs, **given)
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, ["T", "N", columns])],
        [helper.make_tensor_value_info(name, 1, None) for name in outputs],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )
    plain = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    path = tmp_path / "quantised.onnx"
    type_ = QuantType.QInt8 if kind == "int8" else QuantType.QUInt8
    quantize_dynamic(plain, path, op_types_to_quantize=["LSTM"], weight_type=type_)
    model = onnx.load(path)
    assert [n.op_type for n in model.graph.node] == ["DynamicQuantizeLSTM"]
    session, peer = trivium.compile(model), on_one_thread(model)
    for length, batch in ((1, 1), (6, 1), (5, 3)):
        x = floats(length, batch, columns)
        got = session.run({"x": x})
        for name, want in zip(outputs, peer.run(outputs, {"x": x}), strict=True):
            np.testing.assert_allclose(got[name], want, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("missing", [8, 9, 10, 11])
def test_lstm_of_integers_needs_scales_and_zero_points(missing: int) -> None:
    names = ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"]
    what = {8: "w_scale", 9: "w_zero_point", 10: "r_scale", 11: "r_zero_point"}[missing]
    stored = {
        "w": bytes_of("int8", 1, 5, 8),
        "r": bytes_of("int8", 1, 2, 8),
        "ws": scale(1),
        "wz": np.zeros(1, np.int8),
        "rs": scale(1),
        "rz": np.zeros(1, np.int8),
    }
    names[missing] = ""
    node = helper.make_node(
        "DynamicQuantizeLSTM", names, ["y"], domain="com.microsoft", hidden_size=2, name="layer"
    )
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info("x", 1, [3, 1, 5])],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(a, n) for n, a in stored.items()],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    with pytest.raises(trivium.CompileError, match=f"layer: error: .* lacks input '{what}'"):
        trivium.compile(helper.make_model(graph, opset_imports=opsets, ir_version=10))
