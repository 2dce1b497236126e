"""Sequences whose length, or places in which, a run decides, against ONNX's reference evaluator."""

import numpy as np
import pytest
import trivium
from onnx.reference import ReferenceEvaluator
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.control_flow.joined_models import X, check, model


def test_parts_of_computed_lengths() -> None:
    check(
        """(float[N, 3] x, int64[K] split, int64 at) => (float[a, 3] y, float[b, 3] z, int64 n) {
            parts = SplitToSequence (x, split)
            y = SequenceAt (parts, at)
            z = ConcatFromSequence <axis = 0> (parts)
            n = SequenceLength (parts)
        }""",
        {"x": X, "split": np.array([2, 0, 5]), "at": np.array(2)},
        {"x": X, "split": np.array([2, 0, 5]), "at": np.array(-3)},
        {"x": X, "split": np.array([2, 0, 5]), "at": np.array(1)},
        {"x": X[:4], "split": np.array([4]), "at": np.array(0)},
    )


@pytest.mark.parametrize("split", [[2, 4], [5, 5], [9, -2]])
def test_parts_must_be_the_whole(split: list[int]) -> None:
    session = trivium.compile(
        model("""(float[N, 3] x, int64[K] split) => (float[a, 3] y) <int64 at = {0}> {
            parts = SplitToSequence (x, split)
            y = SequenceAt (parts, at)
        }""")
    )
    with pytest.raises(RunError, match=r"^[^\n]*$"):
        session.run({"x": X, "split": np.array(split)})


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_one_computed_length(axis: int) -> None:
    check(
        f"""(float[N, M] x, int64 part, int64 at) => (float[a, b] y, int64 n, float[c, d] z) {{
            parts = SplitToSequence <axis = {axis}> (x, part)
            y = SequenceAt (parts, at)
            n = SequenceLength (parts)
            z = ConcatFromSequence <axis = {axis}> (parts)
        }}""",
        {"x": X, "part": np.array(3), "at": np.array(-1)},
        {"x": X, "part": np.array(1), "at": np.array(2)},
        {"x": X, "part": np.array(50), "at": np.array(0)},
    )


@pytest.mark.parametrize("keepdims", [0, 1])
def test_single_elements_of_a_free_axis(keepdims: int) -> None:
    last = "float[3] y" if keepdims == 0 else "float[1, 3] y"
    check(
        f"""(float[N, 3] x, int64 at) => ({last}, int64 n) {{
            parts = SplitToSequence <keepdims = {keepdims}> (x)
            y = SequenceAt (parts, at)
            n = SequenceLength (parts)
        }}""",
        {"x": X, "at": np.array(6)},
        {"x": X[:2], "at": np.array(-2)},
    )


@pytest.mark.parametrize(("new_axis", "axis"), [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)])
def test_tensors_are_joined_again(new_axis: int, axis: int) -> None:
    rank = ", ".join("abc"[: 2 + new_axis])
    check(
        f"""(float[N, 2, 3] x) => (float[{rank}] y) {{
            parts = SplitToSequence <keepdims = 0> (x)
            y = ConcatFromSequence <axis = {axis}, new_axis = {new_axis}> (parts)
        }}""",
        *({"x": np.arange(6 * n, dtype=np.float32).reshape(n, 2, 3)} for n in (1, 4)),
    )


def test_a_tensor_at_a_computed_place_of_a_known_sequence() -> None:
    check(
        """(float[2, 3] a, float[N, 3] b, int64 at) => (float[k, 3] y) {
            xs = SequenceConstruct (a, b, a)
            y = SequenceAt (xs, at)
        }""",
        *({"a": X[:2], "b": X, "at": np.array(at)} for at in (0, 1, -1)),
    )


def test_tensors_of_one_shape_at_a_computed_place() -> None:
    check(
        """(float[N] a, float[N] b, int64 at) => (float[N] y) {
            xs = SequenceConstruct (a, b)
            y = SequenceAt (xs, at)
        }""",
        *({"a": X[0], "b": X[1], "at": np.array(at)} for at in (0, 1, -1)),
    )


