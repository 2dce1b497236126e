"""When acme does with its own packet what other accelerators need a table for."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from trivium.dialects import tri
from trivium.dialects.core.attributes import tensor_of
from trivium.passes.rewriting import NoMatch
from trivium.targets.dla.select.elementwise import is_lookup
from trivium.targets.dla.select.images import elements_from, elements_of
from trivium.targets.dla.select.selection import Selection

from .arithmetic import Bytes, Slopes
from .dialect import LeakyRelu

SHIFT = 24
ALL = np.arange(-128, 128)


def select_leaky_relu(op: tri.Gather, selection: Selection) -> None:
    """Select a table of 256 bytes that two straight lines give, bit for bit.

    tri.gather %table, %x   =>   acme.leaky_relu %x
    """
    if not is_lookup(op) or tensor_of(op.indices.type).dtype != "i8":
        raise NoMatch("looks up no i8 in a table of all")
    entries = selection.constant(op.x, "entries of the table")
    # The table of the op begins with the byte 0, and the negative ones come last.
    found = slopes_of(np.roll(entries, 128), selection.description.rounding)
    if found is None:
        raise NoMatch("table is not that of two straight lines")
    with selection.place():
        x = elements_of(op.indices, selection.rewriter)
        new = selection.build(LeakyRelu, x, **vars(found))
        back = elements_from(new.y, tensor_of(op.y.type).shape)
    selection.replace(back, ())


def slopes_of(table: Bytes, rounding: str) -> Slopes | None:
    """Find two lines that give each entry of a table of -128 to 127; None if there are none."""
    for slopes in _candidates(table.astype(np.int64), rounding):
        if np.array_equal(slopes.of(ALL.astype(np.int8)), table):
            return slopes
    return None


def _candidates(table: NDArray[np.int64], rounding: str) -> Iterator[Slopes]:
    """Yield the lines that would meet at each byte."""
    for zero in range(-127, 127):
        height = int(table[zero + 128])
        above = _multiplier(table[zero + 129 :] - height, 127 - height)
        below = _multiplier(height - table[zero + 127 :: -1], height + 128)
        if above is not None and below is not None:
            yield Slopes(zero, above, below, SHIFT, rounding, height)


def _multiplier(steps: NDArray[np.int64], most: int) -> int | None:
    """Return what 1, 2, 3 and so on are multiplied by to be rounded to steps, clamped to `most`."""
    places = np.arange(1, len(steps) + 1)
    least = ((steps - 0.5) / places).max()
    inside = steps < most
    greatest = ((steps + 0.5) / places)[inside].min(initial=least + 1)
    middle = round(max(0.0, least + greatest) / 2 * 2**SHIFT)
    return middle if least <= greatest and middle < 2**31 else None
