"""State of a session on a GPU: it stays there between runs."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime.contents import ARENA
from trivium.runtime.copy.step import CopyStep
from trivium.runtime.errors import RunError
from trivium.runtime.gpu.array import DeviceArray
from trivium.runtime.gpu.handles import Stream
from trivium.runtime.host.step import HostStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.conftest import (
    BUFFERS,
    COMPUTE,
    DEVICE_X,
    DOWNLOAD,
    KERNELS,
    SHAPE,
    SIZE,
    WEIGHTS,
    X,
    Y,
    buffer,
    package,
)
from trivium.test.unit.runtime.gpu.stand_in import StandIn

x = np.linspace(-20, 20, 32, dtype=np.float32).reshape(SHAPE)


def step(x: np.ndarray) -> np.ndarray:
    return np.maximum(x + WEIGHTS, 0)


def after(runs: int, x: np.ndarray) -> np.ndarray:
    for _ in range(runs):
        x = step(x)
    return x


def refusal(use: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(RunError) as caught:
        use(*arguments)
    text = str(caught.value)
    caught.value.__traceback__ = None
    return text


@pytest.fixture
def bound(session: Session) -> Session:
    session.bind_state({"y": "x"}, {"x": x})
    return session


def test_state_stays_on_the_device(bound: Session, stand_in: StandIn):
    for runs in range(1, 6):
        before = len(stand_in.records())
        assert bound.run({}) == {}
        calls = [r["call"] for r in stand_in.records()[before:] if "call" in r]
        assert sum("DtoH" in call for call in calls) == 0
        assert sum("HtoD" in call for call in calls) == (runs == 1)
        np.testing.assert_array_equal(bound.state["x"], after(runs, x))


def test_state_is_reset_saved_and_restored(bound: Session, tmp_path: Path):
    bound()
    bound.save_state(tmp_path / "state.npz")
    bound()
    bound.restore_state(tmp_path / "state.npz")
    bound()
    np.testing.assert_array_equal(bound.state["x"], after(2, x))
    bound.reset_state()
    np.testing.assert_array_equal(bound.state["x"], x)
    bound()
    np.testing.assert_array_equal(bound.state["x"], step(x))


def test_an_output_that_is_asked_for_is_a_copy(bound: Session, stand_in: StandIn):
    on_host = np.zeros(SHAPE, np.float32)
    assert bound.run({}, {"y": on_host})["y"] is on_host
    np.testing.assert_array_equal(on_host, step(x))
    on_device = DeviceArray(Stream(stand_in.device()), SHAPE, "float32", "a test")
    assert bound.run({}, {"y": on_device})["y"] is on_device
    np.testing.assert_array_equal(on_device.numpy(), after(2, x))
    bound()
    np.testing.assert_array_equal(on_device.numpy(), after(2, x))
    np.testing.assert_array_equal(bound.state["x"], after(3, x))


def test_an_input_on_the_device_is_used_instead(bound: Session, stand_in: StandIn):
    bound()
    given = DeviceArray(Stream(stand_in.device()), SHAPE, "float32", "a test")
    given.write(2 * x)
    assert bound.run_on_device({"x": given}) == {}
    np.testing.assert_array_equal(bound.state["x"], step(2 * x))
    assert bound.run_on_device({}) == {}
    np.testing.assert_array_equal(bound.state["x"], after(2, 2 * x))


def test_state_begins_on_the_host(session: Session, stand_in: StandIn):
    given = DeviceArray(Stream(stand_in.device()), SHAPE, "float32", "a test")
    message = "the state of 'x' is given on a GPU: copy it to the host"
    assert refusal(session.bind_state, {"y": "x"}, {"x": given}) == message


def test_there_is_no_replay_with_state(bound: Session):
    assert refusal(bound.replay) == (
        "the session has state, which is in two buffers in turns, and a replay is bound to one: "
        "unbind_state(), and make a replay for each of two arrays"
    )
    bound.unbind_state()
    one, two = bound.run_on_device({"x": x})["y"], bound.run_on_device({"x": x})["y"]
    turns = [bound.replay({"x": one}, {"y": two}), bound.replay({"x": two}, {"y": one})]
    for replay in turns:
        replay.launch()
        replay.synchronize()
    np.testing.assert_array_equal(one.numpy(), after(3, x))


def test_a_clone_begins_anew(bound: Session):
    bound()
    with bound.clone() as twin:
        twin()
        twin()
        np.testing.assert_array_equal(twin.state["x"], after(2, x))
    np.testing.assert_array_equal(bound.state["x"], step(x))


def test_a_run_that_fails_leaves_the_state(bound: Session, stand_in: StandIn):
    for _ in range(3):
        bound()
    stand_in.configure("fail=cuGraphLaunch:1:1")
    assert "cuGraphLaunch gave CUDA_ERROR_INVALID_VALUE" in refusal(bound)
    stand_in.configure("")
    np.testing.assert_array_equal(bound.state["x"], after(3, x))
    bound()
    np.testing.assert_array_equal(bound.state["x"], after(4, x))


@pytest.mark.parametrize("ends", ["input", "output", "both"])
def test_state_that_the_host_reads_or_writes(stand_in: StandIn, ends: str):
    """The GPU computes between steps on the host, each of which adds 1 in place."""
    before, behind = ends != "output", ends != "input"
    steps = (
        *([HostStep(op="toy.next", operands=(X,), results=(6,))] if before else []),
        CopyStep(operands=(6 if before else X,), results=(DEVICE_X,)),
        COMPUTE,
        DOWNLOAD,
        *([HostStep(op="toy.next", operands=(Y,), results=(Y,))] if behind else []),
    )
    made = package(steps, buffers=(*BUFFERS, buffer("t", ARENA)))
    stand_in.execute(made, KERNELS)
    ops: Any = {"toy": {"toy.next": lambda: SimpleNamespace(reference=lambda x: x + 1)}}
    want = x
    with Session(made, ops, device=stand_in.device()) as session:
        session.bind_state({"y": "x"}, {"x": x})
        kept = np.zeros(SHAPE, np.float32)
        for runs in range(5):
            session.run({}, {"y": kept} if runs % 2 else None)
            want = step(want + before) + behind
            np.testing.assert_array_equal(session.state["x"], want)
            if runs % 2:
                np.testing.assert_array_equal(kept, want)


def test_memory_of_the_state_is_freed(session: Session, stand_in: StandIn):
    before = stand_in.live
    session.bind_state({"y": "x"})
    assert stand_in.live == before + 2
    session()
    live = stand_in.live
    session.unbind_state()
    assert stand_in.live == live - 2
    session.bind_state({"y": "x"})
    session()
    session.close()
    assert refusal(session.reset_state) == "the session is closed: open the package again"


def test_memory_that_is_missing_is_named(stand_in: StandIn, layer: Package):
    stand_in.configure(f"memory={5 * SIZE}")
    with Session(layer, device=stand_in.device()) as session:
        assert refusal(session.bind_state, {"y": "x"}) == (
            f"the GPU has too little memory: an array for 'y' needs {SIZE} bytes, 0 of {5 * SIZE} "
            "are free"
        )
        np.testing.assert_array_equal(session(x), step(x))
