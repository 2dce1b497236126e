"""The blocks of rows before tuning: for reductions, normalisations and scans.

Rows and lengths may depend on symbols. Blocks are chosen at likely sizes, and what is kept in
registers at the greatest ones.
"""

from dataclasses import dataclass

from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.dim import ceildiv
from ....dialects.core.sizes.limits import at_least, bounds
from ....dialects.core.sizes.substitution import likely
from .product_blocks import MULTIPROCESSORS, next_power

WHOLE_ROW = 16384
"""The longest row that a program holds in registers."""

_BLOCK = 4096
"""Elements of a block that four warps share: 32 for each thread."""

_LANES = 16
"""Least number of rows in a block if adjacent elements belong to different rows."""

_SPARE = 4
"""How many times as many registers as usual a row may take where its length varies."""

_MOST_PARTS = 512
"""Most parts of a row: a program reads the states of all of them."""


@dataclass(frozen=True)
class RowPlan:
    """The division of rows: `rows` per program, `columns` of each at a time.

    With `parts` > 1, each part of a row, of `span` columns, is a program of a kernel of its own.
    """

    rows: int
    columns: int
    span: int
    parts: int = 1
    warps: int = 4

    @property
    def whole(self) -> bool:
        """Return whether one block has all elements that a program reads of a row."""
        return at_least(self.columns, self.span) is True


def reduction_plan(rows: Size, length: Size, along: bool) -> RowPlan:
    """Plan a kernel that reads each row once; `along`: elements of a row are adjacent in memory.

    Long rows are walked in a loop; where there are few, they are split too.
    """
    usual = next_power(likely(length))
    if along:
        columns = min(usual, _BLOCK // 2)
        height = _height(rows, columns, _BLOCK // 2, along)
    else:
        height = _height(rows, 1, 4 * _LANES, along)
        columns = min(usual, _BLOCK // height)
    plan = RowPlan(height, columns, length, warps=warps_for(height * columns))
    return _split(rows, length, plan)


def normalization_plan(rows: Size, length: Size, along: bool) -> RowPlan:
    """Plan a kernel that reduces and then changes each row, in registers if possible."""
    least = 1 if along else _LANES
    if _stays_whole(length, WHOLE_ROW // least):
        return whole_plan(rows, length, along)
    if is_symbolic(length):
        columns = min(next_power(likely(length)), _BLOCK // least)
        return RowPlan(least, columns, length, warps=warps_for(least * columns))
    columns = _BLOCK // least
    parts = -(-length // columns)
    if parts <= _MOST_PARTS and likely(rows) < least * MANY_ROWS:
        return RowPlan(least, columns, columns, parts)
    return _split(rows, length, RowPlan(least, columns, length, warps=8))


def change_plan(rows: Size, length: Size, along: bool) -> RowPlan:
    """Plan an elementwise kernel in the order of memory."""
    columns = min(next_power(likely(length)), _BLOCK // 2 if along else _LANES)
    height = _height(rows, columns, _BLOCK // 2, along)
    parts = ceildiv(length, columns)
    return RowPlan(height, columns, columns, parts, warps_for(height * columns))


def whole_plan(rows: Size, length: Size, along: bool) -> RowPlan:
    """Plan a kernel that keeps whole rows in registers."""
    most = bounds(length)[1]
    columns = next_power(length if most is None else most)
    height = min(_height(rows, columns, _BLOCK, along), max(WHOLE_ROW // columns, 1))
    return RowPlan(height, columns, length, warps=warps_for(height * columns))


def scan_plan(rows: Size, length: Size, along: bool) -> RowPlan:
    """Plan a kernel that scans each row from one end to the other."""
    columns = min(next_power(likely(length)), _BLOCK if along else _BLOCK // _LANES)
    height = _height(rows, columns, _BLOCK, along)
    return RowPlan(height, columns, length, warps=warps_for(height * columns))


def flat_block(count: Size) -> int:
    """Return the block of a kernel that computes elements one by one with much work for each."""
    block = 1024
    count = likely(count)
    while block > 128 and count < block * MULTIPROCESSORS:
        block //= 2
    return block


def warps_for(elements: int) -> int:
    """Return how many warps share a block: a thread has about 16 to 32 elements."""
    return min(16, max(elements // 1024, min(4, max(elements // 512, 1))))


def _stays_whole(length: Size, most: int) -> bool:
    """Return whether rows of any length fit in so many registers, and usually use most of them."""
    high = bounds(length)[1]
    if high is None or next_power(high) > most:
        return False
    return next_power(high) <= _SPARE * next_power(likely(length))


def _height(rows: Size, columns: int, elements: int, along: bool) -> int:
    """Return how many rows a block has: fewer where there would be too few programs."""
    rows = likely(rows)
    least = 1 if along else min(_LANES, next_power(rows))
    height = max(least, min(elements // columns, next_power(rows)))
    while height > least and rows < height * MULTIPROCESSORS:
        height //= 2
    return height


def _split(rows: Size, length: Size, plan: RowPlan) -> RowPlan:
    """Split long rows where they are too few to keep a GPU busy."""
    if is_symbolic(length):
        return plan
    rows = likely(rows)
    programs = -(-rows // plan.rows)
    chunks = -(-length // plan.columns)
    wanted = -(-2 * MULTIPROCESSORS // programs)
    if programs >= MULTIPROCESSORS or chunks < _LEAST_CHUNKS:
        return plan
    each = max(-(-chunks // wanted), -(-chunks // _MOST_PARTS))
    parts = -(-chunks // each)
    return RowPlan(plan.rows, plan.columns, each * plan.columns, parts, plan.warps)


MANY_ROWS = 4 * MULTIPROCESSORS
"""From this number of rows on, a second kernel costs more than it saves."""

_LEAST_CHUNKS = 4
"""Blocks that a row has at least to be worth a second kernel."""
