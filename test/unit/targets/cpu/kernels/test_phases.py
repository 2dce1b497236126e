"""Which loops of a kernel are cut, and what a phase does before them."""

from collections.abc import Callable

import numpy as np
import pytest
from cpu_kernels import Compiled, LoweredKernel, build_kernel, object_of
from trivium.dialects.core.machine import host_machine
from trivium.dialects.core.tensor import Tensor
from trivium.runtime.cpu.elf import load_objects
from trivium.targets.cpu.kernels.buffer import Buffer
from trivium.targets.cpu.kernels.builder import KernelBuilder
from trivium.targets.cpu.kernels.index import IndexExpr, carry, for_each
from trivium.targets.cpu.kernels.loops import ENOUGH, Piece, Section, each, each_of, spread
from trivium.targets.cpu.kernels.value import Value

SIZE = 12
Body = Callable[[KernelBuilder, Buffer, Buffer], None]


def kernel_of(body: Body) -> LoweredKernel:
    return build_kernel(host_machine(), [Tensor((SIZE,), "f32")] * 2, body)


def results(kernel: LoweredKernel) -> np.ndarray:
    """Run a kernel on 0, 1, … as the tests of lowerings do: in one go, then in chunks."""
    library = load_objects({"kernels": memoryview(object_of([kernel], host_machine()))})
    x = np.arange(SIZE, dtype=np.float32)
    return Compiled(library, [kernel]).run(0, [x], [Tensor((SIZE,), "f32")])[0]


def iterations(kernel: LoweredKernel) -> list[int]:
    return [phase.iterations for phase in kernel.phases]


def double(x: Buffer, y: Buffer) -> Callable[[IndexExpr], None]:
    return lambda i: y.store(x.load([i]) * 2, [i])


def test_one_loop_is_one_phase() -> None:
    kernel = kernel_of(lambda k, x, y: each_of(SIZE, double(x, y)))
    assert iterations(kernel) == [SIZE]
    np.testing.assert_array_equal(results(kernel), np.arange(SIZE) * 2)


def test_a_plain_loop_is_not_cut() -> None:
    kernel = kernel_of(lambda k, x, y: for_each(SIZE, double(x, y)))
    assert iterations(kernel) == [1]


