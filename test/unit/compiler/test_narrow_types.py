"""Element types that are stored and cast: expected values come from ml_dtypes."""

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from onnx import TensorProto, helper, numpy_helper
from trivium.dialects.core.errors import CompileError

FLOATS = {
    "float8e4m3fn": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn),
    "float8e4m3fnuz": (TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz),
    "float8e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2),
    "float8e5m2fnuz": (TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz),
    "float8e8m0": (TensorProto.FLOAT8E8M0, ml_dtypes.float8_e8m0fnu),
    "float4e2m1": (TensorProto.FLOAT4E2M1, ml_dtypes.float4_e2m1fn),
}
INTEGERS = {
    "int4": (TensorProto.INT4, ml_dtypes.int4),
    "uint4": (TensorProto.UINT4, ml_dtypes.uint4),
    "int2": (TensorProto.INT2, ml_dtypes.int2),
    "uint2": (TensorProto.UINT2, ml_dtypes.uint2),
}
BITS = {"float4e2m1": 4, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2}


def session(text: str, **options: Any) -> trivium.Session:
    head = '<ir_version: 13, opset_import: ["" : 25]>'
    return trivium.compile(onnx.parser.parse_model(f"{head} g {text}"), **options)


def codes(name: str) -> np.ndarray[Any, Any]:
    """Return an element of each bit pattern."""
    kind = {**FLOATS, **INTEGERS}[name][1]
    return np.arange(1 << BITS.get(name, 8), dtype=np.uint8).view(kind)


@pytest.mark.parametrize("name", [*FLOATS, *INTEGERS])
def test_every_bit_pattern_is_widened_by_a_native_kernel(name: str) -> None:
    made = session(f"({name}[N] x) => (float[N] y) {{ y = Cast <to = 1> (x) }}")
    assert [step.kind for step in made.manifest.steps] == ["cpu"]
    x = codes(name)
    np.testing.assert_array_equal(made.run({"x": x})["y"], x.astype(np.float32))


@pytest.mark.parametrize("name", list(INTEGERS))
@pytest.mark.parametrize("code", [TensorProto.INT64, TensorProto.INT8, TensorProto.FLOAT16])
def test_integers_are_widened_to_any_type(name: str, code: int) -> None:
    made = session(
        f"({name}[N] x) => (int64[N] y) {{ t = Cast <to = {code}> (x) y = Cast <to = 7> (t) }}"
    )
    x = codes(name)
    np.testing.assert_array_equal(made.run({"x": x})["y"], x.astype(np.int64))


@pytest.mark.parametrize("name", list(INTEGERS))
def test_integers_wrap_around(name: str) -> None:
    code, kind = INTEGERS[name]
    made = session(f"(int64[N] x) => ({name}[N] y) {{ y = Cast <to = {code}> (x) }}")
    assert [step.kind for step in made.manifest.steps] == ["cpu"]
    x = np.arange(-40, 41)
    bits = BITS[name]
    wrapped = x % (1 << bits)
    if not name.startswith("u"):
        wrapped = np.where(wrapped >= 1 << bits - 1, wrapped - (1 << bits), wrapped)
    np.testing.assert_array_equal(made.run({"x": x})["y"].astype(np.int64), wrapped)
    assert made.run({"x": x})["y"].dtype == kind


@pytest.mark.parametrize("name", [n for n in FLOATS if n != "float8e8m0"])
def test_floats_round_to_the_nearest_and_saturate(name: str) -> None:
    code, kind = FLOATS[name]
    made = session(f"(float[N] x) => ({name}[N] y) {{ y = Cast <to = {code}> (x) }}")
    x = np.random.default_rng(0).normal(size=4000).astype(np.float32) * np.float32(50)
    most = float(ml_dtypes.finfo(kind).max)
    x = np.concatenate([x, np.float32([np.inf, -np.inf, 1e30, -1e30, 0, -0.0, most, -most])])
    y = made.run({"x": x})["y"]
    assert y.dtype == kind
    np.testing.assert_array_equal(
        y.astype(np.float32), np.clip(x, -most, most).astype(kind).astype(np.float32)
    )


