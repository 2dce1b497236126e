"""The values that lose the outputs most, against numpy in float64 and ONNX Runtime."""

import math
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.frontends.onnx import import_onnx
from trivium.compiler.quantize import Closeness, Report
from trivium.compiler.quantize.closeness import closeness
from trivium.compiler.quantize.variants import copied
from trivium.dialects.core.mlir import new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.quantized import QuantizedType
from trivium.dialects.core.tensor import Array
from trivium.passes.quantize.quantizable import deciding, names_of
from trivium.passes.quantize.quantize import quantize_by
from trivium.passes.quantize.scale_table import Scale, ScaleTable
from trivium.test.unit.compiler.digits import digits
from trivium.test.unit.compiler.quantize.quantized_networks import many, with_weights

SAMPLES, BATCH = 64, 16
RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(SAMPLES, 6)).astype(np.float32)
W1 = RANDOM.normal(size=(6, 8)).astype(np.float32)
W1[:, 5] *= 40  # so large that few steps are left for all other channels
W2 = RANDOM.normal(size=(8, 8)).astype(np.float32)
W2[5] = 0  # and then nobody reads it
B2 = RANDOM.normal(size=8).astype(np.float32)
W3 = RANDOM.normal(size=(8, 4)).astype(np.float32)


def harmful(batch: int = BATCH) -> onnx.ModelProto:
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[{batch}, 6] x) => (float[{batch}, 4] y) {{
            [wide] h = MatMul (x, w1)
            [layer] s = Gemm (h, w2, b2)
            [clip] r = Relu (s)
            [last] y = MatMul (r, w3)
        }}
    """)
    return with_weights(model, {"w1": W1, "w2": W2, "b2": B2, "w3": W3})


def fake(x: Array, like: Array | None = None) -> Array:
    """Round to 256 steps of one size, by least and most, of others if there are such."""
    like = x if like is None else like
    least, most = min(like.min(), 0.0), max(like.max(), 0.0)
    scale = float(np.float32((most - least) / 255))
    zero = min(max(round(-128 - least / scale), -128), 127)
    return (np.clip(np.rint(x / scale) + zero, -128, 127) - zero) * scale


def fake_weights(w: Array) -> Array:
    """Round to 127 steps on both sides, of a size for each column."""
    scale = (np.abs(w).max(0) / 127).astype(np.float32).astype(np.float64)
    return np.rint(w / scale) * scale


def by_hand(rounded: Collection[str]) -> Array:
    """Compute the network in float64 with some values rounded, and weights that they meet."""

    def product(x: Array, w: Array, name: str) -> Array:
        wide = w.astype(np.float64)
        return x @ (fake_weights(wide) if name in rounded else wide)

    def value(x: Array, name: str) -> Array:
        return fake(x) if name in rounded else x

    x = value(X.astype(np.float64), "x")
    h = value(product(x, W1, "x"), "h")
    r = value(np.maximum(product(h, W2, "h") + B2, 0), "r")  # a bias of i32 loses nothing here
    return value(product(r, W3, "r"), "y")


def decibels(x: Array, q: Array) -> float:
    return 10 * np.log10(np.sum(x * x) / np.sum((x - q) ** 2))


def cosine(x: Array, q: Array) -> float:
    return float(np.sum(x * q) / np.linalg.norm(x) / np.linalg.norm(q))


def assert_close(found: Closeness, x: Array, q: Array) -> None:
    """Let a few numbers be rounded to the other neighbour by f32: 0.05 dB are 1.2% of the noise."""
    assert found.sqnr == pytest.approx(decibels(x, q), abs=0.05)
    assert 1 - found.cosine == pytest.approx(1 - cosine(x, q), rel=0.012)


def examined(model: onnx.ModelProto, data: Any, *given: Any, **options: Any) -> Report:
    found: list[Report] = []
    trivium.quantize(model, data, *given, report=found.append, **options)
    (report,) = found
    return report


def test_says_what_each_value_does_alone() -> None:
    report = examined(harmful(), {"x": X})
    assert report.batches == SAMPLES // BATCH
    want = {name: by_hand({name}) for name in ("x", "h", "r", "y")}
    floats = by_hand(())
    for each in report.values:
        assert_close(each.outputs, floats, want[each.value])
    order = sorted(want, key=lambda name: decibels(floats, want[name]))
    assert [each.value for each in report.values] == order
    assert report.values[0].value == "h"
    assert decibels(floats, want["h"]) < 10 < 30 < decibels(floats, want[order[1]])
    assert {each.value: (each.node, each.op) for each in report.values} == {
        "x": ("", ""),
        "h": ("wide", "tri.mat_mul"),
        "r": ("layer", "tri.gemm"),  # a relu is a bound of the sum before it
        "y": ("last", "tri.mat_mul"),
    }


def test_says_what_each_op_loses_by_itself() -> None:
    report = examined(harmful(), {"x": X})
    x = X.astype(np.float64)
    h = x @ W1.astype(np.float64)
    r = np.maximum(h @ W2.astype(np.float64) + B2, 0)
    y = r @ W3.astype(np.float64)
    want = {
        "x": (x, fake(x)),
        "h": (h, fake(fake(x) @ fake_weights(W1.astype(np.float64)), h)),
        "r": (r, fake(np.maximum(fake(h) @ fake_weights(W2.astype(np.float64)) + B2, 0), r)),
        "y": (y, fake(fake(r) @ fake_weights(W3.astype(np.float64)), y)),
    }
    for each in report.values:
        assert_close(each.per_layer_error, *want[each.value])
    worst = min(report.values, key=lambda each: each.per_layer_error.sqnr)
    assert worst.value == "r"  # of which the cause is h, as its large channel hides its own noise
    assert report.values[0].value == "h"


def test_what_only_moves_numbers_is_a_part_of_what_reads_them() -> None:
    """Ranges of what is moved are those of what it is moved from."""
    random = np.random.default_rng(9)
    x = random.normal(size=(1, 4, 6, 6)).astype(np.float32)
    z = random.normal(size=(1, 4, 3, 3)).astype(np.float32)
    model = many()
    report = examined(model, {"x": x, "z": z})
    inner = ["relu", "pool", "sum"]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    relu, pool, total = [a.astype(np.float64) for a in session.run(inner, {"x": x, "z": z})]
    got = fake(fake(pool, relu) + fake(z.astype(np.float64)), total)
    (found,) = [each.per_layer_error for each in report.values if each.value == "sum"]
    assert found.sqnr == pytest.approx(decibels(total, got), abs=0.05)


def outputs_of(model: bytes, batch: int = BATCH) -> Array:
    session = onnxruntime.InferenceSession(model)
    return np.concatenate([session.run(None, {"x": x})[0] for x in np.split(X, SAMPLES // batch)])


def test_says_how_close_the_quantised_model_is(tmp_path: Path) -> None:
    path = tmp_path / "quantised.onnx"
    report = examined(harmful(), {"x": X}, path)
    assert (report.floats, report.float_nodes, report.nodes) == ((), (), 4)
    floats = outputs_of(harmful().SerializeToString()).astype(np.float64)
    quantised = outputs_of(path.read_bytes()).astype(np.float64)
    assert report.outputs["y"].sqnr == pytest.approx(decibels(floats, quantised), abs=0.1)
    assert report.outputs["y"].cosine == pytest.approx(cosine(floats, quantised), abs=1e-3)


def test_the_one_harmful_value_stays_a_float(tmp_path: Path) -> None:
    path, again = tmp_path / "some.onnx", tmp_path / "again.onnx"
    table = tmp_path / "scales.json"
    report = examined(harmful(), {"x": X}, path, cosine=0.999, write_table=str(table))
    assert report.floats == ("h",)
    assert report.float_nodes == ("wide", "layer")
    assert list(ScaleTable.load(str(table)).values) == ["x", "r", "y"]
    floats = outputs_of(harmful().SerializeToString()).astype(np.float64)
    got = outputs_of(path.read_bytes()).astype(np.float64)
    assert cosine(floats, got) >= 0.999
    assert report.outputs["y"].cosine == pytest.approx(cosine(floats, got), abs=1e-4)
    assert cosine(floats, by_hand({"x", "r", "y"})) == pytest.approx(cosine(floats, got), abs=1e-4)
    trivium.quantize(harmful(), None, again, table=str(table))
    assert path.read_bytes() == again.read_bytes()


def test_nothing_stays_a_float_that_need_not(tmp_path: Path) -> None:
    plain, asked = tmp_path / "plain.onnx", tmp_path / "asked.onnx"
    made = trivium.quantize(harmful(), {"x": X}, plain)
    report = examined(harmful(), {"x": X}, asked, cosine=1e-9)
    assert report.floats == ()
    assert asked.read_bytes() == plain.read_bytes()
    assert trivium.quantize(harmful(), {"x": X}, cosine=1e-9) == made


def test_all_may_have_to_stay_floats(tmp_path: Path) -> None:
    path = tmp_path / "floats.onnx"
    report = examined(harmful(), {"x": X}, path, cosine=1 - 1e-15)
    assert report.floats == tuple(each.value for each in report.values)
    assert (len(report.floats), len(report.float_nodes)) == (4, report.nodes)
    assert report.outputs["y"] == Closeness(1.0, math.inf)
    assert {node.op_type for node in onnx.load(path).graph.node} <= {"MatMul", "Gemm", "Relu"}


@pytest.mark.parametrize("cosine", [0.5, 0.99, 0.9999, 0.999999])
@pytest.mark.parametrize("options", [{}, {"per_tensor": True}, {"symmetric": True}])
def test_comes_as_close_as_is_asked(cosine: float, options: dict[str, Any], tmp_path: Path) -> None:
    """What is written does, too: it is compiled anew here."""
    path = tmp_path / "some.onnx"
    report = examined(harmful(), {"x": X}, path, cosine=cosine, **options)
    session, floats = trivium.compile(path), trivium.compile(harmful())
    parts = np.split(X, SAMPLES // BATCH)
    found = closeness((floats.run({"x": x})["y"], session.run({"x": x})["y"]) for x in parts)
    assert found == report.outputs["y"]
    assert found.cosine >= cosine


def test_many_batches_are_not_all_run() -> None:
    assert examined(harmful(1), {"x": X}).batches == 8
    assert examined(harmful(1), {"x": X[:9]}).batches == 5
    assert examined(harmful(1), {"x": X[:1]}).batches == 1


def test_what_is_moved_stays_a_float_with_what_it_is_moved_from() -> None:
    data = digits()
    report = examined(data.model, {"x": data.calibration}, cosine=1 - 1e-7)
    names = [each.value for each in report.values]
    assert sorted(names) == ["r0", "r1", "x", "y"]
    assert set(report.floats) == set(names[: len(report.floats)])
    nodes = {"x": ["conv0"], "r0": ["conv0", "relu0", "pool0", "conv1"]}
    nodes |= {"r1": ["conv1", "relu1", "flatten1", "linear"], "y": ["linear"]}
    floats = " ".join(report.float_nodes)
    for name in report.floats:
        assert all(node in floats for node in nodes[name])


def test_one_value_decides_for_sums_before_bounds_and_for_what_is_moved() -> None:
    with new_context():
        module = import_onnx(many())
        names = names_of(module)
        found = {name: names[deciding(value)] for value, name in names.items()}
    moved = {"conv": "relu", "pool": "relu", "flat": "both"}
    assert {name: other for name, other in found.items() if name != other} == moved


def test_the_least_close_of_several_outputs_counts(tmp_path: Path) -> None:
    model = many()
    random = np.random.default_rng(9)
    shapes: Mapping[str, tuple[int, ...]] = {"x": (4, 4, 6, 6), "z": (4, 4, 3, 3)}
    data = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    report = examined(model, data, cosine=0.9999)
    assert set(report.outputs) == {"y", "e"}
    assert min(each.cosine for each in report.outputs.values()) >= 0.9999
    assert 0 < len(report.floats) < len(report.values)


def test_a_model_with_nothing_to_quantise() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1, 2] x) => (float[1, 2] y) { y = Exp (x) }
    """)
    report = examined(model, {"x": np.ones((3, 2), np.float32)}, cosine=0.5)
    assert (report.values, report.floats, report.nodes) == ((), (), 0)
    assert report.outputs == {"y": Closeness(1.0, math.inf)}


