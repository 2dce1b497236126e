"""Axes, steps and pads that a run gives: one import, several values, against ONNX Runtime."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from test_selection_rules import check
from trivium.compiler.frontends.onnx import import_onnx
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.interpret import run
from trivium.dialects.core.mlir import new_context
from trivium.runtime.errors import RunError

X = np.random.default_rng(3).normal(size=(2, 3, 4)).astype(np.float32)
FREE = ("2, 3, 4", "A, B, 4")
REDUCTIONS = ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")


def feeds(name: str, *values: Sequence[int] | int, **more: Any) -> list[dict[str, Any]]:
    return [{"x": X, name: np.array(value, np.int64), **more} for value in values]


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("keep", [0, 1])
@pytest.mark.parametrize(("kind", "axes"), [(k, n) for n, k in enumerate(REDUCTIONS)])
def test_reductions(kind: str, axes: int, keep: int, free: str) -> None:
    count = axes % 3 + 1
    shape = ", ".join("pqr"[: 3 if keep else 3 - count])
    text = f"""main (float[{free}] x, int64[{count}] a) => (float[{shape}] y)
        {{ y = Reduce{kind} <keepdims = {keep}> (x, a) }}"""
    values = [[0], [2], [-2]], [[0, 1], [-1, 0], [1, 2]], [[0, 1, 2], [-1, 0, 1]]
    inputs = feeds("a", *values[count - 1])
    check(text, [each | {"x": np.abs(X)} for each in inputs] if kind == "LogSum" else inputs, 18)


@pytest.mark.parametrize("free", FREE)
def test_running_sums(free: str) -> None:
    text = f"""main (float[{free}] x, int64 a) => (float[{free}] y)
        {{ y = CumSum <reverse = 1, exclusive = 1> (x, a) }}"""
    check(text, feeds("a", 0, 1, -1))


def test_axes_to_drop() -> None:
    text = "main (float[1, 3, 1] x, int64[1] a) => (float[p, q] y) { y = Squeeze (x, a) }"
    check(text, [each | {"x": X[:1, :, :1]} for each in feeds("a", [0], [2], [-1])])


def test_nothing_is_reduced_to_nothing_or_zeros() -> None:
    text = "main (float[2, 0, 3] x, int64[1] a) => (float[p, q] y) {y = ReduceSum<keepdims=0>(x,a)}"
    nothing = np.zeros((2, 0, 3), np.float32)
    check(text, [each | {"x": nothing} for each in feeds("a", [0], [1], [2])])


SLICES = (([0, 2], [2, 0], [1, -1]), ([-1, 0], [-9, 4], [-2, 3]), ([5, 1], [0, 1], [1, 2]))


@pytest.mark.parametrize("free", FREE)
def test_steps(free: str) -> None:
    text = f"""main (float[{free}] x, int64[2] s, int64[2] e, int64[2] t) => (float[p, q, r] y)
        <int64[2] a = {{0, 2}}> {{ y = Slice (x, s, e, a, t) }}"""
    check(text, [dict(zip("xset", map(np.asarray, (X, *each)), strict=True)) for each in SLICES])


def test_axes_and_steps() -> None:
    text = """main (float[2, 3, 4] x, int64[2] s, int64[2] e, int64[2] a, int64[2] t)
        => (float[p, q, r] y) { y = Slice (x, s, e, a, t) }"""
    rows = [(X, s, e, axes, t) for s, e, t in SLICES for axes in ([0, 2], [-1, 1])]
    check(text, [dict(zip("xseat", map(np.asarray, each), strict=True)) for each in rows])


PADS = ([0, 1, 2, 0, 0, 1], [0, -1, 0, 1, 2, -2], [-1, 0, 1, 0, 0, -1])


@pytest.mark.parametrize("mode", ["constant", "edge"])
@pytest.mark.parametrize("free", FREE)
def test_pads_that_add_or_cut(free: str, mode: str) -> None:
    text = f"""main (float[{free}] x, int64[6] p) => (float[p, q, r] y)
        {{ y = Pad <mode = "{mode}"> (x, p) }}"""
    check(text, feeds("p", *PADS))


def test_pads_of_axes_by_a_number() -> None:
    text = """main (float[2, 3, 4] x, int64[4] p, int64[2] a, float v) => (float[p, q, r] y)
        { y = Pad (x, p, v, a) }"""
    rows = [([1, 0, 0, 2], [0, 2]), ([-1, 1, 0, -1], [-1, 1])]
    check(
        text,
        [f for p, a in rows for f in feeds("p", p, a=np.array(a), v=np.array(7, np.float32))],
        18,
    )


def test_known_pads_by_a_number() -> None:
    text = """main (float[N, 3, 4] x, float v) => (float[p, q, r] y)
        <int64[6] p = {0, 1, -1, 2, 0, 3}> { y = Pad (x, p, v) }"""
    check(text, [{"x": X, "v": np.array(v, np.float32)} for v in (3, -0.5)])


REFUSED = (
    ("ReduceSum <keepdims = 1> (x, a)", [3]),
    ("ReduceSum <keepdims = 1> (x, a)", [-4]),
    ("CumSum (x, a)", [3]),
)


@pytest.mark.parametrize(("node", "axes"), REFUSED)
def test_axes_that_are_not_there_are_refused(node: str, axes: list[int]) -> None:
    session = trivium.compile(
        parse(f"(float[2, 3, 4] x, int64[1] a) => (float[p, q, r] y) {{ y = {node} }}")
    )
    with pytest.raises(RunError, match="finds -1 for"):
        session.run({"x": X, "a": np.array(axes)})


def test_axes_given_twice_are_refused() -> None:
    text = "(float[2, 3, 4] x, int64[2] a) => (float[p, q, r] y) { y = ReduceMax (x, a) }"
    with new_context():
        module = import_onnx(parse(text))
        with pytest.raises(Invalid, match="finds -1 for size"):
            run(module, [X, np.array([1, -2])])


def test_a_step_of_0_is_refused() -> None:
    text = """(float[2, 3, 4] x, int64[1] t) => (float[p, 3, 4] y)
        <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}> { y = Slice (x, s, e, a, t) }"""
    session = trivium.compile(parse(text))
    with pytest.raises(RunError, match="finds -1 for"):
        session.run({"x": X, "t": np.array([0])})


def parse(text: str) -> onnx.ModelProto:
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 18]> main {text}')
