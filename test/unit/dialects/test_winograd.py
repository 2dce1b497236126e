"""Packed and transformed kernels give what the plain ones do."""

from itertools import pairwise

import numpy as np
import pytest
from trivium.dialects import cpu, tri
from trivium.dialects.cpu.packing import block_starts, pack_rows, unpack_rows
from trivium.dialects.cpu.winograd import TRANSFORMS

RANDOM = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("pads", [(0, 0, 0, 0), (1, 1, 1, 1), (2, 0, 1, 2)])
@pytest.mark.parametrize("sizes", [(3, 4), (9, 17), (14, 14)])
@pytest.mark.parametrize(("tile", "error"), [(2, 1e-6), (4, 2e-5)])
def test_winograd_convolves(
    tile: int, error: float, sizes: tuple[int, int], pads: tuple[int, ...]
) -> None:
    x, w, b = normal(2, 5, *sizes), normal(7, 5, 3, 3), normal(7)
    plain = tri.Conv.reference(
        *(a.astype(np.float64) for a in (x, w, b)),
        strides=(1, 1),
        pads=pads,
        dilations=(1, 1),
        group=1,
    )
    u = cpu.transform_kernels(w, tile, 3)
    y = cpu.WinogradConv.reference(x, u, b, tile=tile, outputs=7, block=3, pads=pads)
    assert y.shape == plain.shape
    assert np.abs(y - plain).max() <= error * np.abs(plain).max()


@pytest.mark.parametrize("tile", TRANSFORMS)
def test_transforms_filter_exactly(tile: int) -> None:
    """One output row of F(tile, 3) is a correlation, in exact numbers."""
    transforms = TRANSFORMS[tile]
    signal = RANDOM.integers(-4, 5, transforms.points).astype(np.float64)
    taps = 24.0 * RANDOM.integers(-2, 3, 3)
    kernel, before, after = (
        np.array(m) for m in (transforms.kernel, transforms.input, transforms.output)
    )
    filtered = after @ ((kernel @ taps) * (before @ signal))
    np.testing.assert_allclose(filtered, np.correlate(signal, taps, "valid"), atol=1e-9)


@pytest.mark.parametrize("block", [1, 3, 4, 7, 20])
@pytest.mark.parametrize("rows", [1, 3, 7, 13])
def test_packing_can_be_undone(rows: int, block: int) -> None:
    matrices = normal(2, rows, 5)
    packed = pack_rows(matrices, block)
    np.testing.assert_array_equal(unpack_rows(packed, rows, block), matrices)
    starts = block_starts(rows, block)
    assert starts[0] == 0
    assert starts[-1] == rows
    assert all(0 < b - a <= block for a, b in pairwise(starts))
    first = matrices[0, : starts[1], 0]
    np.testing.assert_array_equal(packed[0, : len(first)], first)


def test_packed_convolution_is_exact() -> None:
    x, w = normal(1, 4, 6, 6), normal(6, 2, 3, 2)
    window = {"strides": (2, 1), "pads": (1, 0, 0, 1), "dilations": (1, 2)}
    plain = tri.Conv.reference(x, w, None, group=2, **window)
    packed = cpu.pack_kernels(w, 2, 2)
    y = cpu.PackedConv.reference(x, packed, outputs=6, block=2, kernel=(3, 2), **window)
    np.testing.assert_array_equal(y, plain)
