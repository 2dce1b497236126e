"""A whole run as one graph."""

import gc
from typing import Any

import numpy as np
import pytest
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.array import DeviceArray
from trivium.runtime.gpu.handles import Stream
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import KERNELS, SHAPE, WEIGHTS, package
from trivium.test.unit.runtime.gpu.stand_in import StandIn

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def expected(x: np.ndarray) -> np.ndarray:
    return np.maximum(x + WEIGHTS, 0)


def refusal(use: Any, *arguments: Any) -> str:
    with pytest.raises(RunError) as caught:
        use(*arguments)
    text = str(caught.value)
    caught.value.__traceback__ = None
    return text


def test_each_launch_reads_the_inputs_and_writes_the_outputs(session: Session, stand_in: StandIn):
    replay = session.replay()
    before = len(stand_in.records("cuLaunchKernel"))
    for k in (1, 2, 3):
        replay.inputs["x"].write(k * x)
        replay.launch()
        replay.synchronize()
        np.testing.assert_array_equal(replay.outputs["y"].numpy(), expected(k * x))
    assert len(stand_in.records("cuLaunchKernel")) == before == 2
    assert [r["nodes"] for r in stand_in.records("cuGraphInstantiate")] == [4]
    assert stand_in.runs == ["add_kernel", "relu_kernel"] * 3


def test_a_launch_is_one_call_of_the_driver(session: Session, stand_in: StandIn):
    replay = session.replay()
    before = len(stand_in.records())
    replay.launch()
    calls = [r["call"] for r in stand_in.records()[before:] if "call" in r]
    assert calls == ["cuGraphLaunch"]


def test_arrays_of_the_caller_are_used(session: Session, stand_in: StandIn):
    stream = Stream(stand_in.device())
    given = DeviceArray(stream, SHAPE, "float32", "a test")
    result = DeviceArray(stream, SHAPE, "float32", "a test")
    given.write(x)
    replay = session.replay({"x": given}, {"y": result})
    assert replay.inputs["x"] is given
    assert replay.outputs["y"] is result
    replay.launch(stream.value.value)
    np.testing.assert_array_equal(result.numpy(), expected(x))


def test_runs_and_launches_take_turns(session: Session):
    replay = session.replay()
    replay.inputs["x"].write(x)
    for k in (1, 2):
        np.testing.assert_array_equal(session(k * x), expected(k * x))
        replay.launch()
        np.testing.assert_array_equal(replay.outputs["y"].numpy(), expected(x))


def test_a_replay_outlives_its_session(stand_in: StandIn, layer: Package):
    replay = Session(layer, device=stand_in.device()).replay()
    gc.collect()
    replay.inputs["x"].write(x)
    replay.launch()
    np.testing.assert_array_equal(replay.outputs["y"].numpy(), expected(x))


def test_a_replay_of_a_closed_session_is_refused(session: Session):
    replay = session.replay()
    session.close()
    assert refusal(replay.launch) == "the session is closed: open the package again"


def test_what_cannot_be_bound_is_refused(session: Session):
    message = "no input is named 'q', there are 'x'"
    assert refusal(session.replay, {"q": x}) == message
    message = "no output is named 'q', there are 'y'"
    assert refusal(session.replay, {}, {"q": x}) == message
    message = "a replay is bound to arrays on the GPU, got one that is not there"
    assert refusal(session.replay, {"x": x}) == message


def test_a_launch_that_fails_is_one_line(session: Session, stand_in: StandIn):
    replay = session.replay()
    stand_in.configure("fail=cuGraphLaunch:1:1")
    assert refusal(replay.launch).startswith("the package cannot be launched: cuGraphLaunch gave")
    replay.launch()


@pytest.mark.parametrize(
    "failure",
    [
        *("cuStreamBeginCapture_v2:1:1", "cuLaunchKernel:2:1", "cuMemcpyDtoDAsync_v2:2:1"),
        *("cuGraphInstantiateWithFlags:1:2", "cuMemAlloc_v2:2:2"),
    ],
)
def test_a_replay_that_cannot_be_made_leaves_the_session_well(
    stand_in: StandIn, layer: Package, failure: str
):
    with Session(layer, device=stand_in.device()) as session:
        stand_in.configure(f"fail={failure}")
        message = refusal(session.replay)
        assert "gave CUDA_ERROR" in message or "too little memory" in message
        for _ in range(2):
            np.testing.assert_array_equal(session(x), expected(x))
        # It tried its kernels out and recorded them, as if nothing had been.
        assert len(stand_in.records("cuGraphLaunch")) == 1


def test_a_kernel_that_fails_in_a_launch_shows_when_one_waits(tmp_path: Any, stand_in_library: Any):
    driver = StandIn(tmp_path, stand_in_library, "fail=kernel.relu_kernel:1:700")
    made = package()
    driver.execute(made, KERNELS)
    replay = Session(made, device=driver.device()).replay()
    replay.launch()
    message = refusal(replay.synchronize)
    assert message.startswith("a kernel of the package failed: cuStreamSynchronize gave CUDA_ERROR")