def test_a_loop_inside_of_a_plain_one_is_not_cut() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        for_each(2, lambda i: each_of(SIZE // 2, lambda j: double(x, y)(i * (SIZE // 2) + j)))

    kernel = kernel_of(body)
    assert iterations(kernel) == [1]
    np.testing.assert_array_equal(results(kernel), np.arange(SIZE) * 2)


def test_what_follows_waits_for_shared_memory() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        between = k.scratch((SIZE,), "f32")
        each_of(SIZE, double(x, between))
        each_of(SIZE, lambda i: y.store(between.load([IndexExpr(SIZE - 1) - i]), [i]))

    kernel = kernel_of(body)
    assert iterations(kernel) == [SIZE, SIZE]
    np.testing.assert_array_equal(results(kernel), np.arange(SIZE)[::-1] * 2)


def test_a_loop_that_reads_what_it_writes_is_not_cut() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        last = k.scratch((1,), "f32")
        last.store(Value(x.load([IndexExpr(0)]).ssa, "f32"), [IndexExpr(0)])

        def step(i: IndexExpr) -> None:
            total = last.load([IndexExpr(0)]) + x.load([i])
            last.store(total, [IndexExpr(0)])
            y.store(total, [i])

        each_of(SIZE, step)

    kernel = kernel_of(body)
    assert max(iterations(kernel)) == 1
    np.testing.assert_array_equal(results(kernel), np.cumsum(np.arange(SIZE)))


def test_private_memory_is_filled_by_each_chunk() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        own = k.private((2,), "f32")
        each_of(2, lambda i: own.store(x.load([IndexExpr(3)]), [i]))

        def step(i: IndexExpr) -> None:
            own.store(x.load([i]), [IndexExpr(1)])
            y.store(own.load([IndexExpr(0)]) + own.load([IndexExpr(1)]), [i])

        each_of(SIZE, step)

    kernel = kernel_of(body)
    assert iterations(kernel) == [SIZE]
    assert [s.private for s in kernel.scratch] == [True]
    np.testing.assert_array_equal(results(kernel), np.arange(SIZE) + 3)


def test_loops_that_one_filling_serves_are_one_phase_that_is_not_cut() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        own = k.private((1,), "f32")
        own.store(x.load([IndexExpr(3)]), [IndexExpr(0)])
        half = SIZE // 2
        each_of(half, lambda i: y.store(own.load([IndexExpr(0)]), [i]))
        each_of(half, lambda i: y.store(own.load([IndexExpr(0)]), [i + half]))

    kernel = kernel_of(body)
    assert iterations(kernel) == [1]
    np.testing.assert_array_equal(results(kernel), np.full(SIZE, 3))


def test_numbers_are_not_handed_from_phase_to_phase() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        zero = x.load([IndexExpr(0)])
        total = carry(SIZE, [zero], lambda i, now: [now[0] + x.load([i])])[0]
        each_of(SIZE, lambda i: y.store(total, [i]))

    kernel = kernel_of(body)
    assert iterations(kernel) == [1]
    np.testing.assert_array_equal(results(kernel), np.full(SIZE, 66))


def test_numbers_that_need_no_memory_of_the_kernel_are_there_in_all_phases() -> None:
    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        factor = x.load([IndexExpr(3)]) + 1
        between = k.scratch((SIZE,), "f32")
        each_of(SIZE, lambda i: between.store(x.load([i]) * factor, [i]))
        each_of(SIZE, lambda i: y.store(between.load([i]) * factor, [i]))

    kernel = kernel_of(body)
    assert iterations(kernel) == [SIZE, SIZE]
    np.testing.assert_array_equal(results(kernel), np.arange(SIZE) * 16)


@pytest.mark.parametrize("outer", [1, 2, 4])
def test_sections_and_their_pieces_are_cut_anywhere(outer: int) -> None:
    inner = SIZE // 2 // outer

    def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
        own = k.private((1,), "f32")

        def section(first: int) -> Section:
            def enter(at: list[IndexExpr]) -> list[Piece]:
                start = at[0] * inner + first
                own.store(x.load([start]), [IndexExpr(0)])

                def one(i: IndexExpr) -> None:
                    place = start + i
                    y.store(x.load([place]) - own.load([IndexExpr(0)]), [place])

                return [Piece(1, one), Piece(inner - 1, lambda i: one(i + 1))]

            return Section((outer,), inner, enter)

        spread(section(0), section(outer * inner))

    kernel = kernel_of(body)
    assert iterations(kernel) == [2 * outer * inner]
    done = results(kernel)[: 2 * outer * inner]
    np.testing.assert_array_equal(done, np.tile(np.arange(inner), 2 * outer))


def test_inner_iterations_are_not_cut_where_there_are_enough_outer_ones() -> None:
    def of(outer: int) -> list[int]:
        def body(k: KernelBuilder, x: Buffer, y: Buffer) -> None:
            piece = Piece(2, lambda i: y.store(x.load([i]), [i]))
            spread(Section((outer,), 2, lambda at: [piece]))

        return iterations(kernel_of(body))

    assert of(ENOUGH - 1) == [2 * (ENOUGH - 1)]
    assert of(ENOUGH) == [ENOUGH]


def test_one_iteration_is_no_loop() -> None:
    kernel = kernel_of(lambda k, x, y: each((1, 1), lambda at: double(x, y)(at[1])))
    assert "scf.for" not in kernel.text
    assert iterations(kernel) == [1]


def test_work_counts_the_trips_of_loops() -> None:
    few = kernel_of(lambda k, x, y: each_of(SIZE, double(x, y))).phases[0].work
    nested = kernel_of(
        lambda k, x, y: each_of(SIZE, lambda i: for_each(10, lambda _: double(x, y)(i)))
    )
    assert nested.phases[0].work == 10 * few
