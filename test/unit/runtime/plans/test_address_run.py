"""Runs that get addresses instead of arrays."""

from threading import Thread

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.runtime import RunError, Session
from trivium.runtime.memory import address_of

TEXT = """
    <ir_version: 10, opset_import: ["" : 21]>
    net (float[{n}, 3] x, float[3, 2] w) => (float[{n}, 2] y, float[{n}, 3] z) {{
        y = MatMul (x, w)
        z = Relu (x)
    }}
"""


def _session(n: str, text: str = TEXT, **options: object) -> Session:
    return trivium.compile(onnx.parser.parse_model(text.format(n=n)), threads=1, **options)


def _check(session: Session, rows: int) -> None:
    rng = np.random.default_rng(rows)
    x, w = (rng.normal(size=s).astype(np.float32) for s in ((rows, 3), (3, 2)))
    found = session.address_run((x.shape, w.shape))
    assert found is not None
    assert found.outputs == ((rows, 2), (rows, 3))
    y, z = (np.empty(shape, np.float32) for shape in found.outputs)
    assert found.run([address_of(array) for array in (x, w, y, z)])
    np.testing.assert_allclose(y, x @ w, rtol=1e-5)
    assert np.array_equal(z, np.maximum(x, 0))


def test_static_shapes() -> None:
    _check(_session("4"), 4)


def test_each_shape_has_a_run_of_its_own() -> None:
    session = _session("N")
    for rows in (2, 300, 5):
        _check(session, rows)


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(RunError, match="has 4 for 3 along axis 0"):
        _session("N").address_run(((4, 3), (4, 2)))


def test_what_needs_arrays_has_no_such_run() -> None:
    shapes = ((4, 3), (3, 2))
    assert _session("4", target="host").address_run(shapes) is None
    stateful = _session("4")
    stateful.bind_state({"z": "x"})
    assert stateful.address_run(shapes) is None


def test_a_session_that_runs_in_another_thread_does_not_run() -> None:
    session = _session("4")
    found = session.address_run(((4, 3), (3, 2)))
    assert found is not None
    arrays = [np.ones(s, np.float32) for s in ((4, 3), (3, 2), *found.outputs)]
    addresses = [address_of(array) for array in arrays]
    ran: list[bool] = []
    with session._busy:
        thread = Thread(target=lambda: ran.append(found.run(addresses)))
        thread.start()
        thread.join()
    assert ran == [False]
    assert np.all(arrays[2] == 1)
    assert found.run(addresses)
    assert np.all(arrays[2] == 3)
