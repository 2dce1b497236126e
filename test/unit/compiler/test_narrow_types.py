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


def numbers(kind: Any) -> np.ndarray[Any, Any]:
    """Return drawn bits of f32, and each number of a type, between them, and beside that."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 1 << 32, 50000, np.uint64).astype(np.uint32).view(np.float32)
    spread = (random.normal(size=20000) * np.exp(6 * random.normal(size=20000))).astype(np.float32)
    count = 1 << (4 if "float4" in kind.__name__ else 8)
    known = np.unique(np.arange(count, dtype=np.uint8).view(kind).astype(np.float32))
    known = known[np.isfinite(known)]
    middle = (known[1:] + known[:-1]) / 2
    beside = [np.nextafter(middle, np.float32(end)) for end in (np.inf, -np.inf)]
    return np.concatenate([bits, spread, known, middle, *beside])


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("saturate", [0, 1])
@pytest.mark.parametrize("name", [n for n in FLOATS if n != "float8e8m0"])
def test_casts_to_floats_are_native_and_exact(name: str, saturate: int) -> None:
    """All numbers of f16, and drawn ones of f32, f64 and i64; the bits are those of ml_dtypes."""
    code, kind = FLOATS[name]
    most = float(ml_dtypes.finfo(kind).max)
    drawn = numbers(kind)
    whole = np.random.default_rng(1).integers(-70000, 70000, 5000)
    inputs = {
        "float16": np.arange(1 << 16, dtype=np.uint16).view(np.float16),
        "float": drawn,
        "double": drawn.astype(np.float64) * (1 + 2.0**-30),
        "int64": np.concatenate([whole, whole << 40]),
        "int32": whole.astype(np.int32),
    }
    for source, x in inputs.items():
        text = f"({source}[N] x) => ({name}[N] y)"
        cast = f"{{ y = Cast <to = {code}, saturate = {saturate}> (x) }}"
        made = session(f"{text} {cast}")
        assert [step.kind for step in made.manifest.steps] == ["cpu"]
        wide = x.astype(np.float64 if x.dtype.itemsize > 4 else np.float32)
        if saturate or name == "float4e2m1":
            wide = np.clip(wide, -most, most)
        got = made.run({"x": x})["y"].view(np.uint8)
        np.testing.assert_array_equal(got, wide.astype(kind).view(np.uint8))


@pytest.mark.parametrize("round_mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_powers_of_two_are_native_and_exact(round_mode: str, saturate: int) -> None:
    """The powers that stand for drawn numbers, those of f16 among them, are those of ONNX."""
    code = FLOATS["float8e8m0"][0]
    attributes = f'to = {code}, saturate = {saturate}, round_mode = "{round_mode}"'
    text = f"(float[N] x) => (float8e8m0[N] y) {{ y = Cast <{attributes}> (x) }}"
    made = session(text)
    assert [step.kind for step in made.manifest.steps] == ["cpu"]
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    x = np.concatenate([numbers(ml_dtypes.float8_e5m2), halves])
    got = made.run({"x": x})["y"].view(np.uint8)
    # ONNX's helper rounds numbers below the least normal one up from zero, and makes infinity NaN.
    plain = np.isnan(x) | (np.isfinite(x) & (np.abs(x) >= 2.0**-126))
    wanted = numpy_helper.to_float8e8m0(np.abs(x), bool(saturate), round_mode).view(np.uint8)
    np.testing.assert_array_equal(got[plain], wanted[plain])
    by_numpy = session(text, target="host").run({"x": x})["y"].view(np.uint8)
    np.testing.assert_array_equal(got, by_numpy)


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
    compiled = trivium.compile(source)
    got = compiled.run({"x": x})["y"]
    np.testing.assert_allclose(got, expected, rtol=2e-5, atol=2e-3)
    memory = compiled.manifest.memory
    assert memory.weight_bytes <= 1.05 * (w.size // 2 + zero.size + scale.nbytes)
    assert memory.prepared_bytes == 0


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