@pytest.mark.parametrize("keepdims", [0, 1])
def test_a_tensor_is_put_at_the_end(keepdims: int) -> None:
    one, axes = ("float[3] t", "a, b") if keepdims == 0 else ("float[2, 3] t", "a, b")
    join = f"<axis = 0, new_axis = {1 - keepdims}>"
    check(
        f"""(float[N, 3] x, {one}) => (float[{axes}] y, int64 n) {{
            parts = SplitToSequence <keepdims = {keepdims}> (x)
            more = SequenceInsert (parts, t)
            y = ConcatFromSequence {join} (more)
            n = SequenceLength (more)
        }}""",
        {"x": X, "t": X[0] if keepdims == 0 else X[:2]},
    )


def test_branches_return_sequences() -> None:
    check(
        """(float[N, 3] x, int64[K] split, bool up) => (float[a, 3] y) <int64 last = {-1}> {
            parts = If (up) <then_branch = t () => (seq(float[c, 3]) p) {
                p = SplitToSequence (x, split)
            }, else_branch = e () => (seq(float[c, 3]) q) {
                q = SplitToSequence (x)
            }>
            y = SequenceAt (parts, last)
        }""",
        *({"x": X, "split": np.array([3, 4]), "up": np.array(up)} for up in (True, False)),
    )


