"""Ops that select elements: what they compute, against numpy, torch and onnxruntime."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.sizes.dim import symbol
from trivium.dialects.core.sizes.symbols import Range
from trivium.dialects.core.tensor import Tensor

ANY = symbol("u0", Range(0))


@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 0, 3), (4, 3, 2)])
@pytest.mark.parametrize("dtype", [np.float32, np.bool_, np.int64])
def test_non_zero_lists_indices(shape, dtype):
    x = (np.random.default_rng(0).random(shape) < 0.5).astype(dtype)
    found = tri.NonZero(count=ANY).reference(x)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, np.argwhere(x).T)


def test_non_zero_takes_nan_for_not_zero():
    x = np.array([np.nan, -0.0, 0.0, -1], np.float32)
    assert tri.NonZero(count=ANY).reference(x).tolist() == [[0, 3]]


@pytest.mark.parametrize("chosen", [[], [0], [0, 0, 0], [1, 0, 1], [1, 1, 1, 1]])
@pytest.mark.parametrize("axis", [1, -2])
def test_compress_takes_slices(chosen, axis):
    x = np.arange(24.0).reshape(2, 4, 3)
    y = tri.Compress(count=ANY, axis=axis).reference(x, np.array(chosen, bool))
    np.testing.assert_array_equal(y, x[:, np.flatnonzero(chosen)])


@settings(deadline=None, max_examples=60)
@given(
    values=st.lists(st.sampled_from([0.0, -0.0, 1.0, -2.0, np.nan, np.inf]), max_size=12),
    columns=st.integers(1, 3),
    axis=st.integers(0, 1),
)
def test_sorted_unique_is_what_numpy_computes(values, columns, axis):
    x = np.array(values[: len(values) // columns * columns]).reshape(-1, columns)
    x = np.nan_to_num(x, nan=7.0) if columns > 1 else x  # numpy tells NaNs in rows apart
    x = x if axis == 0 else x.T.copy()
    y, first, inverse, counts = tri.Unique(count=ANY, axis=axis).reference(x)
    known = None if columns == 1 else axis
    want = np.unique(x, return_index=True, return_inverse=True, return_counts=True, axis=known)
    np.testing.assert_array_equal(y.reshape(want[0].shape), want[0])
    for got, expected in zip((first, inverse, counts), want[1:], strict=True):
        assert got.dtype == np.int64
        np.testing.assert_array_equal(got, expected.reshape(-1))


def test_rows_that_occur_first_come_first():
    x = np.array([[3, 1], [0, 2], [3, 1], [3, 0], [0, 2]], np.int32)
    y, first, inverse, counts = tri.Unique(count=ANY, sorted=False).reference(x)
    assert y.tolist() == [[3, 1], [0, 2], [3, 0]]
    assert first.tolist() == [0, 1, 3]
    assert inverse.tolist() == [0, 1, 0, 2, 1]
    assert counts.tolist() == [2, 2, 1]


def test_slices_of_nothing_are_equal():
    y, first, inverse, counts = tri.Unique(count=ANY, axis=0).reference(np.zeros((3, 0)))
    assert y.shape == (1, 0)
    assert [each.tolist() for each in (first, inverse, counts)] == [[0], [0, 0, 0], [3]]


@pytest.mark.parametrize("sorted", [True, False])
def test_unique_of_nothing(sorted):
    y, *others = tri.Unique(count=ANY, sorted=sorted).reference(np.zeros((0, 2), np.float32))
    assert y.shape == (0, 2)
    assert [each.tolist() for each in others] == [[], [], []]


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("limit", [0, 1, 3, 1000])
@pytest.mark.parametrize("least", [None, 0.2, 2.0])
def test_non_max_suppression_is_what_onnxruntime_computes(centered, limit, least):
    runtime = pytest.importorskip("onnxruntime")
    import onnx.parser

    random = np.random.default_rng(limit)
    boxes = random.random((2, 30, 4)).astype(np.float32)
    scores = random.random((2, 3, 30)).astype(np.float32)
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["" : 11]>
        main (float[2, 30, 4] b, float[2, 3, 30] s, int64 limit, float overlap, float least)
          => (int64[N, 3] y) {{
            y = NonMaxSuppression <center_point_box = {int(centered)}> (b, s, limit, overlap, least)
        }}""")
    given = {
        "b": boxes,
        "s": scores,
        "limit": np.array(limit),
        "overlap": np.array(0.3, np.float32),
        "least": np.array(-1e9 if least is None else least, np.float32),
    }
    (want,) = runtime.InferenceSession(model.SerializeToString()).run(None, given)
    op = tri.NonMaxSuppression(count=ANY, limit=limit, centered=centered)
    bound = None if least is None else given["least"]
    got = op.reference(boxes, scores, given["overlap"], bound)
    np.testing.assert_array_equal(got, want)


def test_ops_say_how_much_they_find_at_most():
    rows = symbol("N")
    x = Tensor((rows, 3), "f32")
    assert tri.NonZero(count=ANY).most(x) == (3 * rows,)
    assert tri.NonZero(count=ANY).most(Tensor((), "f32")) == (1,)
    assert tri.Compress(count=ANY).most(x, Tensor((rows,), "i1")) == (rows,)
    assert tri.Unique(count=ANY, axis=1).most(x) == (3,)
    boxes, scores = Tensor((2, rows, 4), "f32"), Tensor((2, 5, rows), "f32")
    limited = tri.NonMaxSuppression(count=ANY, limit=7)
    assert [str(size) for size in limited.most(boxes, scores, None, None)] == ["10*min(7, N)"]
    assert tri.NonMaxSuppression(count=ANY).most(boxes, scores) == (10 * rows,)
    assert tri.DefineSizes(sizes=(ANY,)).most(Tensor((), "i64")) == (None,)
    assert tri.DefineSizes(sizes=(ANY,), limits=(rows,)).most(Tensor((), "i64")) == (rows,)


def test_sizes_that_are_found_are_as_declared():
    x = np.array([1, 0, 2], np.float32)
    few = symbol("few", Range(0, 1))
    with pytest.raises(Invalid, match="finds 2 for size few, must be from 0 to 1"):
        tri.NonZero(count=few).evaluate([x])
    with pytest.raises(Invalid, match="finds size 2, must be 3"):
        tri.NonZero(count=3).evaluate([x])
    limited = tri.DefineSizes(sizes=(ANY,), limits=(symbol("N"),))
    with pytest.raises(Invalid, match="finds size 5, must be at most 4"):
        limited.evaluate([np.array([5])], {"N": 4})
    with pytest.raises(Invalid, match="finds -1 for size u0, must be at least 0"):
        limited.evaluate([np.array([-1])], {"N": 4})
