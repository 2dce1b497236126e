"""Parts of a run: only what lies between is computed, to the same bits."""

from typing import Any

import numpy as np
import onnx.numpy_helper
import onnx.parser
import pytest
import trivium
from trivium.runtime.errors import RunError

NET = onnx.parser.parse_model("""
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[N, 3, 12, 12] x, float[N, 8, 1, 1] z)
        => (float[N, 8, 12, 12] y, float[N, 8, 12, 12] u) {
        [one] a = Conv <pads = [1, 1, 1, 1]> (x, w1)
        [two] b = Relu (a)
        [three] c = Conv <pads = [1, 1, 1, 1]> (b, w2)
        [four] d = Add (c, z)
        [five] y = Relu (d)
        [six] u = Tanh (b)
    }
""")
_drawn = np.random.default_rng(0)
for _name, _shape in (("w1", (8, 3, 3, 3)), ("w2", (8, 8, 3, 3))):
    _array = _drawn.standard_normal(_shape).astype(np.float32)
    NET.graph.initializer.append(onnx.numpy_helper.from_array(_array, _name))

FEEDS: dict[str, Any] = {
    "x": _drawn.standard_normal((1, 3, 12, 12)).astype(np.float32),
    "z": _drawn.standard_normal((1, 8, 1, 1)).astype(np.float32),
}


@pytest.fixture(scope="module", params=["cpu", "host"])
def whole(request: pytest.FixtureRequest) -> trivium.Session:
    return trivium.compile(NET, keep=["b", "c"], shapes={"N": 1}, target=request.param)


@pytest.fixture(scope="module")
def values(whole: trivium.Session) -> dict[str, Any]:
    results = whole.run(FEEDS)
    return {**FEEDS, **results, "b": whole.value("b"), "c": whole.value("c")}


PARTS = [
    (["x"], ["b"], {"one", "two"}),
    (["x"], ["u"], {"one", "two", "six"}),
    (["b"], ["u"], {"six"}),
    (["b"], ["c"], {"three"}),
    (["b", "z"], ["y", "u"], {"three", "four", "five", "six"}),
    (["c", "z"], ["y"], {"four", "five"}),
    (["x", "z"], ["y", "u"], {"one", "two", "three", "four", "five", "six"}),
]


@pytest.mark.parametrize(("inputs", "outputs", "nodes"), PARTS)
def test_part_computes_the_same_and_nothing_else(
    whole: trivium.Session,
    values: dict[str, Any],
    inputs: list[str],
    outputs: list[str],
    nodes: set[str],
) -> None:
    part = whole.part(inputs, outputs)
    assert [port.name for port in part.inputs] == inputs
    assert [port.name for port in part.outputs] == outputs
    feeds = {name: values[name] for name in inputs}
    for _ in range(2):
        results = part.run(feeds)
        assert list(results) == outputs
        for name in outputs:
            assert np.array_equal(results[name], values[name])
    seen = {node for event in part.profile(feeds).runs[0].events for node in event.nodes}
    assert seen == nodes


def test_inputs_may_change(whole: trivium.Session, values: dict[str, Any]) -> None:
    part = whole.part(["c", "z"], ["y"])
    other = values["c"] * 2
    expected = np.maximum(other + values["z"], 0)
    assert np.array_equal(part.run({"c": other, "z": values["z"]})["y"], expected)


def test_outputs_of_the_caller_are_written(whole: trivium.Session, values: dict[str, Any]) -> None:
    part = whole.part("b", "c")
    given = np.zeros_like(values["c"])
    part.run({"b": values["b"]}, {"c": given})
    assert np.array_equal(given, values["c"])
    assert np.array_equal(part(values["b"]), values["c"])


def test_weights_are_shared(whole: trivium.Session) -> None:
    part = whole.part(["x"], ["b"])
    assert part._program.weights is whole._program.weights  # type: ignore[reportPrivateUsage]
    assert part._program.prepared is whole._program.prepared  # type: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("inputs", "outputs", "fault"),
    [
        (["a"], ["y"], "'a' is no input, no output and not kept"),
        (["b"], ["y"], "inputs lack 'z', which the outputs are computed from"),
        (["x"], ["z"], "outputs has 'z', which is an input"),
        (["x"], [], "outputs are none"),
    ],
)
def test_refusals(
    whole: trivium.Session, inputs: list[str], outputs: list[str], fault: str
) -> None:
    with pytest.raises(RunError, match=fault):
        whole.part(inputs, outputs)


def test_part_of_a_part_is_refused(whole: trivium.Session) -> None:
    with pytest.raises(RunError, match="take another part of the whole"):
        whole.part(["x"], ["b"]).part(["x"], ["b"])


