"""Plan memory inside of branches and loops whose sizes depend on symbols: shelves side by side.

A shelf is as large as the largest value on it, at all sizes of symbols; values on one shelf do not
live at the same time. Offsets are sums of sizes, so a body needs no regions of its own.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from ...dialects.core.sizes.atoms import Size
from ...dialects.core.sizes.dim import ceildiv
from ...dialects.core.sizes.limits import at_least
from .arena import ALIGNMENT, Interval, Plan


@dataclass
class _Shelf:
    size_bytes: Size
    on_it: list[Interval]

    def size_with(self, interval: Interval, size: Size) -> Size | None:
        """Return the size with one more interval; None where it does not fit or is not known."""
        if any(interval.overlaps(other) for other in self.on_it):
            return None
        if at_least(self.size_bytes, size):
            return self.size_bytes
        return size if at_least(size, self.size_bytes) else None


def plan_shelves(intervals: Sequence[Interval], alignment: int = ALIGNMENT) -> Plan:
    """Place all intervals, so that no two that live at once share a byte at any sizes."""
    shelves: list[_Shelf] = []
    for interval in intervals:
        size = ceildiv(interval.size_bytes, alignment) * alignment
        for shelf in shelves:
            if (grown := shelf.size_with(interval, size)) is not None:
                shelf.size_bytes = grown
                shelf.on_it.append(interval)
                break
        else:
            shelves.append(_Shelf(size, [interval]))
    offsets: dict[Hashable, Size] = {}
    end: Size = 0
    for shelf in shelves:
        offsets |= {interval.key: end for interval in shelf.on_it}
        end = end + shelf.size_bytes
    return Plan(offsets, end, 0)
