"""P36 to P40: which blocks strategies choose, by traces without any memory."""

from typing import Any

import pytest
from trivium.runtime.allocation.strategies import (
    BestFit,
    Compact,
    MostRecentlyUsed,
    Plain,
)
from trivium.runtime.allocation.strategy import Strategy, rounded

LINE = 64


class Recorder:
    """Hand out addresses far apart, and note what is asked for."""

    maps_lazily = True

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []
        self._next = 0

    def allocate(self, size: int, alignment: int) -> int:
        assert alignment == LINE
        self._next += 1 << 20
        self.events.append(("allocate", size, self._next >> 20))
        return self._next

    def reserve(self, size: int) -> int:
        self._next += 1 << 20
        self.events.append(("reserve", size, self._next >> 20))
        return self._next

    def free(self, address: int) -> None:
        self.events.append(("free", address >> 20))

    def discard(self, address: int, size: int) -> None:
        self.events.append(("discard", address % (1 << 20), size))


def _begun(kind: type[Strategy], lines: int = 64) -> tuple[Strategy, Recorder]:
    memory = Recorder()
    strategy = kind(memory)
    strategy.begin(lines * LINE)
    return strategy, memory


def _take(strategy: Strategy, *lines: int) -> list[int]:
    return [strategy.allocate(count * LINE) for count in lines]


@pytest.mark.parametrize(
    ("size", "block"), [(0, 64), (1, 64), (64, 64), (65, 128), (1000, 1024)], ids=str
)
def test_blocks_are_whole_cache_lines(size: int, block: int) -> None:
    assert rounded(size) == block


def test_p36_plain_asks_the_system_for_each_value() -> None:
    strategy, memory = _begun(Plain)
    a, b = _take(strategy, 2, 1)
    strategy.free(a)
    (c,) = _take(strategy, 2)
    strategy.free(b)
    strategy.free(c)
    assert memory.events == [
        ("allocate", 2 * LINE, 1),
        ("allocate", LINE, 2),
        ("free", 1),
        ("allocate", 2 * LINE, 3),
        ("free", 2),
        ("free", 3),
    ]
    use = strategy.use
    assert (use.allocations, use.system_allocations) == (3, 3)
    assert (use.peak_bytes, use.most_reserved_bytes, use.reserved_bytes) == (192, 192, 0)


def test_p37_mru_uses_the_block_that_was_freed_last() -> None:
    strategy, memory = _begun(MostRecentlyUsed)
    small, middle, large = _take(strategy, 1, 4, 8)
    for address in (small, large, middle):
        strategy.free(address)
    assert _take(strategy, 1) == [middle]  # though `small` fits exactly
    assert _take(strategy, 5) == [large]
    assert _take(strategy, 1) == [small]
    assert len(memory.events) == 3


def test_p37_mru_replaces_the_last_block_where_all_are_short() -> None:
    strategy, memory = _begun(MostRecentlyUsed)
    one, two = _take(strategy, 3, 2)
    strategy.free(one)
    strategy.free(two)
    _take(strategy, 9)
    assert memory.events[2:] == [("free", 2), ("allocate", 9 * LINE, 3)]
    assert _take(strategy, 1) == [one]


def test_p38_bestfit_uses_the_closest_size() -> None:
    strategy, memory = _begun(BestFit)
    small, middle, large = _take(strategy, 2, 4, 8)
    for address in (small, large, middle):
        strategy.free(address)
    assert _take(strategy, 3) == [middle]
    assert _take(strategy, 2) == [small]
    assert _take(strategy, 1) == [large]
    assert len(memory.events) == 3


def test_p38_bestfit_takes_the_last_of_equal_blocks() -> None:
    strategy, _ = _begun(BestFit)
    first, second, third = _take(strategy, 2, 2, 2)
    for address in (second, third, first):
        strategy.free(address)
    assert _take(strategy, 1, 1, 1) == [first, third, second]


def test_p38_bestfit_extends_the_largest_where_all_are_short() -> None:
    strategy, memory = _begun(BestFit)
    one, two = _take(strategy, 3, 2)
    strategy.free(one)
    strategy.free(two)
    _take(strategy, 4)
    assert memory.events[2:] == [("free", 1), ("allocate", 4 * LINE, 3)]
    assert _take(strategy, 1) == [two]
    use = strategy.use
    assert (use.reserved_bytes, use.most_reserved_bytes) == (6 * LINE, 6 * LINE)
    assert use.peak_bytes == 5 * LINE


