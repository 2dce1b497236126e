"""ONNX files of models whose sizes change: ONNX Runtime and a second import see the same model."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.parser
import onnxruntime
import pytest
import trivium
from trivium.compiler.export import export
from trivium.compiler.exporters.onnx import export_onnx
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import ir, new_context
from trivium.dialects.core.module import Module
from trivium.dialects.core.tensor import Array

HEAD = '<ir_version: 10, opset_import: ["" : 21]>'
SIZES = (1, 4, 7)


@pytest.fixture(autouse=True)
def context() -> Iterator[ir.Context]:
    with new_context() as context, ir.Location.unknown():
        yield context


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f"{HEAD} {text}")


def floats(*shape: int) -> Array:
    numbers = np.arange(math.prod(shape)) % 11 - 5
    return numbers.reshape(shape).astype(np.float32)


def computed(model: onnx.ModelProto, feeds: Sequence[Any]) -> list[Array]:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [each.name for each in session.get_inputs()]
    return [np.asarray(a) for a in session.run(None, dict(zip(names, feeds, strict=True)))]


def assert_same(got: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


SHAPES = """
    shapes (float[N, T, 12] x, float[N, S] bias)
        => (float[N, T, 3, 4] y, float[N, T] z, float[N, T, 12] back, float[N, h, 12] half,
            float[N, s, 12] split, int64[T] count)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] last = {-1},
     int64[1] far = {-9223372036854775807}, int64[2] heads = {3, 4}, int64 first = {0},
     int64 apart = {1}> {
        size = Shape <end = 2> (x)
        target = Concat <axis = 0> (size, heads)
        y = Reshape (x, target)
        total = ReduceSum <keepdims = 0> (x, last)
        z = Add (total, bias)
        back = Slice (x, last, far, one, last)
        t = Shape <start = 1, end = 2> (x)
        next = Add (t, one)
        middle = Div (next, two)
        half = Slice (x, zero, middle, one, one)
        more = Slice (x, middle, t, one, one)
        split = Concat <axis = 1> (more, half, more)
        scalar = Squeeze (t)
        count = Range (first, scalar, apart)
    }
"""
BRANCH = """
    pick (float[N] x, bool up) => (float[N] y) {
        z = Add (x, x)
        [choose] y = If (up) <
            then_branch = then () => (float[N] a) { a = Add (x, z) },
            else_branch = other () => (float[N] b) { b = Identity (z) }
        >
    }
"""
LOOP = """
    repeat (float[N, 3] x, int64 trips) => (float[N, 3] y) <bool go = {1}> {
        y = Loop (trips, go, x) <body = body (int64 i, bool going, float[N, 3] c)
            => (bool again, float[N, 3] d) {
            again = Identity (going)
            f = Cast <to = 1> (i)
            d = Add (c, f)
        }>
    }
"""
FIND = """
    peaks (float[N] signal, float[1] level) => (float[k] heights, int64[k] places, int64[k] count)
    <int64[1] all = {-1}, int64 first = {0}, int64 apart = {1}> {
        high = Greater (signal, level)
        found = NonZero (high)
        places = Reshape (found, all)
        heights = Gather (signal, places)
        size = Shape <start = 1, end = 2> (found)
        scalar = Squeeze (size)
        count = Range (first, scalar, apart)
    }
"""
GIVEN = """
    shaped (float[N, 3] x, int64[2] shape) => (float[a, b] y, float[c, d, e] z)
    <int64[1] one = {1}> {
        y = Reshape (x, shape)
        both = Concat <axis = 0> (one, shape)
        z = Reshape (x, both)
    }
"""
RESIZE = """
    larger (float[N, 3, H, W] x) => (float[N, 3, h, w] y) <float[4] scales = {1, 1, 2, 1.5}> {
        y = Resize <mode = "linear"> (x, , scales)
    }