def test_no_output_of_floats_is_refused() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1, 4] x) => (int64[1] y) {
            s = Add (x, x)
            y = ArgMax <axis = 1, keepdims = 0> (s)
        }
    """)
    with pytest.raises(trivium.CompileError) as caught:
        examined(model, {"x": np.ones((3, 4), np.float32)})
    assert str(caught.value) == "error: no output is of floats, so there is nothing to compare"


@pytest.mark.parametrize("wrong", [0.0, 1.0, -0.5, 1.5, math.nan, math.inf])
def test_cosines_that_say_nothing_are_refused(wrong: float) -> None:
    with pytest.raises(trivium.CompileError) as caught:
        trivium.quantize(harmful(), {"x": X}, cosine=wrong)
    assert str(caught.value) == f"error: cosine is {wrong}, must be a number above 0 and below 1"


def test_a_table_leaves_nothing_to_choose() -> None:
    with pytest.raises(trivium.CompileError) as caught:
        trivium.quantize(harmful(), table="scales.json", cosine=0.9)
    assert "what stays a float is chosen by data, not by a table" in str(caught.value)
    with pytest.raises(trivium.CompileError, match="a report is made by data, not by a table"):
        trivium.quantize(harmful(), table="scales.json", report=print)


def test_copies_share_nothing_but_weights() -> None:
    with new_context():
        module = import_onnx(harmful())
        text = str(module)
        other: Module = copied(module)
        quantize_by(other, ScaleTable({"x": Scale(QuantizedType.of("i8", [0.5]))}))
        assert str(module) == text != str(other)
        assert set(module.weights) <= set(other.weights)
