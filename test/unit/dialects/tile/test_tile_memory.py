"""Where kernels load from and store to: strides, views, borders."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tile_kernels import Value, binary, column, full, integers, load, memory, row, run, store
from trivium.dialects import tile
from trivium.dialects.core.tensor import numpy_dtype


def test_channels_last_memory() -> None:
    """Logical dimensions are the same for every order in memory."""
    x = integers(2, 3, 4, 5)
    y = np.zeros(x.size, np.float32)
    strides = (60, 1, 15, 3)

    def body(source: Value, target: Value) -> None:
        n, c, h = (tile.ProgramId.build(axis=axis).y for axis in range(3))
        columns = tile.Arange.build(block="BW").y
        numbers = load(source, n, c, h, columns, high=(3,))
        store(add_one(numbers), target, n, c, h, columns, high=(3,))

    def add_one(a: Value) -> Value:
        return binary("add", a, full(1, "f32"))

    memories = [memory(2, 3, 4, 5), memory(2, 3, 4, 5, strides=strides)]
    run(body, memories, [x.ravel(), y], ["2", "3", "4"], blocks=("BW=8",))
    assert np.array_equal(y.reshape(2, 4, 5, 3), (x + 1).transpose(0, 2, 3, 1))


def test_views_of_memory() -> None:
    """A view as a vector, one as the transposed matrix, one that repeats the first row."""
    x, y = integers(3, 4), np.zeros((3, 12), np.float32)

    def body(source: Value, target: Value) -> None:
        flat = tile.View.build(source, shape=(12,)).y
        turned = tile.View.build(source, shape=(4, 3), strides=(1, 4)).y
        repeated = tile.View.build(source, shape=(3, 4), strides=(0, 1)).y
        every = tile.Arange.build(block="16").y
        divided = [(binary("quotient", every, n), binary("remainder", every, n)) for n in (3, 4)]
        store(load(flat, every, high=(0,)), target, full(0), every, high=(1,))
        for place, (seen, at) in enumerate(zip((turned, repeated), divided, strict=True), 1):
            store(load(seen, *at, high=(0, 1)), target, full(place), every, high=(1,))

    run(body, [memory(3, 4), memory(3, 12)], [x.ravel(), y.reshape(-1)])
    assert np.array_equal(y[0], x.ravel())
    assert np.array_equal(y[1], x.T.ravel())
    assert np.array_equal(y[2], np.tile(x[0], 3))


def test_stores_through_views() -> None:
    y = np.zeros(6, np.float32)

    def body(target: Value) -> None:
        matrix = tile.View.build(target, shape=(2, 3), strides=(1, 2)).y
        store(full(5, "f32"), matrix, full(1), full(2))

    run(body, [memory(6)], [y])
    assert y.tolist() == [0, 0, 0, 0, 0, 5]


@given(st.integers(-9, 9), st.integers(-9, 9))
def test_blocks_at_the_borders(top: int, left: int) -> None:
    """What a block takes is there, or 0; where it is put nothing else changes."""
    x, y = integers(3, 5, low=1), np.full((5, 4), -1, np.float32)
    block = np.zeros((4, 2), np.float32)
    expected = y.copy()
    for i in range(4):
        for j in range(2):
            if 0 <= top + i < 3 and 0 <= left + j < 5:
                block[i, j] = x[top + i, left + j]
            if 0 <= left + i < 5 and 0 <= top + j < 4:
                expected[left + i, top + j] = block[i, j]

    def body(source: Value, target: Value) -> None:
        taken = tile.LoadBlock.build(source, [full(top), full(left)], block=("BM", "2")).y
        tile.StoreBlock.build(taken, target, [full(left), full(top)])

    run(body, [memory(3, 5), memory(5, 4)], [x.ravel(), y.reshape(-1)], blocks=("BM=4",))
    assert np.array_equal(y, expected)


@given(
    st.lists(st.integers(-7, 9), min_size=8, max_size=8),
    st.lists(st.integers(-7, 9), min_size=2, max_size=2),
    st.sampled_from([-2.0, 0.0, 7.0]),
)
def test_bounds_of_loads_and_stores(rows: list[int], columns: list[int], pad: float) -> None:
    x, y = integers(3, 5), np.full((5, 3), 9, np.float32)
    loaded = np.full((8, 2), pad, np.float32)
    expected, clashes = y.copy(), False
    seen: set[tuple[int, int]] = set()
    for i, r in enumerate(rows):
        for j, c in enumerate(columns):
            if 0 <= r < 3 and 0 <= c < 5:
                loaded[i, j] = x[r, c]
            if 0 <= r < 5 and 0 <= c < 3:
                clashes |= (r, c) in seen and expected[r, c] != loaded[i, j]
                seen.add((r, c))
                expected[r, c] = loaded[i, j]

    def body(source: Value, at: Value, across: Value, target: Value) -> None:
        r = column(load(at, tile.Arange.build(block="8").y))
        c = row(load(across, tile.Arange.build(block="2").y))
        every = {"low": (0, 1), "high": (1, 0)}
        store(load(source, r, c, pad=pad, **every), target, r, c, **every)

    memories = [memory(3, 5), memory(8, dtype="i32"), memory(2, dtype="i32"), memory(5, 3)]
    places = [np.array(rows, np.int32), np.array(columns, np.int32)]
    run(body, memories, [x.ravel(), *places, y.reshape(-1)])
    assert np.array_equal(y, expected) or clashes


@pytest.mark.parametrize("bounds", [{}, {"low": (0,)}, {"high": (0,)}])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8", "ui8", "i1"])
def test_scalars_and_nothing_in_memory(bounds: dict[str, tuple[int, ...]], dtype: str) -> None:
    """Memory without dimensions takes no index; memory without elements gives the padding."""
    x, y = np.ones(1, numpy_dtype(dtype)), np.zeros(2, numpy_dtype(dtype))

    def body(one: Value, none: Value, a: Value, b: Value) -> None:
        store(load(one), a)
        if len(bounds) == 0:
            return
        at = full(3 if "high" in bounds else -3)
        store(load(none, at, pad=1.0, **bounds), b)
        store(load(one), none, at, **bounds)

    types = [memory(dtype=dtype), memory(0, dtype=dtype), memory(dtype=dtype), memory(dtype=dtype)]
    run(body, types, [x, y[:0], y[:1], y[1:]])
    assert y.astype(int).tolist() == [1, 1 if bounds else 0]
