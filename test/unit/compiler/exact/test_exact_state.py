"""State goes from run to run whichever programs these take."""

from pathlib import Path

import numpy as np
import onnx.parser
import pytest
import trivium
from trivium.compiler.driver import build
from trivium.runtime import Package, Session

CACHE = """
    <ir_version: 10, opset_import: ["" : 21]>
    cache (float[1, P, 4] past, float[1, C, 4] new, float[3] kept)
        => (float[1, Q, 4] grown, float[1, C, 4] doubled, float[3] count) <float[1] one = {1}> {
        grown = Concat <axis = 1> (past, new)
        doubled = Add (new, new)
        count = Add (kept, one)
    }
"""
SETS = [{"P": 3, "C": 1}, {"P": 5, "C": 1}]
PAIRS = {"grown": "past", "count": "kept"}
START = np.arange(4, dtype=np.float32).reshape(1, 1, 4)


@pytest.fixture(scope="module")
def package() -> Package:
    return build(onnx.parser.parse_model(CACHE), exact=SETS)


def bound(package: Package) -> Session:
    session = Session(package)
    session.bind_state(PAIRS, {"past": START})
    return session


def new(step: int) -> dict[str, np.ndarray]:
    return {"new": np.full((1, 1, 4), step, np.float32)}


def test_a_cache_grows_through_programs_for_exact_and_for_all_sizes(package: Package):
    session = bound(package)
    for step in range(1, 8):
        results = session.run(new(step))
        assert set(results) == {"doubled"}
        assert (results["doubled"] == 2 * step).all()
        wanted = np.concatenate([START] + [new(each)["new"] for each in range(1, step + 1)], 1)
        np.testing.assert_array_equal(session.state["past"], wanted)
        assert session.state["kept"].tolist() == [step] * 3
    assert len(session._exact.opened) == 2


def test_state_is_saved_and_reset_at_exact_sizes(package: Package, tmp_path: Path):
    session = bound(package)
    for step in (1, 2):
        session.run(new(step))
    session.save_state(tmp_path / "state.npz")
    twin = session.clone()
    twin.restore_state(tmp_path / "state.npz")
    for each in (session, twin):
        each.run(new(9))  # of 3 past ones, which are exact
        assert each.state["past"][0, :, 0].tolist() == [0, 1, 2, 9]
        each.reset_state()
        np.testing.assert_array_equal(each.state["past"], START)


def test_a_run_that_fails_leaves_the_state(package: Package):
    session = bound(package)
    for step in (1, 2):
        session.run(new(step))
    with pytest.raises(trivium.RunError, match="output 'doubled' has shape"):
        session.run(new(3), {"doubled": np.zeros(3, np.float32)})
    assert session.state["kept"].tolist() == [2] * 3
    given = np.zeros((1, 4, 4), np.float32)
    session.run(new(3), {"grown": given})
    assert given[0, :, 0].tolist() == [0, 1, 2, 3]
    session.unbind_state()
    assert set(session.run({"past": given[:, :3], "kept": np.zeros(3, np.float32), **new(1)})) == {
        *("grown", "doubled", "count")
    }


def test_state_of_fixed_sizes_and_exact_programs(package: Package):
    session = Session(package)
    session.bind_state({"count": "kept"})
    for step, past in enumerate((3, 5, 2, 3, 3), 1):
        session.run({"past": np.zeros((1, past, 4), np.float32), **new(step)})
        assert session.state["kept"].tolist() == [step] * 3
