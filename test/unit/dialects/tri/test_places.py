"""Which element goes where: ops that move, gather and scatter, against loops and torch."""

import numpy as np
import pytest
import torch
from trivium.dialects import tri
from trivium.dialects.core.errors import Invalid
from trivium.dialects.core.tensor import Array

X = np.arange(24).reshape(2, 3, 4)


def equal(got: Array, expected: object) -> None:
    np.testing.assert_array_equal(got, expected)


def test_slice_goes_backwards_to_the_first_element() -> None:
    y = tri.Slice(starts=(1, 2, 3), sizes=(2, 2, 4), steps=(-1, -2, -1)).reference(X)
    equal(y, X[::-1, ::-2, ::-1])


def test_slice_of_nothing_ignores_its_start() -> None:
    y = tri.Slice(starts=(9, 0, 0), sizes=(0, 3, 4), steps=(-5, 1, 1)).reference(X)
    assert y.shape == (0, 3, 4)


def test_split_allows_empty_parts() -> None:
    parts = tri.Split(axis=2, sizes=(0, 3, 0, 1)).reference(X)
    assert [p.shape[2] for p in parts] == [0, 3, 0, 1]
    equal(np.concatenate(parts, 2), X)


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_pad_cuts_before_it_mirrors(mode: str) -> None:
    x = np.arange(6)
    equal(tri.Pad(pads=(-2, 2), mode=mode, value=0.0).reference(x), np.pad(x[2:], (0, 2), mode))


def test_pad_fills_with_the_value() -> None:
    y = tri.Pad(pads=(1, -1), mode="constant", value=7.0).reference(np.array([1, 2]))
    equal(y, [7, 1])


@pytest.mark.parametrize(
    ("upper", "k"), [(True, 1), (True, -9), (False, 2), (False, -1), (True, 9)]
)
def test_trilu_is_torchs(upper: bool, k: int) -> None:
    torchs = torch.triu if upper else torch.tril
    equal(tri.Trilu(k=k, upper=upper).reference(X), torchs(torch.from_numpy(X), k).numpy())


def test_depth_to_space_crd_is_torchs_pixel_shuffle() -> None:
    x = np.arange(2 * 8 * 3 * 5).reshape(2, 8, 3, 5)
    y = tri.DepthToSpace(blocksize=2, mode="CRD").reference(x)
    equal(y, torch.pixel_shuffle(torch.from_numpy(x), 2).numpy())


def test_depth_to_space_undoes_space_to_depth() -> None:
    x = np.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6)
    y = tri.SpaceToDepth(blocksize=2).reference(x)
    assert y[0, 3 * 1 + 2, 0, 0] == x[0, 2, 0, 1]  # block row 0, block column 1, channel 2
    equal(tri.DepthToSpace(blocksize=2, mode="DCR").reference(y), x)


@pytest.mark.parametrize(("batch", "time"), [(0, 1), (1, 0), (0, 2), (2, 0), (-1, 1)])
def test_reverse_sequence_reverses_each_batch_entry(batch: int, time: int) -> None:
    lengths = np.array([i % (X.shape[time] + 1) for i in range(X.shape[batch])])
    expected = np.moveaxis(X, (batch, time), (0, 1)).copy()
    for entry, length in zip(expected, lengths, strict=True):
        entry[:length] = entry[:length][::-1].copy()
    y = tri.ReverseSequence(batch_axis=batch, time_axis=time).reference(X, lengths)
    equal(np.moveaxis(y, (batch, time), (0, 1)), expected)


def test_gather_counts_from_the_end() -> None:
    equal(tri.Gather(axis=-2).reference(X, np.array([[-1, 0]])), X[:, [[2, 0]]])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_elements_is_torchs(axis: int) -> None:
    indices = np.random.default_rng(0).integers(0, X.shape[axis], (2, 2, 3))
    expected = torch.gather(torch.from_numpy(X), axis, torch.from_numpy(indices))
    equal(tri.GatherElements(axis=axis).reference(X, indices), expected.numpy())


def test_gather_nd_walks_the_batch_axes_together() -> None:
    indices = np.array([[[0], [2]], [[1], [-1]]])
    y = tri.GatherNd(batch_dims=1).reference(X, indices)
    equal(y, [[X[0, 0], X[0, 2]], [X[1, 1], X[1, 2]]])


REDUCTIONS = {"add": "sum", "mul": "prod", "max": "amax", "min": "amin"}


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatter_elements_is_torchs(reduction: str) -> None:
    random = np.random.default_rng(0)
    indices, updates = random.integers(0, 3, (2, 5, 4)), random.integers(-9, 9, (2, 5, 4))
    expected = torch.from_numpy(X).scatter_reduce(
        1, torch.from_numpy(indices), torch.from_numpy(updates), REDUCTIONS[reduction]
    )
    y = tri.ScatterElements(axis=1, reduction=reduction).reference(X, indices, updates)
    equal(y, expected.numpy())


def test_scatter_lets_the_last_update_win_and_keeps_its_operand() -> None:
    x = np.zeros(3)
    y = tri.ScatterNd(reduction="none").reference(x, np.array([[-1], [2]]), np.array([1.0, 5.0]))
    equal(y, [0, 0, 5])
    equal(x, [0, 0, 0])


def test_one_hot_counts_from_the_end_and_ignores_what_is_outside() -> None:
    indices, values = np.array([0, -1, 3, -4]), np.array([7, 9])
    y = tri.OneHot(depth=3, axis=0).reference(indices, values)
    equal(y.T, [[9, 7, 7], [7, 7, 9], [7, 7, 7], [7, 7, 7]])


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_of_the_axis_is_an_error(index: int) -> None:
    with pytest.raises(Invalid, match=rf"^index {index} is outside \[-3, 3\) of axis 1$"):
        tri.Gather(axis=1).reference(X, np.array([0, index]))


@pytest.mark.parametrize(("start", "count"), [(-1, 2), (3, 2), (4, 1)])
def test_rows_go_into_the_axis_only(start: int, count: int) -> None:
    x, new = np.zeros((1, 4, 1)), np.ones((1, 2, 1))
    with pytest.raises(Invalid, match=rf"rows {start} to {start + count} are outside \[0, 4\)"):
        tri.TensorScatter().reference(x, new, np.array([start]), np.array([count]))
