"""Which schedules are possible, and which are expected to be the fastest."""

from dataclasses import replace

import pytest
from trivium.dialects.core.machine import Machine, find_machine
from trivium.targets.cpu.schedule.candidates import candidates, is_possible
from trivium.targets.cpu.schedule.costs import cheapest, cost
from trivium.targets.cpu.schedule.products import Product
from trivium.targets.cpu.schedule.schedule import Schedule
from trivium.targets.cpu.schedule.tiles import evict_each_other

WIDE, NARROW = find_machine("x86-64-v4"), find_machine("x86-64-v3")

MATRIX = Product(512, 128, 384, "f32")
POINTWISE = Product(256, 196, 256, "f32", taps=(1, 1), image=(14, 14), plain=True)
SQUARE = Product(64, 3136, 576, "f32", taps=(3, 3), image=(56, 56), moved=True, plain=True)
SMALL = replace(SQUARE, points=49, image=(7, 7))


def texts(product: Product, machine: Machine = WIDE, error: float = 2e-6) -> list[str]:
    return list(map(str, candidates(product, machine, error)))


@pytest.mark.parametrize("machine", [WIDE, NARROW])
@pytest.mark.parametrize("product", [MATRIX, POINTWISE, SQUARE, SMALL])
def test_candidates_are_few_possible_and_different(product: Product, machine: Machine) -> None:
    found = candidates(product, machine, 1.0)
    assert 2 <= len(found) <= 16
    assert len(set(found)) == len(found)
    assert all(is_possible(schedule, product, machine, 1.0) for schedule in found)
    assert cheapest(product, machine, 1.0) in found


def test_tiles_fill_the_registers() -> None:
    assert {"packed 14x2", "packed 6x4", "packed 29x1"} < set(texts(MATRIX))
    assert {"packed 6x2", "packed 13x1"} < set(texts(MATRIX, NARROW))
    assert not is_possible(Schedule("packed", 14, 2), MATRIX, NARROW, 0)
    # Never more rows than there are, nor vectors.
    thin = replace(MATRIX, outputs=20, points=3)
    assert all(s.rows <= 3 and s.vectors <= 2 for s in candidates(thin, WIDE, 0))
    assert "packed 1x8" in texts(replace(MATRIX, points=1))


def test_panels_read_windows_of_any_width() -> None:
    assert "panel 14x2" in texts(SQUARE)
    assert "panel 6x4" in texts(SMALL)  # parts of lines of seven pixels
    assert cost(Schedule("panel", 7, 2), SMALL, WIDE) < cost(Schedule("panel", 6, 2), SMALL, WIDE)


@pytest.mark.parametrize("change", [{"taps": (3,)}, {"taps": (3, 3, 3)}, {"group": 2}])
def test_panels_suit_any_number_of_axes_and_no_groups(change: dict[str, object]) -> None:
    suits = any(text.startswith("panel") for text in texts(replace(SMALL, **change)))
    assert suits == ("taps" in change)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_panels_of_halves_are_converted_for_more_rows(dtype: str) -> None:
    half = Product(64, 500, 384, dtype, taps=(3,), image=(500,), moved=True, plain=True, seen=502)
    whole = replace(half, dtype="f32")
    assert str(cheapest(half, WIDE, 0)) == "panel 14x2"
    assert str(cheapest(replace(half, blocked=True), WIDE, 0)) == "panel 14x2"
    assert str(cheapest(replace(whole, blocked=True), WIDE, 0)) == "panel 6x4"


def test_panels_of_halves_end_with_lines_of_large_results() -> None:
    tall = Product(384, 3136, 96, "f16")
    assert cheapest(tall, WIDE, 0).vectors % 2 == 0
    assert cheapest(replace(tall, points=196), WIDE, 0).vectors == 3
    assert cost(Schedule("packed", 9, 3), replace(tall, dtype="f32"), WIDE) < cost(
        Schedule("packed", 14, 2), replace(tall, dtype="f32"), WIDE
    )


def test_winograd_takes_what_the_error_allows() -> None:
    assert [t for t in texts(SQUARE, error=2e-5) if "wino" in t] == ["winograd 2x2", "winograd 4x4"]
    assert [t for t in texts(SQUARE, error=2e-6) if "wino" in t] == ["winograd 2x2"]
    assert not [t for t in texts(SQUARE, error=0) if "wino" in t]
    # Tiles of four would hang over seven pixels.
    assert [t for t in texts(SMALL, error=2e-5) if "wino" in t] == ["winograd 2x2"]