def test_a_place_outside_is_one_line() -> None:
    session = trivium.compile(
        model("""(float[N, 3] x, int64 at) => (float[3] y) {
            parts = SplitToSequence <keepdims = 0> (x)
            y = SequenceAt (parts, at)
        }""")
    )
    with pytest.raises(RunError, match=r"^SequenceAt#1: error: finds size 7, must be at most 6$"):
        session.run({"x": X, "at": np.array(7)})
    with pytest.raises(
        RunError, match=r"^SequenceAt#1: error: finds -1 for size u\d+, must be from 0$"
    ):
        session.run({"x": X, "at": np.array(-8)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            """(float[2, 3] a, float[3, 4] b, int64 at) => (float[m, n] y) {
                xs = SequenceConstruct (a, b)
                y = SequenceAt (xs, at)
            }""",
            r"of tensor<2x3xf32>, tensor<3x4xf32>, which must differ in the size of one axis",
        ),
        (
            """(float[N, 3] x, int64[K] split) => (float[m, n] y) {
                parts = SplitToSequence (x, split)
                y = ConcatFromSequence <axis = 1> (parts)
            }""",
            "joins along axis 1 tensors whose sizes of axis 0 a run decides",
        ),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        trivium.compile(model(text))


@pytest.mark.parametrize("kind", ["keepdims = 0", "keepdims = 1"])
def test_tensors_are_erased_at_computed_places(kind: str) -> None:
    join = "<axis = 0, new_axis = 1>" if kind.endswith("0") else "<axis = 0>"
    check(
        f"""(float[N, 3] x, int64 at) => (float[a, 3] y, int64 n) {{
            parts = SplitToSequence <{kind}> (x)
            fewer = SequenceErase (parts, at)
            y = ConcatFromSequence {join} (fewer)
            n = SequenceLength (fewer)
        }}""",
        *({"x": X, "at": np.array(at)} for at in (0, 3, 6, -1, -7)),
        {"x": X[:3], "at": np.array(1)},
    )


def test_parts_of_other_lengths_are_erased_and_put_in() -> None:
    check(
        """(float[N, 3] x, int64[K] split, float[M, 3] t, int64 out, int64 at)
            => (float[a, 3] y, int64 n, float[b, 3] z) {
            parts = SplitToSequence (x, split)
            fewer = SequenceErase (parts, out)
            more = SequenceInsert (fewer, t, at)
            y = ConcatFromSequence <axis = 0> (more)
            n = SequenceLength (more)
            z = SequenceAt (more, at)
        }""",
        *(
            {
                "x": X,
                "split": np.array([2, 0, 4, 1]),
                "t": -X[:2],
                "out": np.array(out),
                "at": np.array(at),
            }
            for out, at in ((0, 0), (1, 2), (2, 1), (3, 0), (-1, -2), (-2, 2), (-4, -3))
        ),
    )


def test_the_last_tensor_is_erased() -> None:
    check(
        """(float[N, 3] x, float[2, 3] t, int64 at) => (float[a, 3] y, float[2, 3] z) {
            parts = SplitToSequence <keepdims = 1> (x)
            fewer = SequenceErase (parts)
            y = ConcatFromSequence <axis = 0> (fewer)
            known = SequenceConstruct (t, t)
            double = Add (t, t)
            more = SequenceInsert (known, double, at)
            z = SequenceAt (more, at)
        }""",
        *({"x": X, "t": X[:2], "at": np.array(at)} for at in (0, 1)),
    )


def test_branches_return_sequences_of_other_lengths() -> None:
    check(
        """(float[N, 3] x, float[2, 3] t, int64[K] split, bool up, bool on)
            => (float[a, 3] y, int64 n, int64 m) <int64 last = {-1}> {
            two = SequenceConstruct (t, x)
            parts = If (up) <then_branch = e () => (seq(float[c, 3]) p) {
                p = SplitToSequence (x, split)
            }, else_branch = f () => (seq(float[c, 3]) q) { q = Identity (two) }>
            others = If (on) <then_branch = g () => (seq(float[c, 3]) r) {
                r = SequenceInsert (two, t)
            }, else_branch = h () => (seq(float[c, 3]) s) { s = Identity (two) }>
            y = SequenceAt (parts, last)
            n = SequenceLength (parts)
            m = SequenceLength (others)
        }""",
        *(
            {"x": X, "t": X[:2], "split": np.array([3, 3, 1]), "up": up, "on": on}
            for up in (np.array(True), np.array(False))
            for on in (np.array(True), np.array(False))
        ),
    )


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sequence_goes_in_and_comes_out(axis: int) -> None:
    shape = "?, 3" if axis == 0 else "2, ?"
    proto = model(
        f"""(seq(float[{shape}]) xs, seq(float[2, 3]) ys, float[2, 3] t)
            => (seq(float[a, b]) outs, seq(float[2, 3]) more, float[2, 3] y) <int64 one = {{1}}> {{
            outs = SequenceMap <body = b (float[a, b] p) => (float[a, b] q) {{
                q = Neg (p)
            }}> (xs)
            more = SequenceInsert (ys, t)
            y = SequenceAt (ys, one)
        }}"""
    )
    backend = TriviumBackend.prepare(proto)
    reference = ReferenceEvaluator(proto)
    for counts in ([3, 1, 4], [2]):
        xs = [X[:n] if axis == 0 else X[:2, :1].repeat(n, 1) + n for n in counts]
        ys = [X[n : n + 2] for n in range(2 + len(counts))]
        feeds = {"xs": xs, "ys": ys, "t": X[4:6]}
        *lists, y = backend.run([xs, ys, X[4:6]])
        *expected, z = reference.run(None, feeds)
        np.testing.assert_array_equal(y, z)
        for made, each in zip(lists, expected, strict=True):
            assert len(made) == len(each)
            for got, wanted in zip(made, each, strict=True):
                np.testing.assert_array_equal(got, wanted)
    assert [port.name for port in trivium.compile(proto).inputs] == [
        f"xs.joined.{axis}",
        "xs.lengths",
        "ys.stacked",
        "t",
    ]


def test_lengths_of_a_sequence_must_be_all_of_it() -> None:
    session = trivium.compile(
        model("""(seq(float[?, 3]) s) => (float[a, 3] y) {
            y = ConcatFromSequence <axis = 0> (s)
        }""")
    )
    session.run({"s.joined.0": X, "s.lengths": np.array([3, 4])})
    with pytest.raises(RunError, match=r"^[^\n]*$"):
        session.run({"s.joined.0": X, "s.lengths": np.array([3, 3])})
