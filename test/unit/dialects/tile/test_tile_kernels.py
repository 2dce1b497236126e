"""Whole kernels, run program by program, against numpy."""

import numpy as np
import pytest
from tile_kernels import (
    Value,
    add,
    binary,
    column,
    first,
    full,
    indices,
    integers,
    load,
    loop,
    memory,
    mul,
    row,
    run,
    store,
)
from trivium.dialects import tile


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
    x, y = (
        np.random.default_rng(0).normal(0, 3, (5, 13)).astype(np.float32),
        np.zeros((5, 13), np.float32),
    )

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
