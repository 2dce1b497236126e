"""Loops that collect tensors in sequences, against onnx's reference."""

import numpy as np
import pytest
from trivium.test.unit.compiler.frontends.onnx.control_flow.joined_models import X, check


@pytest.mark.parametrize("new_axis", [0, 1])
def test_a_loop_collects_tensors_of_one_shape(new_axis: int) -> None:
    shape = "a, 3" if new_axis else "a"
    check(
        f"""(float[3] x, int64 steps) => (float[{shape}] y, int64 n) <bool on = {{1}}> {{
            none = SequenceEmpty ()
            xs, last = Loop (steps, on, none, x) <body = each (int64 i, bool c, seq(float[3]) s,
                    float[3] h) => (bool go, seq(float[3]) more, float[3] next) {{
                go = Identity (c)
                next = Add (h, x)
                more = SequenceInsert (s, next)
            }}>
            y = ConcatFromSequence <axis = 0, new_axis = {new_axis}> (xs)
            n = SequenceLength (xs)
        }}""",
        *({"x": X[1], "steps": np.array(steps)} for steps in (3, 1)),
    )


def test_a_loop_collects_tensors_of_several_sizes() -> None:
    check(
        """(float[N, 3] x, int64[K] counts) => (float[a, 3] y, float[b, 3] z) <bool on = {1},
                int64[1] zero = {0}, int64[1] one = {1}, int64 last = {-1}> {
            steps = Size (counts)
            none = SequenceEmpty ()
            xs = Loop (steps, on, none) <body = each (int64 i, bool c, seq(float[r, 3]) s)
                    => (bool go, seq(float[q, 3]) more) {
                go = Identity (c)
                count = Gather (counts, i)
                end = Reshape (count, one)
                rows = Slice (x, zero, end, zero)
                more = SequenceInsert (s, rows)
            }>
            y = ConcatFromSequence <axis = 0> (xs)
            z = SequenceAt (xs, last)
        }""",
        {"x": X, "counts": np.array([2, 0, 5])},
        {"x": X, "counts": np.array([1])},
    )


CHANGES = {
    "grows": "Concat <axis = 0> (v, x)",
    "shrinks": "Slice (v, one, big, zero)",
    "is emptied": "Slice (v, zero, number, zero)",
}


@pytest.mark.parametrize("next_", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("start", ["SequenceEmpty ()", "SequenceConstruct (x)"])
def test_a_loop_collects_what_it_carries_while_that_changes(start: str, next_: str) -> None:
    check(
        f"""(float[N, 3] x, int64 steps, int64 at)
                => (float[a, 3] y, float[b, 3] z, float[k, 3] last)
                <bool on = {{1}}, int64[1] one = {{1}}, int64[1] big = {{99}},
                int64[1] zero = {{0}}> {{
            start = {start}
            xs, last = Loop (steps, on, start, x) <body = each
                    (int64 i, bool c, seq(float[r, 3]) s, float[h, 3] v)
                    => (bool go, seq(float[q, 3]) more, float[e, 3] next) {{
                go = Identity (c)
                number = Reshape (i, one)
                more = SequenceInsert (s, v)
                next = {next_}
            }}>
            y = ConcatFromSequence <axis = 0> (xs)
            z = SequenceAt (xs, at)
        }}""",
        {"x": X, "steps": np.array(3), "at": np.array(1)},
        {"x": X[:2], "steps": np.array(1), "at": np.array(0)},
        {"x": X[:3], "steps": np.array(5), "at": np.array(-1)},
    )


def test_a_sequence_of_what_its_own_tensors_become() -> None:
    check(
        """(float[3, N] x, int64 steps, int64 at) => (float[3, a] y, float[3, b] z)
                <bool on = {1}, int64 last = {-1}> {
            some = SequenceConstruct (x)
            xs = Loop (steps, on, some) <body = each (int64 i, bool c, seq(float[3, r]) s)
                    => (bool go, seq(float[3, q]) more) {
                go = Identity (c)
                v = SequenceAt (s, last)
                next = Concat <axis = 1> (v, x)
                more = SequenceInsert (s, next)
            }>
            y = ConcatFromSequence <axis = 1> (xs)
            z = SequenceAt (xs, at)
        }""",
        {"x": X.T.copy(), "steps": np.array(3), "at": np.array(1)},
        {"x": X[:2].T.copy(), "steps": np.array(0), "at": np.array(0)},
    )


@pytest.mark.parametrize("start", ["SequenceEmpty ()", "SequenceConstruct (x)"])
def test_a_loop_puts_in_what_it_chooses(start: str) -> None:
    check(
        f"""(float[3] x, int64 trips, float limit) => (float[a, 3] y, int64 n) {{
            begin = {start}
            yes = Constant <value = bool {{1}}> ()
            end = Loop (trips, yes, begin) <body = b (int64 i, bool c, seq(float[3]) s)
                => (bool go, seq(float[3]) next) {{
                go = Identity (c)
                k = Cast <to = 1> (i)
                big = Greater (k, limit)
                next = If (big) <then_branch = t () => (seq(float[3]) p) {{
                    more = Add (x, k)
                    p = SequenceInsert (s, more)
                }}, else_branch = e () => (seq(float[3]) q) {{ q = Identity (s) }}>
            }}>
            all = SequenceInsert (end, x)
            y = ConcatFromSequence <axis = 0, new_axis = 1> (all)
            n = SequenceLength (end)
        }}""",
        *(
            {"x": X[0], "trips": np.array(trips), "limit": np.array(limit, np.float32)}
            for trips, limit in ((0, 0), (5, 2), (200, 150.0))
        ),
    )
