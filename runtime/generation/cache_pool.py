"""The caches of several texts: each has a slot in the arrays that steps read and write."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import RunError
from ..frozen import Frozen
from .part import NO_ROWS


class CacheSlots(Frozen):
    """Describe a cache: its ports, its axes, and what one text has of it.

    `shape` has a batch of 1, and as many rows as the longest text.
    """

    output: str
    input: str
    batch_axis: int
    rows_axis: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def has_rows(self) -> bool:
        return self.rows_axis != NO_ROWS


class Owner(Protocol):
    """A text that has a slot, and rows in use there."""

    slot: int

    @property
    def length(self) -> int: ...


class CachePool:
    """Hold the caches of all texts of a generator: arrays with an axis of slots in front.

    Memory for rows is taken from the system when they are written first, so that a large capacity
    costs nothing. The number of slots is doubled when all are taken.
    """

    def __init__(self, caches: Sequence[CacheSlots]) -> None:
        self.caches = tuple(caches)
        self._owners: list[Owner | None] = []
        self._arrays: list[NDArray[Any]] = [self._allocate(c, 0) for c in caches]

    def take(self, owner: Owner) -> None:
        """Give a text a slot, with zeros where a cache has no rows."""
        if None not in self._owners:
            self._grow(max(1, 2 * len(self._owners)))
        owner.slot = self._owners.index(None)
        self._owners[owner.slot] = owner
        for cache, array in zip(self.caches, self._arrays, strict=True):
            if not cache.has_rows:
                array[owner.slot] = 0

    def free(self, owner: Owner) -> None:
        """Take back the slot of a text."""
        self._owners[owner.slot] = None

    def value(self, number: int, slot: int, length: int) -> NDArray[Any]:
        """Return the rows in use of a cache of a text, or all of one without rows: a view."""
        cache, array = self.caches[number], self._arrays[number][slot]
        if not cache.has_rows:
            return array
        return array[(slice(None),) * cache.rows_axis + (slice(length),)]

    def copy(self, source: int, target: int, length: int) -> None:
        """Copy the rows in use of one slot to another."""
        for number in range(len(self.caches)):
            self.value(number, target, length)[...] = self.value(number, source, length)

    def neighbours(self, owners: Sequence[Owner]) -> list[Owner]:
        """Move texts to slots that follow one another; return the texts in the order of these."""
        slots = sorted(each.slot for each in owners)
        if slots != list(range(slots[0], slots[0] + len(slots))):
            inside = {id(each) for each in owners}
            far = [each for each in owners if each.slot >= len(owners)]
            for slot, there in enumerate(self._owners[: len(owners)]):
                if id(there) not in inside:
                    self._move(far.pop(), slot)
        return sorted(owners, key=lambda each: each.slot)

    def arrays(self, number: int, first: int, count: int) -> NDArray[Any]:
        """Return a cache of some slots as a step takes it; a view unless the batch is not first."""
        cache, array = self.caches[number], self._arrays[number][first : first + count]
        if cache.batch_axis == 0:
            return array.reshape((count, *cache.shape[1:]))
        return np.concatenate(list(array), axis=cache.batch_axis)

    def _move(self, owner: Owner, slot: int) -> None:
        """Move a text to another slot, and what is there to its slot."""
        there, here = self._owners[slot], owner.slot
        if there is None:
            self.copy(here, slot, owner.length)
        else:
            self._swap(owner, there)
            there.slot = here
        self._owners[here], self._owners[slot] = there, owner
        owner.slot = slot

    def _swap(self, one: Owner, other: Owner) -> None:
        for number in range(len(self.caches)):
            kept = self.value(number, one.slot, one.length).copy()
            self.value(number, one.slot, other.length)[...] = self.value(
                number, other.slot, other.length
            )
            self.value(number, other.slot, one.length)[...] = kept

    def _grow(self, count: int) -> None:
        before = self._arrays
        self._arrays = [self._allocate(cache, count) for cache in self.caches]
        for slot, owner in enumerate(self._owners):
            length = 0 if owner is None else owner.length
            for number, array in enumerate(before):
                kept, cache = array[slot], self.caches[number]
                if cache.has_rows:
                    kept = kept[(slice(None),) * cache.rows_axis + (slice(length),)]
                self.value(number, slot, length)[...] = kept
        self._owners += [None] * (count - len(self._owners))

    @staticmethod
    def _allocate(cache: CacheSlots, count: int) -> NDArray[Any]:
        try:
            return np.zeros((count, *cache.shape), cache.dtype)
        except (MemoryError, ValueError):
            size = int(np.prod(cache.shape, dtype=object)) * count * cache.dtype.itemsize
            raise RunError(
                f"cache '{cache.input}' takes {size} bytes for {count} texts, the system has less"
            ) from None
