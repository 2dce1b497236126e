"""Runs that only bind arrays: which feeds they accept, and what they leave to the slots."""

from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Port
from trivium.runtime.host.step import HostStep

ONES = np.ones(16, np.float32)
RESULT = np.arange(1, 17, dtype=np.float32)


@pytest.fixture
def session(scale: Package) -> Session:
    return Session(scale)


def fast(session: Session, feeds: Any) -> dict[str, Any] | None:
    assert session._fast is not None
    return session._fast(feeds)


def test_arrays_that_fit_are_only_bound(session: Session):
    results = fast(session, {"x": ONES})
    assert results is not None
    np.testing.assert_array_equal(results["y"], RESULT)


def test_each_run_has_outputs_of_its_own(session: Session):
    first, second = fast(session, {"x": ONES}), fast(session, {"x": ONES})
    assert first is not None
    assert second is not None
    assert first["y"].flags.owndata
    assert not np.may_share_memory(first["y"], second["y"])


class Derived(np.ndarray):
    pass


ODD: dict[str, Any] = {
    "no array": [1.0] * 16,
    "a subclass": ONES.view(Derived),
    "another type": ONES.astype(np.float64),
    "another byte order": ONES.astype(">f4"),
    "another shape": ONES.reshape(4, 4),
    "strided": np.ones(32, np.float32)[::2],
    "unaligned": np.frombuffer(b"\0" + ONES.tobytes(), np.uint8)[1:].view(np.float32),
    "nothing": None,
}


@pytest.mark.parametrize("feed", ODD.values(), ids=ODD)
def test_an_array_that_does_not_fit_is_left_to_its_slot(session: Session, feed: Any):
    assert fast(session, {"x": feed}) is None
    np.testing.assert_array_equal(session.run({"x": ONES})["y"], RESULT)


@pytest.mark.parametrize(
    "feeds",
    [{}, {"z": ONES}, {"x": ONES, "z": ONES}, MappingProxyType({"x": ONES}), [ONES], None],
    ids=["none", "another name", "one too many", "no dict", "a list", "nothing"],
)
def test_feeds_that_are_no_dict_of_the_inputs_are_left_to_the_session(session: Session, feeds: Any):
    assert fast(session, feeds) is None


def test_a_session_that_is_busy_is_left_alone(session: Session):
    session._busy.acquire()
    assert fast(session, {"x": ONES}) is None
    session._busy.release()
    assert fast(session, {"x": ONES}) is not None


def test_a_session_that_is_closed_runs_no_more(session: Session):
    session.close()
    for _ in range(2):
        with pytest.raises(RunError, match="the session is closed: open the package again"):
            session.run({"x": ONES})
        session._renew()  # as in a forked process


def copying(scale: Package, port: Port) -> Session:
    """Return a session that copies its input, of any type and shape, in a step on the host."""
    manifest = replace(
        scale.manifest,
        inputs=(port,),
        outputs=(replace(port, name="y", buffer=1),),
        buffers=tuple(Buffer("", FIRST_PORT + i, 0, port.shape, port.dtype) for i in range(2)),
        steps=(HostStep(op="toy.copy", operands=(0,), results=(1,)),),
        parts=(),
    )
    dialects: Any = {"toy": {"toy.copy": lambda: SimpleNamespace(reference=lambda x: x)}}
    return Session(replace(scale, manifest=manifest), dialects)


@pytest.mark.parametrize("dtype", [np.float16, np.bool_, np.complex64, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0)])
def test_arrays_of_any_type_and_size_fit(scale: Package, dtype: Any, shape: tuple[int, ...]):
    session = copying(scale, Port("x", shape, np.dtype(dtype).name, 0))
    x = np.ones(shape, dtype)
    x.flags.writeable = False
    results = fast(session, {"x": x})
    assert results is not None
    assert (results["y"].shape, results["y"].dtype) == (x.shape, x.dtype)
    np.testing.assert_array_equal(results["y"], x)


def test_an_error_in_a_step_leaves_the_session_free(scale: Package):
    def fail(x: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError

    step = HostStep(op="toy.fail", operands=(0,), results=(1,))
    package = replace(scale, manifest=replace(scale.manifest, steps=(step,)))
    session = Session(package, {"toy": {"toy.fail": lambda: SimpleNamespace(reference=fail)}})
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            session.run({"x": ONES})


def test_feeds_may_change_during_a_run(scale: Package):
    """Another thread may empty the dict: the session holds the arrays."""
    feeds = {"x": ONES.copy()}

    def empty(y: np.ndarray) -> np.ndarray:
        feeds.clear()
        return y

    step = HostStep(op="toy.empty", operands=(1,), results=(1,))
    steps = (step, *scale.manifest.steps)
    package = replace(scale, manifest=replace(scale.manifest, steps=steps))
    session = Session(package, {"toy": {"toy.empty": lambda: SimpleNamespace(reference=empty)}})
    np.testing.assert_array_equal(session.run(feeds)["y"], RESULT)


def test_state_is_bound_and_replaced(session: Session):
    session.bind_state({"y": "x"}, {"x": ONES})
    x = ONES
    for _ in range(4):
        np.testing.assert_array_equal(session.state["x"], x)
        assert fast(session, {}) == {}
        x = x * (RESULT - 1) + 1
    assert fast(session, {"x": ONES}) is None
    np.testing.assert_array_equal(session.state["x"], x)


def test_a_run_that_is_left_to_the_session_leaves_the_state(scale: Package):
    session = copying(scale, Port("x", (3,), "float32", 0))
    session.bind_state({"y": "x"})
    session._busy.acquire()
    assert fast(session, {}) is None
    session._busy.release()
    np.testing.assert_array_equal(session.state["x"], np.zeros(3, np.float32))