@pytest.mark.parametrize("name", ["int4", "float8e4m3fn", "uint2"])
def test_elements_are_moved_natively(name: str) -> None:
    made = session(
        f"""({name}[N, 4] x, int64[K] at) => ({name}[K, 2] y, {name}[N, 8] z) {{
            t = Transpose <perm = [1, 0]> (x)
            g = Gather <axis = 1> (t, at)
            b = Transpose <perm = [1, 0]> (g)
            y, w = Split <axis = 1, num_outputs = 2> (b)
            z = Concat <axis = 1> (x, x)
        }}"""
    )
    assert {step.kind for step in made.manifest.steps} == {"cpu"}
    x = np.resize(codes(name), (5, 4))
    at = np.array([3, 0, 4])
    got = made.run({"x": x, "at": at})
    np.testing.assert_array_equal(got["y"].view(np.uint8), x[at, :2].view(np.uint8))
    np.testing.assert_array_equal(got["z"].view(np.uint8), np.tile(x, 2).view(np.uint8))


@pytest.mark.parametrize("name", ["int4", "uint4"])
@pytest.mark.parametrize("raw", [False, True])
def test_weights_of_four_bits_in_blocks(name: str, raw: bool, tmp_path: Path) -> None:
    """A product by weights that are quantised in blocks, as tools of onnxruntime write them."""
    kind = INTEGERS[name][1]
    generator = np.random.default_rng(1)
    w = generator.integers(0, 16, (640, 480)).astype(np.uint8).view(kind)
    zero = generator.integers(0, 16, (20, 480)).astype(np.uint8).view(kind)
    scale = generator.uniform(0.1, 1, (20, 480)).astype(np.float32)
    data = [
        numpy_helper.from_array(w, "w"),
        numpy_helper.from_array(zero, "zero"),
        numpy_helper.from_array(scale, "scale"),
    ]
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale", "zero"], ["d"], axis=0, block_size=32),
        helper.make_node("MatMul", ["x", "d"], ["y"]),
    ]
    ports = [helper.make_tensor_value_info(n, 1, s) for n, s in (("x", ["N", 640]), ("y", None))]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:], data)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    source: Any = made
    if raw:
        source = tmp_path / "w.onnx"
        onnx.save(made, source)
    x = generator.normal(size=(3, 640)).astype(np.float32)
    wide = w.astype(np.float32) - zero.astype(np.float32).repeat(32, 0)
    expected = x @ (wide * scale.repeat(32, 0))
    got = trivium.compile(source).run({"x": x})["y"]
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-3)


def test_a_package_keeps_narrow_weights(tmp_path: Path) -> None:
    w = np.array([1, -2, 3, 7, -8, 0], ml_dtypes.int4)
    node = helper.make_node("Gather", ["w", "at"], ["y"])
    at = helper.make_tensor_value_info("at", TensorProto.INT64, ["K"])
    y = helper.make_tensor_value_info("y", TensorProto.INT4, ["K"])
    graph = helper.make_graph([node], "g", [at], [y], [numpy_helper.from_array(w, "w")])
    made = trivium.compile(helper.make_model(graph, ir_version=13))
    made.save(tmp_path / "w.trv")
    got = trivium.load(tmp_path / "w.trv").run({"at": np.array([4, 0, 3])})["y"]
    np.testing.assert_array_equal(got.astype(np.int64), [-8, 1, 7])


def test_computing_with_narrow_numbers_is_refused() -> None:
    with pytest.raises(CompileError, match="element type is f8E4M3FN, must be one to compute with"):
        session("(float8e4m3fn[2] x) => (float8e4m3fn[2] y) { y = Identity (x) z = Neg (x) }")
