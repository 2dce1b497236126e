"""Products of bf16 with constant weights on the CPU target, against sums in f64."""

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.stages import pipeline_for
from trivium.dialects.core.machine import NATIVE, host_machine
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import ops
from trivium.dialects.core.tensor import Array
from trivium.targets.cpu.kernels.products.dot import find_instruction
from trivium.targets.options import CompileOptions
from trivium.test.unit.compiler.frontends.onnx.graphs import info, model, node

RANDOM = np.random.default_rng(29)
BF16 = ml_dtypes.bfloat16
NEEDS = pytest.mark.skipif(
    find_instruction(host_machine(), "bf16") is None, reason="the machine does not multiply bf16"
)


def half(*shape: int) -> Array:
    return RANDOM.standard_normal(shape).astype(BF16)


def inputs(name: str, *shape: int) -> dict[str, Any]:
    return {name: info(name, shape, onnx.TensorProto.BFLOAT16)}


def names(graph: onnx.ModelProto, machine: str = NATIVE) -> list[str]:
    with new_context():
        module = import_onnx(graph)
        pipeline_for("cpu", 2, CompileOptions(machine=machine)).run(module)
        found = [op.op_name for op in ops(module.operation)]
    return [name for name in found if name.startswith("cpu.")]


def check(graph: onnx.ModelProto, x: Array, want: Array, op: str) -> None:
    assert names(graph) == [op]
    (got,) = trivium.compile(graph).run({"x": x}).values()
    assert got.dtype == BF16
    # Half a unit in the last place of bf16, and what sums in f32 lose.
    limit = {"rtol": 2**-8, "atol": 1e-5 * np.abs(want).max()}
    np.testing.assert_allclose(got.astype(np.float64), want, **limit)


def wide(array: Array) -> Array:
    return array.astype(np.float64)


@NEEDS
@pytest.mark.parametrize("shape", [(5, 33), (1, 64), (2, 3, 40)])
def test_mat_mul(shape: tuple[int, ...]) -> None:
    x, w = half(*shape), half(shape[-1], 40)
    made = model([node("MatMul", "x w")], inputs("x", *shape), initializers={"w": w})
    check(made, x, wide(x) @ wide(w), "cpu.dot_mat_mul")


@NEEDS
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("turned", [0, 1])
def test_gemm(turned: int, biased: bool) -> None:
    x, w, b = half(5, 33), half(33, 20), half(20) if biased else np.zeros(20, BF16)
    weights = {"w": w.T if turned else w} | ({"b": b} if biased else {})
    call = node("Gemm", "x w b" if biased else "x w", transB=turned)
    made = model([call], inputs("x", 5, 33), initializers=weights, opset=13)
    check(made, x, wide(x) @ wide(w) + wide(b), "cpu.dot_mat_mul")


@NEEDS
@pytest.mark.parametrize("biased", [False, True])
def test_conv(biased: bool) -> None:
    x, w, b = half(1, 5, 20), half(8, 5, 3), half(8) if biased else np.zeros(8, BF16)
    call = node("Conv", "x w b" if biased else "x w", pads=[1, 1])
    weights = {"w": w} | ({"b": b} if biased else {})
    made = model([call], inputs("x", 1, 5, 20), initializers=weights, opset=22)
    padded = np.pad(wide(x), ((0, 0), (0, 0), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, 3, 2)
    want = np.einsum("ncpk,ock->nop", windows, wide(w)) + wide(b)[:, None]
    check(made, x, want, "cpu.dot_conv")


@NEEDS
def test_scales_and_biases_of_rows_stay() -> None:
    weights = {"w": half(33, 20), "b": half(5, 1)}
    scaled = model([node("Gemm", "x w", alpha=2.0)], inputs("x", 5, 33), initializers=weights)
    biased = model([node("Gemm", "x w b")], inputs("x", 5, 33), initializers=weights)
    assert "cpu.dot_mat_mul" not in names(scaled) + names(biased)


def test_machines_without_the_instruction_widen() -> None:
    made = model([node("MatMul", "x w")], inputs("x", 5, 33), initializers={"w": half(33, 20)})
    assert names(made, "x86-64-v4") == ["cpu.packed_mat_mul"]


@pytest.mark.parametrize("turned", [0, 1])
def test_products_of_f16_are_rounded_once_with_their_bias(turned: int) -> None:
    x, w, b = (
        RANDOM.standard_normal(shape).astype(np.float16) for shape in ((5, 33), (33, 20), 20)
    )
    weights = {"w": w.T if turned else w, "b": b}
    given = {"x": info("x", (5, 33), onnx.TensorProto.FLOAT16)}
    made = model([node("Gemm", "x w b", transB=turned)], given, initializers=weights)
    assert names(made) == ["cpu.packed_mat_mul"]
    (got,) = trivium.compile(made).run({"x": x}).values()
    want = wide(x) @ wide(w) + wide(b)
    # Half a unit in the last place, and what sums in f32 lose: rounded twice, some were further.
    limit = {"rtol": 2**-11, "atol": 1e-5 * np.abs(want).max()}
    np.testing.assert_allclose(got.astype(np.float64), want, **limit)
