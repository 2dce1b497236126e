"""Slices as Python has them, of axes whose size may depend on symbols."""

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.checks import need
from ....dialects.core.sizes.dim import ceildiv, highest, lowest
from ....dialects.core.sizes.symbols import MOST

END = (1 << 31) - 1
"""Exporters write this, or 2^63 - 1, for the end of an axis; and their negatives for its start."""


def sliced(start: Size | None, end: Size | None, step: int, size: Size) -> tuple[Size, Size]:
    """Return the first of the elements `start:end:step` of an axis, and how many they are.

    None is the end of the axis that is meant.
    """
    if not any(is_symbolic(each) for each in (start, end, size) if each is not None):
        taken = range(*slice(start, end, step).indices(size))
        return taken.start, len(taken)
    start = (0 if step > 0 else MOST) if start is None else start
    end = (MOST if step > 0 else -MOST) if end is None else end
    if step > 0:
        first, last = _place(start, size, 0, size), _place(end, size, 0, size)
        return first, highest(ceildiv(last - first, step), 0)
    first, last = _place(start, size, -1, size - 1), _place(end, size, -1, size - 1)
    return first, highest(ceildiv(first - last, -step), 0)


def element(index: Size, size: Size) -> Size:
    """Return the place of an element of an axis; negative indices count from the end.

    Raises Invalid for one outside of the axis.
    """
    fault = f"has index {index} for an axis of size {size}, must be in [{-size}, {size})"
    place = _from_front(index, size)
    need(place, 0, fault)
    need(size, place + 1, fault)
    return place


def equal_parts(size: Size, count: int) -> tuple[Size, ...]:
    """Divide an axis into parts of one size, of which the last ones may be smaller."""
    part = ceildiv(size, count)
    return tuple(highest(lowest(part, size - i * part), 0) for i in range(count))


def _place(place: Size, size: Size, low: Size, high: Size) -> Size:
    """Return a place from `low` to `high`; negative ones count from the end of the axis."""
    if not is_symbolic(place) and abs(place) >= END:
        if abs(place) < MOST:
            need(END, size, f"has size {size} along an axis that is cut at 2^31 - 1")
        return high if place > 0 else low
    return highest(lowest(_from_front(place, size), high), low)


def _from_front(place: Size, size: Size) -> Size:
    """Return a place, of which a negative one counts from the end, as it counts from the front."""
    is_negative = lowest(highest(-place, 0), 1)
    return place + is_negative * size
