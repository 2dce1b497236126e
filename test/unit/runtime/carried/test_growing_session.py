"""Sessions whose state grows: a cache that each run makes longer by what it is fed."""

import io
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from trivium.runtime import Package, RunError, Session
from trivium.runtime.contents import FIRST_PORT, Buffer, Port, Symbol
from trivium.runtime.host.step import HostStep
from trivium.runtime.manifest import SYMBOLIC_VERSION

X, PAST = Port("x", (2, "N"), "float32", 0), Port("past", (2, "T"), "float32", 1)
Y, PRESENT = Port("y", (2, 1), "float32", 2), Port("present", (2, "N + T"), "float32", 3)


def join(x: np.ndarray, past: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    present = np.concatenate([past, x], axis=1)
    return present.sum(axis=1, keepdims=True), present


@pytest.fixture
def session(scale: Package) -> Session:
    ports = (X, PAST, Y, PRESENT)
    manifest = replace(
        scale.manifest,
        version=SYMBOLIC_VERSION,
        symbols=(Symbol("N", 1, 16, 1), Symbol("T", 0, 64, 8)),
        inputs=ports[:2],
        outputs=ports[2:],
        buffers=tuple(Buffer("", FIRST_PORT + i, 0, p.shape, p.dtype) for i, p in enumerate(ports)),
        steps=(HostStep(op="toy.join", operands=(0, 1), results=(2, 3)),),
        parts=(),
    )
    ops: Any = {"toy": {"toy.join": lambda: SimpleNamespace(reference=join)}}
    return Session(replace(scale, manifest=manifest), ops)


EMPTY = np.zeros((2, 0), np.float32)


def test_a_cache_grows_by_what_is_fed(session: Session):
    session.bind_state({"present": "past"}, {"past": EMPTY})
    past, rng = EMPTY, np.random.default_rng(0)
    for width in (5, 1, 1, 1, 16, 2, 1, 1):
        x = rng.standard_normal((2, width)).astype(np.float32)
        y, past = join(x, past)
        results = session.run({"x": x})
        assert list(results) == ["y"]
        np.testing.assert_array_equal(results["y"], y)
        np.testing.assert_array_equal(session.state["past"], past)
    file = io.BytesIO()
    session.save_state(file)
    session.reset_state()
    assert session.state["past"].shape == (2, 0)
    file.seek(0)
    session.restore_state(file)
    np.testing.assert_array_equal(session.state["past"], past)
    session(x)
    np.testing.assert_array_equal(session.state["past"], join(x, past)[1])
    twin = session.clone()
    assert twin.state["past"].shape == (2, 0)


def test_a_cache_that_is_full_is_refused_and_kept(session: Session):
    session.bind_state({"present": "past"}, {"past": EMPTY})
    x = np.ones((2, 16), np.float32)
    for _ in range(5):
        session(x)
    for _ in range(2):
        with pytest.raises(RunError) as caught:
            session(x)
        assert "T is 80" in str(caught.value)
        assert session.state["past"].shape == (2, 80)
    session.reset_state()
    assert session(x).tolist() == [[16], [16]]


def test_results_that_are_asked_for(session: Session):
    session.bind_state({"present": "past"}, {"past": EMPTY})
    x, present = np.ones((2, 3), np.float32), np.zeros((2, 6), np.float32)
    session(x)
    session.run({"x": 2 * x}, {"present": present})
    assert present.tolist() == [[1, 1, 1, 2, 2, 2]] * 2
    session.run({"x": x, "past": EMPTY})
    assert session.state["past"].shape == (2, 3)
    with pytest.raises(RunError, match=r"output 'present' has shape \(2, 7\), must be \(2, 6\)"):
        session.run({"x": x}, {"present": np.zeros((2, 7), np.float32)})
    twin = session.clone()
    twin.unbind_state()
    with pytest.raises(RunError, match=r"\[2, T\], which may change: give by initial"):
        twin.bind_state({"present": "past"})