"""
CASES = {
    "shapes": (SHAPES, lambda n: (floats(2, n, 12), floats(2, n))),
    "branch": (BRANCH, lambda n: (floats(n), np.array(n % 2 == 1))),
    "loop": (LOOP, lambda n: (floats(n, 3), np.array(n))),
    "find": (FIND, lambda n: (floats(n), np.zeros(1, np.float32))),
    "given": (GIVEN, lambda n: (floats(n, 3), np.array([3, n]))),
    "resize": (RESIZE, lambda n: (floats(1, 3, n, n + 1),)),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("level", [0, 2])
def test_a_file_computes_what_the_model_does(case: str, level: int, tmp_path: Path) -> None:
    text, feeds = CASES[case]
    model = parse(text)
    onnx.save(model, tmp_path / "model.onnx")
    export(tmp_path / "model.onnx", tmp_path / "again.onnx", opt_level=level)
    again = onnx.load(tmp_path / "again.onnx")
    module = import_onnx(again)
    for size in SIZES:
        expected = computed(model, feeds(size))
        assert_same(computed(again, feeds(size)), expected)
        assert_same(run(module, feeds(size)), expected)


@pytest.mark.parametrize("case", ["branch", "resize"])
def test_a_file_comes_back_as_the_same_ir(case: str) -> None:
    module = import_onnx(parse(CASES[case][0]))
    assert str(import_onnx(export_onnx(module))) == str(module)


def test_inputs_keep_the_names_of_their_sizes_and_checks_come_back() -> None:
    module = import_onnx(parse(SHAPES))
    model = export_onnx(module)
    dims = [list(value.type.tensor_type.shape.dim) for value in model.graph.input]
    assert [[d.dim_param or d.dim_value for d in each] for each in dims] == [
        ["N", "T", 12],
        ["N", "S"],
    ]
    again = import_onnx(model)
    for name in ("trivium.symbols", "trivium.checks"):
        assert str(again.main.attributes[name]) == str(module.main.attributes[name])


def test_quotients_round_down_also_below_zero() -> None:
    """Compute a size by an expression with a dividend that may be negative, and a maximum."""
    text = """func.func @main(%x: tensor<?xf32, ["N"]>) -> tensor<3xi64>
        attributes {trivium.symbols = {N = "1.."}} {
      %y = "tri.sizes"() {shape = array<i64: 3>,
        values = ["(3*N - 20)//7", "max(2*N, 9)", "N*N - N//2 - 4"]} : () -> tensor<3xi64>
      return %y : tensor<3xi64>
    }"""
    model = export_onnx(Module.parse(text))
    for n in range(1, 12):
        (made,) = computed(model, [floats(n)])
        assert made.tolist() == [(3 * n - 20) // 7, max(2 * n, 9), n * n - n // 2 - 4]


def test_steps_of_a_symbol_are_divided_out() -> None:
    module = import_onnx(
        parse(
            "flat (float[T, 2] x) => (float[t] y) <int64[1] all = {-1}> { y = Reshape (x, all) }"
        ),
        shapes={"T": trivium.Range(step=8)},
    )
    model = export_onnx(module)
    (made,) = computed(model, [floats(24, 2)])
    assert made.tolist() == floats(48).tolist()


def test_all_that_bodies_have_and_onnx_lacks_is_reported_at_once() -> None:
    text = """func.func @main(%c: tensor<i1>, %x: tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]>
        attributes {trivium.symbols = {N = "1.."}} {
      %y = "tri.if"(%c, %x) ({
      ^bb0(%a: tensor<?xf32, ["N"]>):
        %b = "tri.expm1"(%a) : (tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]> loc("one")
        "tri.yield"(%b) : (tensor<?xf32, ["N"]>) -> ()
      }, {
      ^bb0(%a: tensor<?xf32, ["N"]>):
        "tri.fail"() {message = "is for 8 kHz"} : () -> ()
      }) : (tensor<i1>, tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]> loc("choose")
      %z = "tri.log1p"(%y) : (tensor<?xf32, ["N"]>) -> tensor<?xf32, ["N"]> loc("two")
      return %z : tensor<?xf32, ["N"]>
    }"""
    with pytest.raises(trivium.CompileError) as caught:
        export_onnx(Module.parse(text))
    assert str(caught.value).splitlines() == [
        "one: error: 'tri.expm1' op has no equivalent in ONNX",
        "choose: error: 'tri.if' op has a branch that ends in 'tri.fail', which ONNX lacks: "
        "is for 8 kHz",
        "two: error: 'tri.log1p' op has no equivalent in ONNX",
    ]


def test_ir_with_symbols_is_written_and_read(tmp_path: Path) -> None:
    onnx.save(parse(SHAPES), tmp_path / "model.onnx")
    export(tmp_path / "model.onnx", tmp_path / "model.mlir")
    x, bias = CASES["shapes"][1](5)
    expected = computed(parse(SHAPES), (x, bias))
    made = trivium.compile(tmp_path / "model.mlir", target="host").run({"x": x, "bias": bias})
    assert_same([*made.values()], expected)
