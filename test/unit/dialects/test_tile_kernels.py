"""Whole kernels, run program by program, against numpy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tile_kernels import (
    Value,
    add,
    binary,
    column,
    first,
    full,
    indices,
    load,
    loop,
    memory,
    mul,
    row,
    run,
    store,
)
from trivium.dialects import tile
from trivium.dialects.core.tensor import Array

RANDOM = np.random.default_rng(0)


def integers(*shape: int, low: int = -4) -> Array:
    """Make floats whose sums and products are exact."""
    return RANDOM.integers(low, 5, shape).astype(np.float32)


def ragged_matmul(m: int, n: int, k: int):
    """Make the body of a matmul whose blocks fit nothing."""

    def body(a: Value, b: Value, y: Value) -> None:
        rows, columns = column(indices(0, "BM")), row(indices(1, "BN"))

        def turn(at: Value, acc: Value) -> list[Value]:
            depth = add(tile.Arange.build(block="BK").y, at)
            left = load(a, rows, row(depth), high=(0, 1))
            right = load(b, column(depth), columns, high=(0, 1))
            return [tile.Dot.build(left, right, acc).y]

        step = tile.BlockSize.build(block="BK").y
        (total,) = loop(0, k, step, [full(0, "f32", "BM", "BN")], turn)
        store(total, y, rows, columns, high=(0, 1))

    return body, [memory(m, k), memory(k, n), memory(m, n)], [f"{m}/BM", f"{n}/BN"]


@pytest.mark.parametrize("blocks", [("BM=4", "BN=2", "BK=8"), ("BM=1", "BN=16", "BK=4")])
@pytest.mark.parametrize("group", [0, 3])
def test_matmul_with_ragged_edges(blocks: tuple[str, ...], group: int) -> None:
    a, b, y = integers(7, 11), integers(11, 5), np.full((7, 5), np.nan, np.float32)
    body, memories, grid = ragged_matmul(7, 5, 11)
    arrays = [a.ravel(), b.ravel(), y.reshape(-1)]
    run(body, memories, arrays, grid, blocks=blocks, group=group)
    assert np.array_equal(y, a.astype(int) @ b.astype(int))


def test_softmax_of_rows() -> None:
    x, y = RANDOM.normal(0, 3, (5, 13)).astype(np.float32), np.zeros((5, 13), np.float32)

    def body(source: Value, target: Value) -> None:
        at = tile.ProgramId.build(axis=0).y
        columns = tile.Arange.build(block="BN").y
        numbers = load(source, at, columns, high=(1,), pad=-np.inf)
        largest = tile.Reduce.build(numbers, kind="max", axis=0).y
        powers = tile.Unary.build(binary("sub", numbers, largest), function="exp").y
        total = tile.Reduce.build(powers, kind="sum", axis=0).y
        store(binary("div", powers, total), target, at, columns, high=(1,))

    run(body, [memory(5, 13), memory(5, 13)], [x.ravel(), y.reshape(-1)], ["5"], blocks=("BN=16",))
    wide = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    assert np.abs(y - wide / wide.sum(1, keepdims=True)).max() < 1e-6


def test_gather_of_rows() -> None:
    table, places = integers(6, 5), np.array([5, 0, 0, 3], np.int32)
    y = np.zeros((4, 5), np.float32)

    def body(source: Value, which: Value, target: Value) -> None:
        rows, columns = indices(0, "BM"), row(indices(1, "BN"))
        chosen = load(which, rows, high=(0,))
        store(
            load(source, column(chosen), columns, high=(1,)),
            target,
            column(rows),
            columns,
            high=(0, 1),
        )

    memories = [memory(6, 5), memory(4, dtype="i32"), memory(4, 5)]
    arrays = [table.ravel(), places, y.reshape(-1)]
    run(body, memories, arrays, ["4/BM", "5/BN"], blocks=("BM=8", "BN=2"))
    assert np.array_equal(y, table[places])


def test_loop_carries_several_values() -> None:
    y = np.zeros(2, np.int32)

    def body(target: Value) -> None:
        def turn(i: Value, a: Value, b: Value) -> list[Value]:
            return [b, add(add(a, b), i)]

        for place, value in enumerate(loop(1, 9, 3, [full(0), full(1)], turn)):
            store(value, target, full(place))

    run(body, [memory(2, dtype="i32")], [y])
    a, b = 0, 1
    for i in range(1, 9, 3):
        a, b = b, a + b + i
    assert y.tolist() == [a, b]


def test_loop_without_turns_returns_what_it_carries() -> None:
    y = np.zeros(1, np.int32)
    body = lambda target: store(*loop(5, 5, 1, [full(7)], lambda i, a: [i]), target, full(0))  # noqa: E731
    run(body, [memory(1, dtype="i32")], [y])
    assert y.tolist() == [7]


def test_loops_nest() -> None:
    y = np.zeros(1, np.int32)

    def body(target: Value) -> None:
        def outer(i: Value, total: Value) -> list[Value]:
            return list(loop(0, i, 1, [total], lambda j, a: [add(a, mul(i, j))]))

        store(*loop(0, 5, 1, [full(0)], outer), target, full(0))

    run(body, [memory(1, dtype="i32")], [y])
    assert y.tolist() == [sum(i * j for i in range(5) for j in range(i))]


def test_causal_bound_comes_from_the_program() -> None:
    """Each block of rows adds up only the columns up to its diagonal."""
    x, y = integers(10, 10), np.zeros(10, np.float32)

    def body(source: Value, target: Value) -> None:
        rows = indices(0, "BM")
        end = add(first(0, "BM"), tile.BlockSize.build(block="BM").y)

        def turn(at: Value, total: Value) -> list[Value]:
            columns = add(tile.Arange.build(block="BN").y, at)
            numbers = load(source, column(rows), row(columns), high=(0, 1))
            below = binary("le", row(columns), column(rows))
            seen = tile.Where.build(below, numbers, full(0, "f32")).y
            return [binary("add", total, tile.Reduce.build(seen, kind="sum", axis=1).y)]

        step = tile.BlockSize.build(block="BN").y
        (total,) = loop(0, end, step, [full(0, "f32", "BM")], turn)
        store(total, target, rows, high=(0,))

    arrays = [x.ravel(), y]
    run(body, [memory(10, 10), memory(10)], arrays, ["10/BM"], blocks=("BM=4", "BN=2"))
    assert np.array_equal(y, np.tril(x).sum(1))


def test_programs_accumulate() -> None:
    x, y = integers(100), np.array([3], np.float32)

    def body(source: Value, target: Value) -> None:
        part = load(source, indices(0, "BM"), high=(0,))
        total = tile.Reduce.build(part, kind="sum", axis=0).y
        store(total, target, full(0), accumulate=True)

    run(body, [memory(100), memory(1)], [x, y], ["100/BM"], blocks=("BM=8",))
    assert y[0] == 3 + x.sum()


def test_one_tile_accumulates_to_one_place() -> None:
    places, y = np.array([1, 1, 0, 1], np.int32), np.zeros(3, np.float32)

    def body(which: Value, target: Value) -> None:
        at = load(which, tile.Arange.build(block="4").y)
        store(full(2, "f32"), target, at, accumulate=True)

    run(body, [memory(4, dtype="i32"), memory(3)], [places, y])
    assert y.tolist() == [2, 6, 0]


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
    from trivium.dialects.core.tensor import numpy_dtype

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


def test_sizes_of_the_grid_are_rounded_up() -> None:
    y = np.zeros((3, 5), np.int32)

    def body(target: Value) -> None:
        i, j = (tile.ProgramId.build(axis=axis).y for axis in range(2))
        store(add(mul(i, 10), j), target, i, j)

    run(body, [memory(3, 5, dtype="i32")], [y.reshape(-1)], ["33/BM", "5"], blocks=("BM=16",))
    assert y.tolist() == [[10 * i + j for j in range(5)] for i in range(3)]


def test_no_program_runs_on_an_empty_grid() -> None:
    y = np.zeros(1, np.float32)
    run(lambda target: store(full(1, "f32"), target, full(0)), [memory(1)], [y], ["0", "4"])
    assert y[0] == 0
