"""Models whose sizes data decide, as native code: each output equals that of onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnx.parser
import pytest
import trivium
from numpy.typing import NDArray
from trivium.runtime import Session
from trivium.runtime.cpu.step import CpuStep
from trivium.test.unit.runtime.clones import use_clones

PEAKS = """
<ir_version: 10, opset_import: ["" : 17]>
peaks (float[1,5,N] raw, float[N,4] boxes)
  => (float[k,4] corners, float[k] best, int64[k] kinds, float[t] tops, float[k,k] pairs,
      float[m,4] both, float[k] share, float[k,3] product, int64[k] numbers)
  <int64[1] all = {-1}, int64[1] i0 = {0}, int64[1] i1 = {1}, int64[1] i2 = {2}, int64[1] i4 = {4},
   int64[1] three = {3}, float least = {0.5}, float two = {2}, int64 none = {0}, int64 one = {1},
   float[4,3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
    rows = Transpose <perm = [0, 2, 1]> (raw)
    flat = Squeeze (rows, i0)
    top = ReduceMax <axes = [1], keepdims = 0> (flat)
    kind = ArgMax <axis = 1, keepdims = 0> (flat)
    high = Greater (top, least)
    found = NonZero (high)
    places = Reshape (found, all)
    chosen = Gather (boxes, places)
    middle = Slice (chosen, i0, i2, i1)
    size = Slice (chosen, i2, i4, i1)
    half = Div (size, two)
    low = Sub (middle, half)
    up = Add (middle, half)
    corners = Concat <axis = 1> (low, up)
    [best] best = Gather (top, places)
    kinds = Gather (kind, places)
    n = Shape (best)
    k = Min (n, three)
    [tops] tops, ignored = TopK (best, k)
    columns = Unsqueeze (best, i1)
    lines = Unsqueeze (best, i0)
    pairs = Sub (columns, lines)
    together = Concat <axis = 0> (corners, boxes)
    both = Sigmoid (together)
    [share] share = Softmax <axis = 0> (best)
    [product] product = MatMul (corners, w)
    count = Squeeze (n)
    numbers = Range (none, count, one)
}
"""


def peaks(count: int, factor: float, seed: int = 0) -> dict[str, NDArray[Any]]:
    random = np.random.default_rng(seed)
    raw = (random.random((1, 5, count)) ** 3 * factor).astype(np.float32)
    return {"raw": raw, "boxes": random.random((count, 4)).astype(np.float32)}


Expected = Callable[[dict[str, Any]], list[Any]]


def runner(text: str) -> tuple[onnx.ModelProto, Expected]:
    """Return a model, and a function that runs it in onnxruntime."""
    ort = pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(text)
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options)
    return model, lambda given: session.run(None, given)


@pytest.fixture(scope="module")
def peak_finder() -> tuple[Session, Expected]:
    model, expected = runner(PEAKS)
    return trivium.compile(model, threads=2), expected


def assert_equal(session: Session, expected: Expected, given: dict[str, Any]) -> int:
    results, wanted = session.run(given), expected(given)
    for got, want in zip(results.values(), wanted, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-6, strict=True)
    return wanted[0].shape[0]


# The numbers of elements, and what decides how many are found: none, some, or most of them.
SIZES = [(4, 1.0), (1, 1.0), (50, 0.5), (50, 1.0), (700, 1.0), (7, 0.0), (700, 20.0)]


def test_what_follows_from_sizes_that_are_found_is_native_code(
    peak_finder: tuple[Session, Expected],
):
    session, _ = peak_finder
    steps = session.manifest.steps
    last = steps[-1]
    assert isinstance(last, CpuStep)
    assert {"best", "tops", "share", "product"} < set(last.nodes)


def test_nothing_some_and_most_are_found(peak_finder: tuple[Session, Expected]):
    found = [assert_equal(*peak_finder, peaks(*size)) for size in SIZES]
    assert found[2] == found[5] == 0
    assert 0 < found[4] < 700 * 0.9 < found[6]


def test_clones_find_different_sizes_in_several_threads(peak_finder: tuple[Session, Expected]):
    session, expected = peak_finder

    def use(twin: Session, start: int, i: int) -> None:
        assert_equal(twin, expected, peaks(*SIZES[(start + i) % len(SIZES)], seed=i))

    use_clones(session, 12, use)


TWICE = """
<ir_version: 10, opset_import: ["" : 17]>
twice (float[N] x, float[N] z) => (float[k] y) <int64[1] all = {-1}, float none = {0}> {
    [left] left = Greater (x, none)
    right = Greater (z, none)
    i = NonZero (left)
    j = NonZero (right)
    places = Reshape (i, all)
    others = Reshape (j, all)
    first = Gather (x, places)
    second = Gather (z, others)
    powers = Exp (second)
    count = Shape (first)
    [view] view = Reshape (powers, count)
    total = Add (view, first)
    share = Softmax (total)
    y = Mul (share, total)
}
"""


def test_a_view_of_what_is_found_later_has_the_shape_of_what_was_found_before() -> None:
    model, expected = runner(TWICE)
    session = trivium.compile(model)
    for count in (0, 1, 5, 77):
        x = np.concatenate([[-1], np.arange(count)]).astype(np.float32)
        assert_equal(session, expected, {"x": x, "z": x[::-1].copy()})
    with pytest.raises(trivium.RunError, match=r"view: .* shape \[u0\] has u0 elements, x has u1"):
        session.run({"x": x, "z": np.abs(x)})
