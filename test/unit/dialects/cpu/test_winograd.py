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
@pytest.mark.parametrize(("tile", "error"), [(2, 1e-6), (4, 6e-6)])
def test_winograd_convolves(
    tile: int, error: float, sizes: tuple[int, int], pads: tuple[int, ...]
) -> None:
    x, w, b = normal(2, 5, *sizes), normal(7, 5, 3, 3), normal(7)
    plain = tri.Conv(strides=(1, 1), pads=pads, dilations=(1, 1), group=1).reference(
        *(a.astype(np.float64) for a in (x, w, b))
    )
    u = cpu.transform_kernels(w, tile, 3)
    y = cpu.WinogradConv(tile=tile, outputs=7, block=3, pads=pads).reference(x, u, b)
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
    plain = tri.Conv(group=2, **window).reference(x, w, None)
    packed = cpu.pack_kernels(w, 2, 2)
    y = cpu.PackedConv(outputs=6, block=2, kernel=(3, 2), **window).reference(x, packed)
    np.testing.assert_array_equal(y, plain)


@pytest.mark.parametrize(("group", "block"), [(1, 16), (1, 48), (2, 8), (3, 4)])
def test_blocked_convolution_is_a_convolution(group: int, block: int) -> None:
    """Panels of a group that are not full, groups of several blocks, a tile that hangs over."""
    x, w = normal(2, 12 * group, 6, 7), normal(24 * group, 12, 3, 2)
    window = {"strides": (2, 1), "dilations": (1, 2)}
    packed = cpu.pack_group_columns(w, group, block)
    unpacked = cpu.unpack_group_columns(packed, len(w), group, (3, 2))
    np.testing.assert_array_equal(unpacked, w)
    plain = tri.Conv(group=group, pads=(0,) * 4, **window).reference(x, w, None)
    image = cpu.Block(lanes=4).reference(x)
    more = {"outputs": len(w), "lanes": 8, "group": group, "kernel": (3, 2)}
    y = cpu.BlockedConv(**more, **window).reference(image, packed)
    np.testing.assert_array_equal(cpu.Unblock().reference(y), plain)


@pytest.mark.parametrize("channels", [1, 2, 4])
def test_lanes_see_their_own_group(channels: int) -> None:
    x, w, b = normal(2, 12, 6, 7), normal(12, channels, 3, 2), normal(12)
    window = {"strides": (2, 1), "dilations": (1, 2)}
    group = 12 // channels
    plain = tri.Conv(group=group, pads=(0,) * 4, **window).reference(x, w, b)
    image = cpu.Block(lanes=4).reference(x)
    y = cpu.LaneConv(kernel=(3, 2), **window).reference(image, cpu.pack_lanes(w, 4), b)
    np.testing.assert_array_equal(cpu.Unblock().reference(y), plain)


@pytest.mark.parametrize(("tile", "error"), [(2, 1e-6), (4, 6e-6)])
@pytest.mark.parametrize(
    ("sizes", "taps"), [((4, 8), ()), ((5, 7), ()), ((3, 5, 4), (3,)), ((2, 6, 7), (2,))]
)
def test_blocked_winograd_convolves(
    tile: int, error: float, sizes: tuple[int, ...], taps: tuple[int, ...]
) -> None:
    *planes, height, width = sizes
    reach = [cpu.whole_tiles(size, tile) + 2 for size in (height, width)]
    reach = [*(count + more - 1 for count, more in zip(planes, taps, strict=True)), *reach]
    x, w, b = normal(2, 8, *reach), normal(12, 8, *taps, 3, 3), normal(12)
    wide = [a.astype(np.float64) for a in (x, w, b)]
    ones = (1,) * len(sizes)
    window = {"strides": ones, "dilations": ones, "pads": (0,) * 2 * len(sizes), "group": 1}
    plain = tri.Conv(**window).reference(*wide)[..., :height, :width]
    u = cpu.transform_kernel_columns(w, tile, 8)
    image = cpu.Block(lanes=4).reference(x)
    y = cpu.BlockedWinogradConv(tile=tile, outputs=12, sizes=sizes).reference(image, u, b)
    assert np.abs(cpu.Unblock().reference(y) - plain).max() <= error * np.abs(plain).max()