@pytest.fixture(scope="module", params=["cpu", "host"])
def free(request: pytest.FixtureRequest) -> trivium.Session:
    return trivium.compile(NET, keep=["b", "c"], target=request.param)


@pytest.mark.parametrize(("inputs", "outputs", "nodes"), PARTS)
def test_parts_with_free_sizes(
    free: trivium.Session, inputs: list[str], outputs: list[str], nodes: set[str]
) -> None:
    part = free.part(inputs, outputs)
    for n in (1, 3, 2, 3):
        draw = np.random.default_rng(n)
        values: dict[str, Any] = {
            "x": draw.standard_normal((n, 3, 12, 12)).astype(np.float32),
            "z": draw.standard_normal((n, 8, 1, 1)).astype(np.float32),
        }
        values |= free.run(values)
        values |= {name: free.value(name) for name in ("b", "c")}
        feeds = {name: values[name] for name in inputs}
        for _ in range(2):
            results = part.run(feeds)
            assert list(results) == outputs
            for name in outputs:
                assert np.array_equal(results[name], values[name])
    seen = {node for event in part.profile(feeds).runs[0].events for node in event.nodes}
    assert seen == nodes
    assert part.shapes(N=5) == {name: free.shapes(N=5)[name] for name in outputs}


def test_sizes_that_disagree_are_refused(free: trivium.Session) -> None:
    part = free.part(["c", "z"], ["y"])
    c, z = np.zeros((2, 8, 12, 12), np.float32), np.zeros((3, 8, 1, 1), np.float32)
    with pytest.raises(RunError, match="input 'z' has 3 for N along axis 0, input 'c' has 2"):
        part.run({"c": c, "z": z})


def test_sizes_that_the_inputs_do_not_give_are_refused() -> None:
    rows = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[M, N] x, float[M, 1] z) => (float[M, 1] y)
        <int64[1] last = {1}> { a = ReduceSum (x, last) b = Sin (a) y = Add (b, z) }
    """)
    session = trivium.compile(rows, keep="b")
    fault = "symbol 'N' is the size of no axis of an input of the part, which are 'b', 'z': add an"
    with pytest.raises(RunError, match=fault):
        session.part(["b", "z"], ["y"])
    x, z = np.ones((2, 5), np.float32), np.ones((2, 1), np.float32)
    y = session.part(["x", "z"], ["y"]).run({"x": x, "z": z})["y"]
    assert np.allclose(y, np.sin(5) + 1, atol=1e-6)


def test_programs_for_exact_sizes_have_the_parts_of_the_general_one() -> None:
    session = trivium.compile(NET, keep="b", exact=[{"N": 2}])
    part = session.part(["x"], ["b"])
    x, z = np.ones((2, 3, 12, 12), np.float32), np.zeros((2, 8, 1, 1), np.float32)
    session.run({"x": x, "z": z})
    assert np.allclose(part.run({"x": x})["b"], session.value("b"), atol=1e-5)


def test_state_is_fed_and_returned_by_a_part() -> None:
    counter = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[N] x, float[1] past) => (float[N] y, float[1] next) <float[1] one = {1}> {
            [count] next = Add (past, one)
            [scale] y = Mul (x, next)
        }
    """)
    session = trivium.compile(counter, states={"next": "past"}, shapes={"N": 2})
    x = np.ones(2, np.float32)
    assert session.run({"x": x})["y"].tolist() == [1, 1]
    part = session.part(["past"], ["next"])
    for _ in range(2):
        assert part.run({"past": np.array([6], np.float32)})["next"].tolist() == [7]
    scale = session.part(["x", "past"], ["y"])
    assert scale.run({"x": x, "past": np.array([2], np.float32)})["y"].tolist() == [3, 3]
    assert session.run({"x": x})["y"].tolist() == [2, 2]


def test_sizes_that_are_found_in_a_run_are_refused() -> None:
    found = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[8] x) => (int64[1, K] places) { a = Sin (x) places = NonZero (a) }
    """)
    session = trivium.compile(found, keep="a")
    with pytest.raises(RunError, match="are found when the package runs, a part of a run has"):
        session.part(["x"], ["a"])


def test_value_in_the_memory_of_an_input_is_refused() -> None:
    views = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[4, 2] x) => (float[8] y) <int64[1] flat = {-1}> {
            v = Reshape (x, flat)
            y = Exp (v)
        }
    """)
    session = trivium.compile(views, keep="v")
    session.run({"x": np.ones((4, 2), np.float32)})
    assert session.value("v").shape == (8,)
    with pytest.raises(RunError, match="inputs has 'v', which is in the memory of 'x'"):
        session.part(["v"], ["y"])
