"""Packages for a GPU that find sizes in a run: what follows is done by kernels for these sizes."""

from typing import Any

import numpy as np
import onnx.parser
import onnxruntime
import pytest
import trivium
from interpreted import interpreted
from trivium.runtime.gpu.step import GpuStep
from trivium.runtime.package import Package
from trivium.runtime.session import Session
from trivium.test.unit.runtime.gpu.stand_in import StandIn

HEAD = """
    <ir_version: 8, opset_import: ["" : 17]>
    head (float[N, 4] boxes, float[N] score)
        => (float[k, 3] product, float[k] share, float[j] large)
    <int64[1] all = {-1}, float least = {0.5},
     float[1] level = {0.125}, float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
        high = Greater (score, least)
        [find] found = NonZero (high)
        places = Reshape (found, all)
        chosen = Gather (boxes, places)
        [product] product = MatMul (chosen, w)
        best = Gather (score, places)
        [share] share = Softmax <axis = 0> (best)
        above = Greater (share, level)
        again = NonZero (above)
        where = Reshape (again, all)
        gathered = Gather (share, where)
        [large] large = Sqrt (gathered)
    }
"""


@pytest.fixture(scope="module")
def package() -> Package:
    shapes = {"N": trivium.Range(1, 1024, likely=64)}
    return trivium.build(onnx.parser.parse_model(HEAD), target="gpu:sm_90", shapes=shapes)


def feeds(count: int, found: int) -> dict[str, np.ndarray[Any, Any]]:
    """Draw a feed of some boxes, of which so many have a high score."""
    random = np.random.default_rng(count + found)
    score = random.permutation(np.linspace(0, 0.4, count) + 0.55 * (np.arange(count) < found))
    return {"boxes": random.random((count, 4), np.float32), "score": score.astype(np.float32)}


def assert_equal(session: Session, stand_in: StandIn, count: int, found: int) -> None:
    given = feeds(count, found)
    model = onnx.parser.parse_model(HEAD).SerializeToString()
    wanted = [np.asarray(y) for y in onnxruntime.InferenceSession(model).run(None, given)]
    stand_in.sizes = {"N": count, "u0": found, "u1": wanted[2].size}
    results = session.run(given)
    assert not stand_in.errors
    for got, want in zip(results.values(), wanted, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-6, strict=True)


def test_what_follows_from_found_sizes_runs_on_the_gpu(package: Package) -> None:
    kinds = [step.kind for step in package.manifest.steps]
    behind = package.manifest.steps[kinds.index("find") :]
    nodes = {node for step in behind if isinstance(step, GpuStep) for node in step.nodes}
    assert {"product", "share", "large"} < nodes
    assert {step.kind for step in package.manifest.steps} == {"find", "gpu", "copy"}


def test_none_some_and_all_are_found(package: Package, stand_in: StandIn) -> None:
    stand_in.execute(package, lambda run: interpreted(package, run))
    with Session(package, device=stand_in.device()) as session:
        for count, found in ((40, 3), (40, 0), (7, 7), (90, 80), (40, 3)):
            assert_equal(session, stand_in, count, found)


def test_memory_is_kept_and_freed(package: Package, stand_in: StandIn) -> None:
    stand_in.execute(package, lambda run: interpreted(package, run))
    with Session(package, device=stand_in.device()) as session:
        for _ in range(2):  # the second one makes a graph of what precedes the sizes
            assert_equal(session, stand_in, 8, 4)
        live = stand_in.live
        assert_equal(session, stand_in, 8, 4)
        assert stand_in.live == live
        session.trim()
        assert stand_in.live < live
        assert_equal(session, stand_in, 8, 4)


def test_found_outputs_on_the_device(package: Package, stand_in: StandIn) -> None:
    stand_in.execute(package, lambda run: interpreted(package, run))
    stand_in.sizes = {"N": 9, "u0": 5, "u1": 5}
    with Session(package, device=stand_in.device()) as session:
        given = feeds(9, 5)
        there, here = session.run_on_device(given), session.run(given)
        for name, array in here.items():
            np.testing.assert_array_equal(there[name].numpy(), array)
