"""Counts of floating-point operations, against counts by hand."""

import numpy as np
import onnx.parser
import pytest
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.targets.costs import flops as counts
from trivium.targets.costs.flops import flops, is_missing, multiplies
from trivium.targets.program.load_calls import load_groups

# The inputs, the node, the count.
CASES = {
    "conv": (
        "float[1,4,8,8] x, float[6,4,3,3] w",
        "y = Conv <pads=[1,1,1,1]> (x, w)",
        2 * 8 * 8 * 6 * 4 * 9,
    ),
    "strided conv": (
        "float[2,4,8,8] x, float[6,4,2,2] w",
        "y = Conv <strides=[2,2]> (x, w)",
        2 * 2 * 4 * 4 * 6 * 4 * 4,
    ),
    "depthwise conv": (
        "float[1,4,8,8] x, float[4,1,3,3] w",
        "y = Conv <pads=[1,1,1,1], group=4> (x, w)",
        2 * 8 * 8 * 4 * 9,
    ),
    "transposed conv": (
        "float[1,3,4,4] x, float[3,2,2,2] w",
        "y = ConvTranspose <strides=[2,2]> (x, w)",
        2 * 4 * 4 * 3 * 2 * 4,
    ),
    "matmul": ("float[2,3,4] a, float[4,5] b", "y = MatMul (a, b)", 2 * 2 * 3 * 5 * 4),
    "dot": ("float[7] a, float[7] b", "y = MatMul (a, b)", 2 * 7),
    "gemm": ("float[4,3] a, float[4,5] b", "y = Gemm <transA=1> (a, b)", 2 * 3 * 5 * 4),
    "einsum": (
        "float[2,3,4] a, float[2,4,5] b",
        'y = Einsum <equation="bij,bjk->bk"> (a, b)',
        2 * 2 * 3 * 4 * 5,
    ),
    "einsum of one": ("float[3,4] a", 'y = Einsum <equation="ij->ji"> (a)', 0),
    "attention": (
        "float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,6] v",
        "y = Attention (q, k, v)",
        2 * 2 * 3 * 5 * 4 + 2 * 2 * 3 * 5 * 6,
    ),
    "lstm": (
        "float[5,2,3] x, float[1,16,3] w, float[1,16,4] r",
        "y = LSTM <hidden_size=4> (x, w, r)",
        5 * 2 * 2 * (16 * 3 + 16 * 4),
    ),
    "relu": ("float[5] x", "y = Relu (x)", 0),
}


def model(inputs: str, node: str) -> onnx.ModelProto:
    header = '<ir_version: 10, opset_import: ["" : 23]>'
    parsed = onnx.parser.parse_model(f"{header} g ({inputs}) => (float y) {{ {node} }}")
    parsed.graph.output[0].ClearField("type")  # whatever the node makes of its inputs
    return parsed


def count(module: Module) -> int:
    """Count the operations of a run, without those of loading the package."""
    loaded = load_groups(module)
    groups = [op for op in ops(module.operation) if isinstance(op, tri.Group) and op not in loaded]
    bodies = [ops(group.block) for group in groups] or [ops(module.operation)]
    return sum(flops(op) for body in bodies for op in body)


@pytest.mark.parametrize("case", CASES)
def test_counts(case: str) -> None:
    inputs, node, expected = CASES[case]
    with new_context():
        assert count(import_onnx(model(inputs, node))) == expected


@pytest.mark.parametrize(
    ("weight", "attributes"),
    [("64,64,3,3", "pads=[1,1,1,1]"), ("64,64,1,1", "group=1"), ("64,32,3,3", "group=2")],
)
def test_packing_weights_changes_no_count(weight: str, attributes: str) -> None:
    w = np.ones([int(size) for size in weight.split(",")], np.float32)
    source = model(f"float[1,64,28,28] x, float[{weight}] w", f"y = Conv <{attributes}> (x, w)")
    with new_context():
        plain = import_onnx(source, constants={"w": w})
        expected = count(plain)
        pipeline_for("cpu", 2).run(plain)
        assert count(plain) == expected > 0


@pytest.mark.parametrize(
    ("node", "weight", "expected"),
    [
        ("ConvInteger <pads=[1,1,1,1], group=2>", (6, 5, 3, 3), 2 * 6 * 11 * 9 * 5 * 9),
        ("MatMulInteger", (9, 7), 2 * 10 * 11 * 7 * 9),
    ],
)
def test_products_of_bytes_count_as_those_of_floats(
    node: str, weight: tuple[int, ...], expected: int
) -> None:
    """Five channels and nine bytes of depth do not fill words; what fills them up is no work."""
    kind = ",".join(map(str, weight))
    source = model(f"uint8[1,10,11,9] x, int8[{kind}] w", f"y = {node} (x, w)")
    source.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT32
    with new_context():
        module = import_onnx(source, constants={"w": np.ones(weight, np.int8)})
        assert count(module) == expected
        pipeline_for("cpu", 2).run(module)
        assert count(module) == expected
        (op,) = [op for op in ops(module.operation) if op.op_name.startswith("cpu.dot")]
        assert multiplies(op) == "i8"


@pytest.mark.parametrize(("dtype", "factors"), [("bfloat16", "bf16"), ("float16", "f32")])
def test_attention_of_bf16_multiplies_pairs(dtype: str, factors: str) -> None:
    inputs = ", ".join(f"{dtype}[1,2,3,4] {name}" for name in "qkv")
    with new_context():
        module = import_onnx(model(inputs, "y = Attention (q, k, v)"))
        (op,) = (op for op in ops(module.operation) if isinstance(op, tri.Attention))
        assert multiplies(op) == factors


def test_projections_count_plain_and_packed() -> None:
    """Ten states of three elements, which four units make."""
    text = """func.func @main(%x: tensor<5x2x3xf32>) -> tensor<5x1x2x3xf32> {
      %w = "tri.constant"() {value = dense<1.0> : tensor<1x16x3xf32>} : () -> tensor<1x16x3xf32>
      %p = "tri.constant"() {value = dense<2.0> : tensor<1x3x4xf32>} : () -> tensor<1x3x4xf32>
      %y, %h, %c = "tri.lstm"(%x, %w, %w, %p) {hidden_size = 4,
        operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 1>} :
        (tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x3xf32>, tensor<1x3x4xf32>) ->
        (tensor<5x1x2x3xf32>, tensor<1x2x3xf32>, tensor<1x2x4xf32>)
      return %y : tensor<5x1x2x3xf32>
    }"""
    expected = 2 * 5 * 2 * (16 * 3 + 16 * 3 + 3 * 4)
    with new_context():
        module = Module.parse(text)
        assert count(module) == expected
        pipeline_for("cpu", 2).run(module)
        assert "cpu.packed_lstm" in {op.op_name for op in ops(module.operation)}
        assert count(module) == expected


def test_kernels_that_nobody_counts_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(map(is_missing, ("cpu.winograd_conv", "tri.add", "tri.softmax", "cpu.nothing")))
    monkeypatch.delitem(counts._COUNTS, "cpu.winograd_conv")
    assert is_missing("cpu.winograd_conv")
