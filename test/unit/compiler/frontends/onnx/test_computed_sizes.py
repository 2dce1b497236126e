"""Sizes that a run computes: one import, several values of shapes, against ONNX Runtime."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
from test_selection_rules import check
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def lists(name: str, *values: Sequence[int]) -> list[dict[str, Any]]:
    return [{"x": X, name: np.array(value)} for value in values]


@pytest.mark.parametrize("free", ["2, 3, 4", "A, B, 4"])
def test_reshape(free: str) -> None:
    text = f"main (float[{free}] x, int64[2] s) => (float[a, b] y) {{ y = Reshape (x, s) }}"
    check(text, lists("s", [6, 4], [-1, 8], [0, 12], [0, -1], [3, -1], [24, 1]))


def test_reshape_of_nothing() -> None:
    x = np.zeros((0, 3), np.float32)
    text = (
        "main (float[0, 3] x, int64[2] s) => (float[a, b] y) { y = Reshape <allowzero = 1> (x, s) }"
    )
    check(text, [{"x": x, "s": np.array(s)} for s in ([0, 7], [5, 0])])


def test_a_part_of_a_shape() -> None:
    text = """
    main (float[2, 3, 4] x, int64[1] s) => (float[a, 4, b] y)
      <int64[1] four = {4}, int64[1] rest = {-1}>
      { shape = Concat <axis = 0> (s, four, rest)  y = Reshape (x, shape) }"""
    check(text, lists("s", [2], [1], [6], [0], [3]))


def test_expand() -> None:
    text = "main (float[3, 1] x, int64[3] s) => (float[a, b, c] y) { y = Expand (x, s) }"
    x = np.arange(3, dtype=np.float32).reshape(3, 1)
    check(text, [{"x": x, "s": np.array(s)} for s in ([2, 1, 6], [1, 3, 1], [0, 3, 2], [4, 3, 0])])


SLICES = [
    {"s": [0, 0], "e": [2, 3]},
    {"s": [1, -2], "e": [9, -1]},
    {"s": [-9, 2], "e": [-1, -9]},
    {"s": [0, -1], "e": [1 << 62, -(1 << 63)]},
    {"s": [5, 1], "e": [0, 1]},
]


@pytest.mark.parametrize("steps", [[1, 1], [1, -1], [-1, 2], [2, -3]])
@pytest.mark.parametrize("free", ["2, 3, 4", "A, B, 4"])
def test_slice(steps: list[int], free: str) -> None:
    first, second = steps
    text = f"""
    main (float[{free}] x, int64[2] s, int64[2] e) => (float[a, b, c] y)
      <int64[2] axes = {{0, 1}}, int64[2] steps = {{{first}, {second}}}>
      {{ y = Slice (x, s, e, axes, steps) }}"""
    check(text, [{"x": X} | {name: np.array(v) for name, v in each.items()} for each in SLICES])


@pytest.mark.parametrize("free", ["2, 3, 4", "A, B, 4"])
def test_slice_of_computed_axes(free: str) -> None:
    text = f"""
    main (float[{free}] x, int32[2] s, int32[2] e, int32[2] axes) => (float[a, b, c] y)
      {{ y = Slice (x, s, e, axes) }}"""
    lists = [([0, 1], [2, 9], [0, 2]), ([-1, 0], [9, -1], [-1, 0]), ([1, 0], [1, 2], [1, 0])]
    names = ("s", "e", "axes")
    feeds = [dict(zip(names, map(np.int32, each), strict=True)) for each in lists]
    check(text, [{"x": X} | each for each in feeds])


@pytest.mark.parametrize(("free", "x"), [("2, 3, 4", X), ("A, B, 4", X), ("", X[0, 0, 1])])
def test_unsqueeze(free: str, x: Any) -> None:
    dims = f"[{free}]" if free else ""
    outer = "[a, b, c, d, e]" if free else "[a, b]"
    text = f"main (float{dims} x, int64[2] s) => (float{outer} y) {{ y = Unsqueeze (x, s) }}"
    axes = [(0, 1), (1, 0), (-1, 0)] + [(1, 3), (-1, -2), (4, 2)] * bool(free)
    check(text, [{"x": np.asarray(x), "s": np.array(each)} for each in axes])


@pytest.mark.parametrize("upper", [0, 1])
@pytest.mark.parametrize("kind", ["float", "int64", "bool"])
def test_trilu(upper: int, kind: str) -> None:
    text = f"main ({kind}[2, R, 4] x, int64 k) => ({kind}[a, b, c] y)"
    text += f"{{ y = Trilu <upper = {upper}> (x, k) }}"
    x = (X + 1).astype({"float": "float32"}.get(kind, kind))
    check(text, [{"x": x, "k": np.array(k)} for k in (-9, -1, 0, 2, 9)])


def test_tile() -> None:
    text = "main (float[2, 3, 4] x, int64[3] s) => (float[a, b, c] y) { y = Tile (x, s) }"
    check(text, lists("s", [1, 1, 1], [2, 1, 3], [0, 2, 1]))


def test_constant_of_shape() -> None:
    text = """main (float[2, 3, 4] x, int64[2] s) => (float[a, b] y, float[2, 3, 4] z)
      { y = ConstantOfShape (s)  z = Relu (x) }"""
    check(text, lists("s", [1, 1], [300, 2], [0, 5]))


def test_top_k() -> None:
    text = """main (float[2, 3, 4] x, int64[1] k) => (float[2, 3, a] y, int64[2, 3, b] i)
      { y, i = TopK (x, k) }"""
    check(text, lists("k", [1], [4], [2], [0]))


def test_split() -> None:
    text = """main (float[2, 3, 4] x, int64[2] s) => (float[2, 3, a] y, float[2, 3, b] z)
      { y, z = Split <axis = 2> (x, s) }"""
    check(text, lists("s", [1, 3], [4, 0], [2, 2]))


@pytest.mark.parametrize(("kind", "dtype"), [("int64", np.int64), ("float", np.float32)])
def test_range(kind: str, dtype: Any) -> None:
    text = f"main ({kind} a, {kind} b, {kind} c) => ({kind}[n] y) {{ y = Range (a, b, c) }}"
    numbers = [(0, 5, 1), (3, 3, 1), (10, 1, -3), (1, 10, 4), (5, 0, 1), (-3, 4, 2)]
    feeds: list[Mapping[str, Any]] = [dict(zip("abc", each, strict=True)) for each in numbers]
    check(text, [{name: np.array(v, dtype) for name, v in each.items()} for each in feeds])


def test_pad() -> None:
    text = "main (float[2, 3, 4] x, int64[6] p) => (float[a, b, c] y) { y = Pad (x, p) }"
    check(text, lists("p", [0] * 6, [1, 0, 2, 0, 3, 1]))


def test_pad_of_some_axes() -> None:
    text = """main (float[2, 3, 4] x, int64[2] p) => (float[2, 3, c] y)
      <int64[1] axes = {-1}, float zero = {0}> { y = Pad <mode = "reflect"> (x, p, zero, axes) }"""
    check(text, lists("p", [0, 0], [3, 2]), 18)


@pytest.mark.parametrize("opset", [9, 11])
def test_one_hot(opset: int) -> None:
    text = """main (int64[4] i, int64[1] d, float[2] v) => (float[4, n] y)
      { y = OneHot (i, d, v) }"""
    last = -1 if opset == 11 else 1  # which counts from the end since then
    given = {"i": np.array([0, 2, last, 5]), "v": np.array([2, 7], np.float32)}
    check(text, [given | {"d": np.array([d])} for d in (1, 3, 6)], opset)


def test_sizes_of_what_was_found() -> None:
    text = """
    main (float[2, 3, 4] x, float[4] t) => (float[n] y, int64 count)
      <int64[1] all = {-1}, int64 second = {1}, float[1] one = {1}>
      { big = Greater (x, t)  places = NonZero (big)  turned = Transpose (places)
        picked = GatherND (x, turned)
        shape = Shape (places)  count = Gather (shape, second)
        y = Reshape (picked, all) }"""
    check(text, [{"x": X, "t": np.full(4, t, np.float32)} for t in (-1, 7, 22, 30)])


FAULTS = [
    ([5, -1], r"view: 'Reshape' node shape .* has .* elements, x has 24, where u0 = 5, u1 = 4"),
    ([-3, 8], "finds -3 for size u0, must be at least 0"),
]


@pytest.mark.parametrize(("shape", "fault"), FAULTS)
def test_shapes_that_do_not_fit_are_refused_when_they_are_known(
    shape: list[int], fault: str
) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
    main (float[2, 3, 4] x, int64[2] s) => (float[a, b] y) { [view] y = Reshape (x, s) }""")
    with new_context():
        module = import_onnx(model)
        with pytest.raises(Invalid, match=fault):
            run(module, [X, np.array(shape)])


def test_counting_in_steps_of_nothing_is_refused() -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
    main (int64 a, int64 b, int64 c) => (int64[n] y) { y = Range (a, b, c) }""")
    with new_context():
        module = import_onnx(model)
        for last in (5, 0):
            with pytest.raises(Invalid, match="for size u0, must be at least 0"):
                run(module, [np.array(0), np.array(last), np.array(0)])
