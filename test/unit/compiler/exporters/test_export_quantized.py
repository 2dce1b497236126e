"""Quantised numbers in ONNX files: nodes and names as they were, and the same results."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from trivium.compiler.export import export
from trivium.compiler.exporters.onnx import export_onnx
from trivium.dialects.core.errors import CompileError
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module

RANDOM = np.random.default_rng(2)


def quantized_conv() -> onnx.ModelProto:
    """Make a convolution whose integers are also moved, and are an output."""
    node = helper.make_node
    weights = {
        "xs": np.float32(0.03),
        "xz": np.uint8(128),
        "w": RANDOM.integers(-127, 128, (300, 3, 3, 3)).astype(np.int8),
        "ws": RANDOM.uniform(0.001, 0.02, 300).astype(np.float32),
        "wz": np.zeros(300, np.int8),
        "b": RANDOM.integers(-900, 900, 300).astype(np.int32),
        "bs": RANDOM.uniform(0.001, 0.02, 300).astype(np.float32),
        "ys": np.float32(0.05),
        "yz": np.uint8(0),
    }
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        node("DequantizeLinear", ["b", "bs"], ["bd"], axis=0),
        node("Conv", ["xd", "wd", "bd"], ["c"]),
        node("Relu", ["c"], ["r"]),
        node("QuantizeLinear", ["r", "ys", "yz"], ["rq"]),
        node("Transpose", ["rq"], ["t"], perm=[0, 2, 3, 1]),
        node("DequantizeLinear", ["t", "ys", "yz"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes,
        "g",
        [info("x", TensorProto.FLOAT, (1, 3, 6, 6))],
        [info("y", TensorProto.FLOAT, (1, 4, 4, 300)), info("rq", TensorProto.UINT8, None)],
        [numpy_helper.from_array(np.asarray(a), n) for n, a in weights.items()],
    )
    opset = [helper.make_opsetid("", 19)]
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=opset, ir_version=10)
    )


def test_nodes_and_names_are_kept(tmp_path: Path) -> None:
    model = quantized_conv()
    onnx.save(model, tmp_path / "model.onnx")
    export(tmp_path / "model.onnx", tmp_path / "again.onnx")
    again = onnx.load(tmp_path / "again.onnx")
    made = [(node.op_type, list(node.output)) for node in again.graph.node]
    assert made == [(node.op_type, list(node.output)) for node in model.graph.node]
    x = RANDOM.normal(size=(1, 3, 6, 6)).astype(np.float32)
    results = [
        onnxruntime.InferenceSession(tmp_path / name).run(None, {"x": x})
        for name in ("model.onnx", "again.onnx")
    ]
    for first, second in zip(*results, strict=True):
        np.testing.assert_array_equal(first, second)


def test_pnnx_has_the_arithmetic(tmp_path: Path) -> None:
    onnx.save(quantized_conv(), tmp_path / "model.onnx")
    export(tmp_path / "model.onnx", tmp_path / "model.param")
    lines = (tmp_path / "model.param").read_text().splitlines()[2:]
    kinds = {line.split()[0] for line in lines}
    assert {"pnnx.Expression", "F.conv2d"} & kinds
    assert not any("quantize" in kind.lower() for kind in kinds)


@pytest.mark.parametrize(
    ("op", "dtype", "message"),
    [
        ("quantize", "i8<-127:127>:f32, 0.5", "saturates at -127:127, ONNX at the bounds"),
        ("dequantize", "i32:f32, 0.5:3", "has i32 with a zero point, ONNX has none for them"),
    ],
)
def test_what_onnx_cannot_say_is_refused(op: str, dtype: str, message: str) -> None:
    kind = f"!quant.uniform<{dtype}>"
    name, x, y = ("to", "f32", kind) if op == "quantize" else ("of", kind, "f32")
    text = f"""func.func @f(%x: tensor<2x{x}>) -> tensor<2x{y}> {{
      %y = "tri.{op}"(%x) {{{name} = "{kind}"}} : (tensor<2x{x}>) -> tensor<2x{y}>
      return %y : tensor<2x{y}> }}"""
    with new_context():
        module = Module.parse(text)
        with pytest.raises(CompileError, match=message):
            export_onnx(module)


def product_of_few_bits(bits: int, zero_points: bool, level: int) -> onnx.ModelProto:
    """Make a product whose depth is no multiple of its blocks, of which there is an odd number."""
    blocks, packed = 3, -(-3 * bits // 8)
    weights = {
        "w": RANDOM.integers(0, 256, (6, blocks, 32 * bits // 8)).astype(np.uint8),
        "s": RANDOM.uniform(0.1, 0.2, (6, blocks)).astype(np.float32),
        "z": RANDOM.integers(0, 256, (6, packed)).astype(np.uint8),
    }
    names = ["w", "s", "z"][: 2 + zero_points]
    node = helper.make_node(
        "MatMulNBits",
        ["x", *names],
        ["y"],
        "product",
        domain="com.microsoft",
        K=80,
        N=6,
        bits=bits,
        block_size=32,
        accuracy_level=level,
    )
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node],
        "g",
        [info("x", TensorProto.FLOAT, ("batch", 2, 80))],
        [info("y", TensorProto.FLOAT, ("batch", 2, 6))],
        [numpy_helper.from_array(weights[name], name) for name in names],
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize("level", [0, 4])
def test_products_of_few_bits_are_those_of_onnxruntime(
    bits: int, zero_points: bool, level: int, tmp_path: Path
) -> None:
    """Activations are rounded at level 4, and only there."""
    model = product_of_few_bits(bits, zero_points, level)
    onnx.save(model, tmp_path / "model.onnx")
    export(str(tmp_path / "model.onnx"), str(tmp_path / "again.onnx"))
    again = onnx.load(tmp_path / "again.onnx")
    assert [(node.op_type, node.name) for node in again.graph.node] == [("MatMulNBits", "product")]
    x = RANDOM.standard_normal((3, 2, 80)).astype(np.float32)
    got, wanted = (
        onnxruntime.InferenceSession(each.SerializeToString()).run(None, {"x": x})[0]
        for each in (again, model)
    )
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(
    ("weight", "zero_points", "bits", "block", "why"),
    [
        ("x", False, 4, 32, "weights that are computed"),
        ("c", True, 4, 32, "zero points of f32"),
        ("c", False, 2, 16, "blocks of 16 of 2 bits"),
    ],
)
def test_activations_that_onnxruntime_does_not_round_are_refused(
    weight: str, zero_points: bool, bits: int, block: int, why: str
) -> None:
    w = f"tensor<5x1x{block * bits // 8}xui8>"
    operands = f"%a, %{weight}, %s" + ", %s" * zero_points
    types = f"tensor<2x9xf32>, {w}, tensor<5x1xf32>" + ", tensor<5x1xf32>" * zero_points
    given = f'bits = {bits}, block = {block}, activations = "i8"'
    sizes = f"operandSegmentSizes = array<i32: 1, 1, 1, {int(zero_points)}>"
    text = f"""func.func @f(%a: tensor<2x9xf32>, %x: {w}, %s: tensor<5x1xf32>) -> tensor<2x5xf32> {{
      %c = "tri.weight"() {{name = "c", type = {w}}} : () -> {w}
      %y = "tri.block_quantized_mat_mul"({operands}) {{{given}, {sizes}}}
        : ({types}) -> tensor<2x5xf32>
      return %y : tensor<2x5xf32> }}"""
    with new_context():
        module = Module.parse(text)
        with pytest.raises(CompileError, match=f"rounds activations with {why}, ONNX Runtime's"):
            export_onnx(module)
