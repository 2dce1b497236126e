"""States that a user names: which are updated in place, and what is refused."""

from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from trivium.runtime import Package, Session
from trivium.runtime.cpu.part import CpuPart
from trivium.tools.main import main

BODY = """
    rows (float[{past}] past_0, float[{past}] past_1, float[1, T, 4] new, int64[1] at)
        => (float[1, 4] sums, float[{past}] present_0, float[{past}] present_1) {{
        present_0 = TensorScatter <axis = 1> (past_0, new, at)
        twice = Add (new, new)
        present_1 = TensorScatter <axis = 1> (past_1, twice, at)
        both = Add (present_0, present_1)
        sums = ReduceSum <keepdims = 0> (both, one)
    }}
"""
STATES = {"present_%d": "past_%d"}


def model(past: str = "1, 6, 4", body: str = BODY) -> onnx.ModelProto:
    made = onnx.parser.parse_model(
        '<ir_version: 11, opset_import: ["" : 24]>' + body.format(past=past)
    )
    one = onnx.numpy_helper.from_array(np.array([1]), "one")
    made.graph.initializer.append(one)
    return made


def compiled(**options: Any) -> tuple[trivium.Session, list[str]]:
    lines: list[str] = []
    given: dict[str, Any] = {"shapes": {"T": trivium.Range(1, 6)}, "states": STATES} | options
    session = trivium.compile(given.pop("model", model()), progress=lines.append, **given)
    return session, [line for line in lines if line.startswith("note:")]


def in_place(session: trivium.Session) -> dict[str, str]:
    return {p.input: p.output for p in session.manifest.carried if p.in_place}


def test_named_states_are_updated_in_place():
    session, notes = compiled()
    assert in_place(session) == {"past_0": "present_0", "past_1": "present_1"}
    assert not notes
    rows = np.zeros((6, 4), np.float32)
    for at in (0, 1, 3, 5):
        new = np.full((1, 1, 4), at + 1, np.float32)
        rows[at] = at + 1
        (sums,) = session.run({"new": new, "at": np.array([at])}).values()
        np.testing.assert_array_equal(sums, 3 * rows.sum(0, keepdims=True))
    np.testing.assert_array_equal(session.state["past_0"][0], rows)
    np.testing.assert_array_equal(session.state["past_1"][0], 2 * rows)


def test_the_kernel_of_a_state_writes_new_rows_alone():
    session, _ = compiled()
    kernels = session.manifest.part(CpuPart).kernels
    assert any("cpu.tensor_scatter" in kernel.ops for kernel in kernels)
    assert not any("tri.tensor_scatter" in kernel.ops for kernel in kernels)


def test_states_of_sizes_that_vary_are_fed():
    session, notes = compiled(model=model("1, C, 4"), shapes={"C": trivium.Range(1), "T": 2})
    assert len(in_place(session)) == 2
    assert not notes
    for capacity in (2, 5, 2, 9):
        cache = np.zeros((2, 1, capacity, 4), np.float32)
        new = np.ones((1, 2, 4), np.float32)
        results = session.run(
            {"past_0": cache[0], "past_1": cache[1], "new": new, "at": np.array([capacity - 2])}
        )
        assert list(results) == ["sums"]
        expected = np.zeros((capacity, 4))
        expected[-2:] = 1
        np.testing.assert_array_equal(cache[:, 0], [expected, 2 * expected])
    session.bind_state(initial={name: cache[0] for name in ("past_0", "past_1")})
    session.run({"new": 9 * new, "at": np.array([0])})
    np.testing.assert_array_equal(cache[0, 0], expected)
    assert session.state["past_1"][0, 0].tolist() == [18] * 4


def test_states_keep_their_rows_in_a_saved_package(tmp_path: Any):
    session, _ = compiled()
    session.save(tmp_path / "rows.trv")
    again = Session(Package.open(tmp_path / "rows.trv"))
    assert in_place(again) == in_place(session)
    rebuilt = trivium.compile(tmp_path / "rows.trv")
    assert in_place(rebuilt) == in_place(session)
    feeds = {"new": np.ones((1, 2, 4), np.float32), "at": np.array([4])}
    for each in (session, again, rebuilt):
        assert each.run(feeds)["sums"].tolist() == [[6] * 4]
        assert each.state["past_0"][0, :, 0].tolist() == [0, 0, 0, 0, 1, 1]


READ_LATER = """
    rows (float[{past}] past_0, float[1, T, 4] new, int64[1] at)
        => (float[{past}] present_0, float[{past}] before) {{
        present_0 = TensorScatter <axis = 1> (past_0, new, at)
        before = Mul (past_0, present_0)
    }}
"""
CONCAT = """
    rows (float[{past}] past_0, float[1, 6, 4] new) => (float[{past}] present_0) {{
        present_0 = Add (past_0, new)
    }}
"""


@pytest.mark.parametrize(
    ("body", "options", "why"),
    [
        (READ_LATER, {}, "'past_0' is read by a later 'tri.group' op when its rows are written"),
        (
            CONCAT,
            {"shapes": {}},
            "'present_0' is computed by tri.add, not by tri.tensor_scatter alone",
        ),
        (BODY, {"opt_level": 0}, "'cpu' does not compile tri.tensor_scatter in place here"),
        (BODY, {"target": "host"}, "'host' does not compile tri.tensor_scatter in place here"),
    ],
    ids=["read", "add", "level", "host"],
)
def test_other_states_are_exchanged(body: str, options: dict[str, Any], why: str):
    session, notes = compiled(model=model(body=body), **options)
    assert not in_place(session)
    assert notes[0] == f"note: state 'present_0' is copied in each run: {why}"
    feeds = {"new": np.ones((1, 6, 4), np.float32), "at": np.array([0])}
    names = [port.name for port in session.inputs]
    session.run({name: feeds[name] for name in feeds if name in names})
    assert session.state["past_0"].max() == 1


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (
            {"present_%d.key": "past_%d"},
            "states have 'present_%d.key', which is no output: the outputs are sums, present_0, "
            "present_1",
        ),
        (
            {"present_0": "past"},
            "states make 'present_0' the input 'past', which is no input: the inputs are past_0, "
            "past_1, new, at",
        ),
        (
            {"present_%d": "past_0"},
            "states make 'present_1' the input 'past_0', must name each once",
        ),
        (
            {"sums": "past_0"},
            "states make 'sums' the input 'past_0', but it is tensor<1x4xf32>, must be "
            "tensor<1x6x4xf32>: bind the sizes that differ by shapes; of a state that grows, leave "
            "out the pair, and name it to bind_state",
        ),
        (["present_0"], "states is of type list, must be a dictionary of names by name"),
        ({"present_0": 1}, "'present_0' is 1, must be a string"),
    ],
)
def test_states_that_do_not_fit_are_refused(states: Any, message: str):
    with pytest.raises(trivium.CompileError) as caught:
        compiled(states=states)
    assert str(caught.value) == f"error: {message}"


def test_states_are_named_on_the_command_line(tmp_path: Any, capsys: Any):
    onnx.save(model(), tmp_path / "rows.onnx")
    flags = ["--shape", "T=1..6", "--state", "present_%d=past_%d", "-o"]
    assert main(["compile", str(tmp_path / "rows.onnx"), *flags, str(tmp_path / "rows.trv")]) == 0
    assert len(in_place(Session(Package.open(tmp_path / "rows.trv")))) == 2
    assert main(["compile", "--help"]) == 0
    assert "present.%d.key=past_key_values.%d.key" in "".join(capsys.readouterr().out.split())
