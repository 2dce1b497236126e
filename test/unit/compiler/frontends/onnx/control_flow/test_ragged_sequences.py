"""Sequences of tensors of any shapes and ranks, against ONNX's reference evaluator."""

from typing import Any

import numpy as np
import pytest
import trivium
from onnx.reference import ReferenceEvaluator
from trivium.compiler.onnx_backend import TriviumBackend
from trivium.dialects.core.errors import CompileError
from trivium.runtime.errors import RunError
from trivium.test.unit.compiler.frontends.onnx.control_flow.joined_models import X, model

LISTS: list[list[Any]] = [
    [X[:2], X[0], np.float32(3), X[:, :, None]],
    [],
    [X[:0], X[:4]],
]


def check(text: str, *feeds: dict[str, Any]) -> None:
    """Compile once, and compare all outputs, lists among them, at each of the feeds."""
    proto = model(text)
    backend = TriviumBackend.prepare(proto)
    reference = ReferenceEvaluator(proto)
    for each in feeds:
        got = backend.run([each[value.name] for value in proto.graph.input])
        for mine, theirs in zip(got, reference.run(None, each), strict=True):
            assert type(mine) is type(theirs)
            pairs = (
                [(mine, theirs)] if isinstance(mine, np.ndarray) else zip(mine, theirs, strict=True)
            )
            for a, b in pairs:
                np.testing.assert_array_equal(a, b, strict=True)
    trivium.compile(proto)  # for any values of inputs


@pytest.mark.parametrize("kind", ["float[]", "float[?, ?]"])
def test_a_sequence_goes_in_and_comes_out(kind: str) -> None:
    nodes = "t = Identity (s) n = SequenceLength (s)"
    text = f"(seq({kind}) s) => (seq(float[]) t, int64 n) {{ {nodes} }}"
    check(text, *({"s": each} for each in LISTS if kind == "float[]" or not each))
    assert [port.name for port in trivium.compile(model(text)).inputs] == ["s.elements", "s.shapes"]


@pytest.mark.parametrize("at", [0, 1, 4, -1])
def test_tensors_are_put_in_and_taken_out(at: int) -> None:
    check(
        """(seq(float[]) s, float[N, 3] x, int64 at) => (seq(float[]) t, seq(float[]) u, int64 n) {
            last = SequenceInsert (s, x)
            t = SequenceInsert (last, x, at)
            u = SequenceErase (t, at)
            n = SequenceLength (t)
        }""",
        {"s": LISTS[0], "x": X, "at": np.array(at)},
        {"s": LISTS[0], "x": X[:1], "at": np.array(at)},
    )


def test_a_joined_sequence_gets_a_tensor_of_another_shape() -> None:
    check(
        """(float[N, 3] x, int64[K] split, float[4] t, int64 at)
            => (seq(float[]) y, seq(float[]) z, int64 n) {
            parts = SplitToSequence (x, split)
            y = SequenceInsert (parts, t)
            rows = SplitToSequence <keepdims = 0> (x)
            z = SequenceInsert (rows, t, at)
            n = SequenceLength (y)
        }""",
        {"x": X, "split": np.array([2, 0, 5]), "t": np.ones(4, np.float32), "at": np.array(1)},
        {"x": X[:2], "split": np.array([2]), "t": np.ones(4, np.float32), "at": np.array(-1)},
    )


@pytest.mark.parametrize("start", ["none = SequenceEmpty ()", "none = SequenceConstruct (x)"])
def test_a_loop_collects_tensors_that_differ_in_several_sizes(start: str) -> None:
    check(
        f"""(float[N, 3] x, int64 steps) => (seq(float[]) xs, int64 n) <bool on = {{1}}> {{
            {start}
            xs, last = Loop (steps, on, none, x) <body = each
                    (int64 i, bool c, seq(float[r, q]) s, float[h, k] v)
                    => (bool go, seq(float[t, u]) more, float[e, f] next) {{
                go = Identity (c)
                more = SequenceInsert (s, v)
                rows = Concat <axis = 0> (v, v)
                next = Concat <axis = 1> (rows, rows)
            }}>
            n = SequenceLength (xs)
        }}""",
        *({"x": X[:2], "steps": np.array(steps)} for steps in (1, 3, 0)),
    )


def test_a_loop_puts_in_what_it_joins_of_another_sequence() -> None:
    check(
        """(float[N, 3] x, int64 steps) => (seq(float[]) ys) <bool on = {1}> {
            none = SequenceEmpty ()
            xs, ys = Loop (steps, on, none, none) <body = each
                    (int64 i, bool c, seq(float[r, 3]) s, seq(float[q, 3]) t)
                    => (bool go, seq(float[k, 3]) s2, seq(float[l, 3]) t2) {
                go = Identity (c)
                s2 = SequenceInsert (s, x)
                all = ConcatFromSequence <axis = 0> (s2)
                t2 = SequenceInsert (t, all)
            }>
        }""",
        *({"x": X[:2], "steps": np.array(steps)} for steps in (3, 1)),
    )


def test_branches_return_tensors_of_several_ranks() -> None:
    check(
        """(float[N, 3] x, float[4] t, bool up) => (seq(float[]) y) {
            y = If (up) <then_branch = e () => (seq(float[]) p) {
                p = SequenceConstruct (x, t)
            }, else_branch = f () => (seq(float[]) q) { q = SequenceConstruct (t) }>
        }""",
        *({"x": X, "t": X[:, 0][:4], "up": np.array(up)} for up in (True, False)),
    )


def test_shapes_that_are_known_give_the_tensors() -> None:
    text = "(seq(float[]) s) => (float[a, b] y) { y = ConcatFromSequence <axis = 0> (s) }"
    with pytest.raises(CompileError, match=r"shapes of the tensors(.|\n)*'s\.shapes': …"):
        trivium.compile(model(text))
    shapes = np.array([[2, 3, *[-1] * 6], [5, 3, *[-1] * 6]])
    session = trivium.compile(model(text), constants={"s.shapes": shapes})
    assert np.array_equal(session.run({"s.elements": X.reshape(-1)})["y"], X)


def test_shapes_must_be_of_all_elements() -> None:
    session = trivium.compile(model("(seq(float[]) s) => (seq(float[]) t) { t = Identity (s) }"))
    with pytest.raises(RunError, match=r"^[^\n]*$"):
        session.run({"s.elements": X[0], "s.shapes": np.array([[4, *[-1] * 7]])})


def test_a_tensor_of_too_many_axes_is_refused() -> None:
    inputs = f"seq(float[]) s, float[{'1, ' * 8}N] x"
    text = f"({inputs}) => (seq(float[]) t) {{ t = SequenceInsert (s, x) }}"
    with pytest.raises(CompileError, match=r"puts a tensor of rank 9 .*, must be at most 8"):
        trivium.compile(model(text))
