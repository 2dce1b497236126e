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


def test_free_sizes_are_refused() -> None:
    session = trivium.compile(NET, keep="b")
    with pytest.raises(RunError, match="sizes 'N' may change from run to run"):
        session.part(["x"], ["b"])


def test_state_is_refused() -> None:
    counter = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        net (float[1] past) => (float[1] next) <float[1] one = {1}> { next = Add (past, one) }
    """)
    session = trivium.compile(counter, states={"next": "past"})
    with pytest.raises(RunError, match="would leave it half changed"):
        session.part(["past"], ["next"])


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