@pytest.mark.parametrize(
    "change",
    [{"taps": (5, 5)}, {"taps": (3,)}, {"plain": False}, {"group": 2}, {"dtype": "f64"}],
)
def test_winograd_suits_no(change: dict[str, object]) -> None:
    assert not [t for t in texts(replace(SQUARE, **change), error=1) if "wino" in t]


def test_winograd_is_expected_to_pay_within_bounds() -> None:
    def method(product: Product, error: float = 2e-6) -> str:
        return str(cheapest(product, WIDE, error))

    assert method(SQUARE) == "winograd 2x2"
    assert method(SQUARE, 2e-5) == "winograd 4x4"
    assert method(replace(SQUARE, depth=3 * 9)).startswith("packed")  # three channels
    large = replace(SMALL, outputs=512, depth=512 * 9)  # transformed kernels have 16 MiB
    assert method(large) == "winograd 2x2"
    # Sixteen outputs are four tiles, which fill a quarter of a vector.
    assert not method(replace(SQUARE, points=16, image=(4, 4))).startswith("winograd")


def test_full_vectors_are_expected_to_pay() -> None:
    def method(product: Product) -> str:
        return cheapest(product, WIDE, 0).method

    assert method(replace(POINTWISE, points=49, image=(7, 7))) == "panel"
    assert method(replace(POINTWISE, points=12544, image=(112, 112), depth=16)) == "packed"
    # Few outputs fill no vector, and their windows need not be packed for many.
    assert method(replace(POINTWISE, outputs=3, points=64, image=(8, 8))) == "packed"


NEON, SVE, ARMV7, RVV = (
    find_machine(name) for name in ("armv8-a", "sve-256", "armv7-neon", "rv64gcv")
)


def test_tiles_of_arm_leave_registers_for_the_numbers_of_all_rows() -> None:
    for machine, expected in ((NEON, "packed 5x4"), (SVE, "packed 9x2"), (ARMV7, "packed 4x2")):
        assert expected in texts(MATRIX, machine)
        for schedule in candidates(MATRIX, machine, 0):
            sums = schedule.rows * schedule.vectors
            assert sums + schedule.vectors + schedule.rows <= machine.registers
    assert not is_possible(Schedule("packed", 6, 4), MATRIX, NEON, 0)
    assert is_possible(Schedule("packed", 6, 4), MATRIX, RVV, 0)


def test_few_sums_wait_for_one_another_on_cores_that_begin_two_at_a_time() -> None:
    one = replace(NEON, core=replace(NEON.core, multiplies=1, loads=1))
    short, long = Schedule("packed", 1, 4), Schedule("packed", 1, 8)
    row = replace(MATRIX, points=1)
    assert cost(long, row, NEON) / cost(short, row, NEON) < cost(long, row, one) / cost(
        short, row, one
    )


def test_what_is_loaded_costs_more_on_cores_that_load_slowly() -> None:
    slow = replace(NEON, core=replace(NEON.core, loads=0.5))
    best = Schedule("packed", 5, 4)
    assert cost(best, MATRIX, slow) > 1.5 * cost(best, MATRIX, NEON)
    assert cheapest(MATRIX, slow, 0) == best


def test_weights_that_outgrow_half_of_the_second_cache_are_read_again() -> None:
    large = replace(NEON, core=replace(NEON.core, caches=(64 << 10, 4 << 20)))
    weights = replace(POINTWISE, outputs=512, depth=512)
    schedule = Schedule("packed", 5, 4)
    assert cost(schedule, weights, NEON) > cost(schedule, weights, large)


@pytest.mark.parametrize("apart", [64, 100, 1024, 1536, 2048, 3072, 4096, 6144, 10240, 12288])
@pytest.mark.parametrize("rows", [1, 6, 7, 8, 13, 14, 29])
def test_rows_that_are_read_together_evict_each_other(rows: int, apart: int) -> None:
    # Counts the lines in the sets of a cache of 32 KiB and 8 ways, from any place in memory.
    lines = [(place + row * apart) // 64 for place in (0, 60) for row in range(rows)]
    starts = (lines[:rows], lines[rows:])
    fullest = max(max(map([n % 64 for n in each].count, range(64))) for each in starts)
    assert evict_each_other(rows, apart) == (fullest >= 8)
