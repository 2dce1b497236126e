"""Models that quantise to floats of 8 bits, on GPUs: their kernels, and what they compute."""

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects import tri
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module, ops
from trivium.dialects.core.tensor import Array
from trivium.targets.choices import STRICT
from trivium.targets.options import CompileOptions
from trivium.targets.registry import find_target

RANDOM = np.random.default_rng(2)
CODES = {
    "f8E4M3FN": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    "f8E5M2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
}
ROWS, DEPTH, COLUMNS = 33, 300, 257


def model(dtype: str, scales: Array, axis: int) -> onnx.ModelProto:
    """Write the product of a quantised input and of quantised weights, behind a bias and a relu."""
    code, kind = CODES[dtype]
    w = RANDOM.standard_normal((DEPTH, COLUMNS)).astype(kind)
    held = {
        "s": np.float32(0.03),
        "t": scales.astype(np.float32),
        "c": RANDOM.standard_normal(COLUMNS).astype(np.float32),
    }
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s"], ["a"]),
        helper.make_node("DequantizeLinear", ["w", "t"], ["b"], axis=axis),
        helper.make_node("MatMul", ["a", "b"], ["p"]),
        helper.make_node("Add", ["p", "c"], ["r"]),
        helper.make_node("Relu", ["r"], ["y"]),
    ]
    weights = [numpy_helper.from_array(np.asarray(array), name) for name, array in held.items()]
    weights.append(helper.make_tensor("w", code, w.shape, w.tobytes(), raw=True))
    weights.append(helper.make_tensor("z", code, [], b"\0", raw=True))
    info = helper.make_tensor_value_info
    inputs = [info("x", TensorProto.FLOAT, [ROWS, DEPTH])]
    outputs = [info("y", TensorProto.FLOAT, [ROWS, COLUMNS])]
    graph = helper.make_graph(nodes, "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def placed(given: onnx.ModelProto, x: Array, exact: bool = False) -> tuple[Array, list[list[str]]]:
    """Return what a placed model computes, and the ops of each of its kernels."""
    options = CompileOptions(math=STRICT) if exact else CompileOptions()
    with new_context():
        module = import_onnx(given)
        pipeline_for("gpu:sm_90", 2, options).run(module)
        (got,) = run(module, [x])
        groups = [op for op in ops(module.main) if isinstance(op, tri.Group)]
        assert {group.target for group in groups} == {"gpu"}
        return got, [[op.op_name.removeprefix("tri.") for op in each.members] for each in groups]


@pytest.mark.parametrize("dtype", CODES)
def test_scales_go_behind_products_in_one_kernel(dtype: str) -> None:
    given = model(dtype, RANDOM.random(COLUMNS) + 0.5, 1)
    x = RANDOM.standard_normal((ROWS, DEPTH)).astype(np.float32)
    got, kernels = placed(given, x)
    assert [kernel[-1] for kernel in kernels] == ["cast", "relu"]
    product = [name for name in kernels[1] if name != "constant"]
    assert product[:5] == ["cast", "cast", "mat_mul", "mul", "mul"]
    (want,) = ReferenceEvaluator(given).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("case", ["along the depth", "strict"])
def test_scales_stay_before_products_where_they_must(case: str) -> None:
    strict = case == "strict"
    size, axis = (COLUMNS, 1) if strict else (DEPTH, 0)
    given = model("f8E4M3FN", RANDOM.random(size) + 0.5, axis)
    x = RANDOM.standard_normal((ROWS, DEPTH)).astype(np.float32)
    got, kernels = placed(given, x, strict)
    found = [name for kernel in kernels for name in kernel]
    assert "mul" not in found[found.index("mat_mul") :]
    (want,) = ReferenceEvaluator(given).run(None, {"x": x})
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-4)


ROUNDED = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tri.cast"(%x) {to = "f8E5M2"} : (tensor<4xf32>) -> tensor<4xf8E5M2>
  %1 = "tri.cast"(%0) {to = "f32"} : (tensor<4xf8E5M2>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""


def test_kernels_end_where_floats_of_8_bits_are_made() -> None:
    with new_context():
        module = Module.parse(ROUNDED)
        casts = [op for op in ops(module.main) if isinstance(op, tri.Cast)]
        gpu = find_target("gpu")
        assert gpu.kernel_refusal(casts[:1]) is None
        assert gpu.kernel_refusal(casts[1:]) is None
        refusal = gpu.kernel_refusal(casts)
    assert refusal == "gpu stores floats of 8 bits, so that products read them as they are"


@pytest.mark.parametrize(
    ("op", "types", "refusal"),
    [
        ('"tri.cast"(%x) {to = "f32"}', ("f8E4M3FN", "f32"), None),
        ('"tri.cast"(%x) {to = "f8E5M2"}', ("f32", "f8E5M2"), None),
        ('"tri.cast"(%x) {to = "f32"}', ("f8E4M3FNUZ", "f32"), "f8E4M3FNUZ"),
        ('"tri.cast"(%x) {to = "f4E2M1FN"}', ("f32", "f4E2M1FN"), "f4E2M1FN"),
        ('"tri.reshape"(%x) {shape = array<i64: 4>}', ("f8E5M2", "f8E5M2"), "f8E5M2"),
    ],
)
def test_only_casts_take_floats_of_8_bits(
    op: str, types: tuple[str, str], refusal: str | None
) -> None:
    x, y = (f"tensor<4x{each}>" for each in types)
    text = f"func.func @main(%x: {x}) -> {y} {{ %y = {op} : ({x}) -> {y} return %y : {y} }}"
    with new_context():
        module = Module.parse(text)
        (found,) = (o for o in ops(module.main) if isinstance(o, (tri.Cast, tri.Reshape)))
        reason = find_target("gpu").refusal(found)
    assert reason == (refusal and f"gpu has no kernels of {found.op_name} on {refusal}")
