"""Detection heads with the choice of boxes inside: one session, equal to onnxruntime."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx.parser
import pytest
import trivium
from numpy.typing import NDArray
from trivium.runtime import Session
from trivium.runtime.cpu.step import CpuStep
from trivium.tools.report import describe
from trivium.tools.reports.package_info import package_info

HEAD = """
<ir_version: 8, opset_import: ["" : 17]>
head (float[B, 9, N] raw)
  => (int64[n, 3] found, float[n, 4] corners, int64[n] kinds, float[n] best)
  <int64[1] most = {20}, float[1] overlap = {0.45}, float[1] least = {0.25}, int64[1] i0 = {0},
   int64[1] i1 = {1}, int64[1] i2 = {2}, int64[1] i3 = {3}, int64[1] i4 = {4}, int64[1] i9 = {9},
   int64[1] all = {-1}, float two = {2}> {
    sides = Slice (raw, i0, i4, i1)
    logits = Slice (raw, i4, i9, i1)
    scores = Sigmoid (logits)
    boxes = Transpose <perm = [0, 2, 1]> (sides)
    found = NonMaxSuppression <center_point_box = 1> (boxes, scores, most, overlap, least)
    batch = Slice (found, i0, i1, i1)
    columns = Slice (found, i1, i2, i1)
    kinds = Reshape (columns, all)
    places = Slice (found, i2, i3, i1)
    pairs = Concat <axis = 1> (batch, places)
    chosen = GatherND (boxes, pairs)
    middle = Slice (chosen, i0, i2, i1)
    size = Slice (chosen, i2, i4, i1)
    half = Div (size, two)
    low = Sub (middle, half)
    up = Add (middle, half)
    corners = Concat <axis = 1> (low, up)
    [best] best = GatherND (scores, found)
}
"""

SELECT = """
<ir_version: 8, opset_import: ["" : 17]>
select (float[1, N, 4] boxes, float[1, 3, N] scores, float[N] weight, bool[N] chosen)
  => (float[n, 4] kept, int64[n] kinds, float[n] best, float[1, m, 4] compressed,
      int64[3, k] heavy, float[k] sums)
  <int64[1] most = {5}, float[1] overlap = {0.4}, float[1] least = {0.3}, int64[1] i0 = {0},
   int64[1] i1 = {1}, int64[1] i2 = {2}, int64[1] i3 = {3}, int64[1] all = {-1},
   float limit = {0.8}> {
    found = NonMaxSuppression (boxes, scores, most, overlap, least)
    places = Slice (found, i2, i3, i1)
    columns = Slice (found, i1, i2, i1)
    flat = Reshape (places, all)
    kinds = Reshape (columns, all)
    together = Squeeze (boxes, i0)
    kept = Gather (together, flat)
    best = GatherND (scores, found)
    compressed = Compress <axis = 1> (boxes, chosen)
    weighted = Mul (scores, weight)
    high = Greater (weighted, limit)
    heavy = NonZero (high)
    turned = Transpose <perm = [1, 0]> (heavy)
    sums = GatherND (weighted, turned)
}
"""

Expected = Callable[[dict[str, Any]], list[Any]]


def made(text: str) -> tuple[Session, Expected]:
    ort = pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(text)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options)
    return trivium.compile(model, threads=2), lambda given: session.run(None, given)


@pytest.fixture(scope="module")
def head() -> tuple[Session, Expected]:
    return made(HEAD)


def raw(batches: int, count: int, shift: float, seed: int) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(seed)
    middle = random.random((batches, 2, count)) * 300
    size = random.random((batches, 2, count)) * 100 + 10
    logits = random.normal(size=(batches, 5, count)) * 2 + shift
    return {"raw": np.concatenate([middle, size, logits], 1).astype(np.float32)}


def assert_equal(made: tuple[Session, Expected], given: dict[str, Any]) -> list[int]:
    """Assert that outputs are those of onnxruntime; return how many rows each has."""
    session, expected = made
    results, wanted = session.run(given), expected(given)
    for got, want in zip(results.values(), wanted, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-4, strict=True)
    return [len(each) for each in wanted]


def test_boxes_are_chosen_for_each_image_and_class(head: tuple[Session, Expected]):
    counts = [
        assert_equal(head, raw(*size, seed))[0]
        for seed in range(3)
        for size in [(1, 200, -3.0), (3, 40, 0.0), (1, 1, 3.0), (2, 300, 1.0), (1, 200, -40.0)]
    ]
    assert counts[4] == 0  # nothing is detected
    assert counts[2] == 5  # the one box, for each class
    assert counts[3] == 200  # as many as there may be
    assert 0 < counts[0] < 100


def test_only_the_size_itself_is_found_outside_of_native_code(head: tuple[Session, Expected]):
    session, _ = head
    others = [step for step in session.manifest.steps if not isinstance(step, CpuStep)]
    assert [step.operation(session.manifest) for step in others] == ["sizes"]


def test_equal_scores_and_boxes_without_area(head: tuple[Session, Expected]):
    given = raw(1, 64, 0.0, 7)
    given["raw"][:, 4:] = 1.0
    given["raw"][:, 2:4, ::3] = 0.0
    given["raw"][:, :4, 1::3] = given["raw"][:, :4, :1]
    assert assert_equal(head, given)[0] > 0


def test_several_selections_in_one_session():
    both = made(SELECT)
    random = np.random.default_rng(0)
    for count, factor in [(30, 1), (1, 1), (150, 1), (17, 0), (30, 1)]:
        given = {
            "boxes": random.random((1, count, 4)).astype(np.float32),
            "scores": (random.random((1, 3, count)) * factor).astype(np.float32),
            "weight": random.random(count).astype(np.float32) + 0.3,
            "chosen": random.random(count) < 0.5 * factor,
        }
        assert_equal(both, given)


def test_a_report_has_the_memory_of_threads_at_likely_sizes() -> None:
    model = onnx.parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]>
        g (float[1, N, 4] boxes, float[1, C, N] scores) => (int64[M, 3] y)
        <int64[1] most = {10}> { y = NonMaxSuppression (boxes, scores, most) }"""
    )
    package = trivium.build(model, shapes={"N": trivium.Range(1, 64, likely=20), "C": 2})
    needed = package.manifest.memory.thread_bytes
    assert isinstance(needed, str)
    (likely,) = re.findall(
        r"per thread +(\d+) bytes", describe(package_info("m", package.manifest))
    )
    assert int(likely) == eval(needed, {"max": max, "N": 20})