def _lines(start: int, addresses: list[int]) -> list[int]:
    return [(address - start) // LINE for address in addresses]


def test_p39_compact_places_values_side_by_side() -> None:
    strategy, memory = _begun(Compact, 10)
    a, b, c = _take(strategy, 2, 3, 1)
    assert memory.events == [("reserve", 1024, 1)]
    assert _lines(a, [a, b, c]) == [0, 2, 5]


def test_p39_compact_merges_neighbours() -> None:
    strategy, _ = _begun(Compact)
    a, b, c, d, _e = _take(strategy, 2, 3, 1, 2, 1)
    strategy.free(b)
    strategy.free(d)
    strategy.free(c)  # joins both
    assert _lines(a, _take(strategy, 6, 1)) == [2, 9]
    assert strategy.use.most_reserved_bytes == 10 * LINE


def test_p39_compact_takes_the_smallest_gap_and_splits_it() -> None:
    strategy, _ = _begun(Compact)
    a, b, _, d, _ = _take(strategy, 1, 4, 1, 2, 1)
    strategy.free(b)
    strategy.free(d)
    assert _lines(a, _take(strategy, 1, 1, 3, 1)) == [6, 7, 1, 4]


def test_p39_compact_forgets_gaps_at_the_end() -> None:
    strategy, _ = _begun(Compact)
    a, b, c = _take(strategy, 1, 2, 3)
    strategy.free(b)
    strategy.free(c)
    assert _lines(a, _take(strategy, 6)) == [1]
    assert strategy.use.most_reserved_bytes == 7 * LINE


def test_p39_compact_reserves_more_for_a_larger_run() -> None:
    strategy, memory = _begun(Compact, 10)
    strategy.free(*_take(strategy, 10))
    strategy.end()
    strategy.begin(12 * LINE)
    assert memory.events == [("reserve", 1024, 1)]
    strategy.begin(17 * LINE)
    assert memory.events[1:] == [("free", 1), ("reserve", 2048, 2)]


@pytest.mark.parametrize("kind", [MostRecentlyUsed, BestFit])
def test_p40_pools_give_back_what_a_small_run_leaves(kind: type[Strategy]) -> None:
    strategy, memory = _begun(kind)
    for address in _take(strategy, 20, 10, 2):
        strategy.free(address)
    strategy.end()
    assert strategy.use.reserved_bytes == 32 * LINE
    strategy.begin(LINE)
    strategy.free(*_take(strategy, 16))  # half of it
    strategy.end()
    assert strategy.use.reserved_bytes == 32 * LINE
    strategy.begin(LINE)
    strategy.free(*_take(strategy, 6))
    strategy.end()
    assert memory.events[3:] == [("free", 1)]  # 12 lines are left for 6
    strategy.close()
    assert sorted(memory.events[4:]) == [("free", 2), ("free", 3)]
    assert strategy.use.reserved_bytes == 0


def test_p40_compact_unmaps_what_a_small_run_leaves() -> None:
    strategy, memory = _begun(Compact)
    strategy.free(*_take(strategy, 20))
    strategy.end()
    strategy.begin(LINE)
    strategy.free(*_take(strategy, 9))
    strategy.end()
    assert memory.events[1:] == [("discard", 9 * LINE, 11 * LINE)]
    assert strategy.use.reserved_bytes == 9 * LINE


@pytest.mark.parametrize("kind", [Plain, MostRecentlyUsed, BestFit, Compact])
def test_what_is_not_allocated_is_not_freed(kind: type[Strategy]) -> None:
    strategy, _ = _begun(kind)
    (address,) = _take(strategy, 1)
    strategy.free(address)
    with pytest.raises(KeyError):
        strategy.free(address)


@pytest.mark.parametrize("kind", [Plain, MostRecentlyUsed, BestFit, Compact])
def test_a_run_that_failed_leaves_nothing_in_use(kind: type[Strategy]) -> None:
    strategy, _ = _begun(kind)
    _take(strategy, 3, 4)
    strategy.end()
    strategy.begin(7 * LINE)
    _take(strategy, 7)
    assert strategy.use.peak_bytes == 7 * LINE
