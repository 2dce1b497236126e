"""Settings of kernels that are worth a try: other block sizes, warps and stages than the first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ....dialects.core.tensor import DTYPES
from ....dialects.tile.setting import Setting
from .attention_plan import KEYS_MULTIPLE, AttentionPlan
from .product_blocks import LEAST, Blocks
from .row_plan import RowPlan

SHARED_BYTES = 227 * 1024
"""The most shared memory that a program has on any GPU: that of Hopper. Others have less."""

MOST = 12
"""The most settings of one kernel to measure."""

VARIED = 3
"""Of so many of the best blocks other numbers of stages are tried too."""


def product_settings(choices: Sequence[Blocks], dtype: str) -> list[Setting]:
    """List settings of a kernel of blocks of a product, which `choices` begins with."""
    deeper = [replace(blocks, stages=blocks.stages + 1) for blocks in choices[:VARIED]]
    shallower = [
        replace(blocks, stages=blocks.stages - 1)
        for blocks in choices[:VARIED]
        if blocks.stages > 2
    ]
    listed = [*choices[:VARIED], *deeper, *shallower, *choices[VARIED:]]
    fitting = [blocks for blocks in listed if blocks.shared_bytes(dtype) <= SHARED_BYTES]
    return _settings(fitting, ("BM", "BN", "BK") if choices[0].depth > 1 else ("BM", "BN"))


def vector_settings(blocks: Blocks) -> list[Setting]:
    """List settings of a kernel that multiplies vectors: longer and shorter blocks."""
    longer = replace(blocks, depth=2 * blocks.depth)
    shorter = replace(blocks, depth=max(blocks.depth // 2, 1))
    wider = replace(blocks, columns=2 * blocks.columns)
    narrower = replace(blocks, columns=max(blocks.columns // 2, 1))
    listed = [blocks, longer, shorter, wider, narrower]
    more = [replace(one, warps=8) for one in (blocks, longer, wider)]
    fewer = [replace(one, warps=2) for one in (shorter, narrower)]
    return _settings([*listed, *more, *fewer], ("BN", "BK"))


def element_settings(block: int) -> list[Setting]:
    """List settings of a kernel over elements in a row: more and fewer of them, and warps."""
    sizes = [size for size in (block, 2 * block, block // 2, 4 * block, block // 4) if size]
    found = [(size, warps) for size in sizes for warps in (4, 8, 2) if size >= 32 * warps]
    return [Setting((("BLOCK", size),), warps, 1) for size, warps in found][:MOST]


def rectangle_settings(height: int, width: int) -> list[Setting]:
    """List settings of a kernel over rectangles: larger and smaller ones, higher and wider ones."""
    sizes = [
        *((height, width), (2 * height, width), (height, 2 * width)),
        *((height // 2, width), (height, width // 2), (height * 2, width * 2)),
    ]
    found = [(rows, columns, warps) for rows, columns in sizes for warps in (4, 8)]
    return [
        Setting((("BM", rows), ("BN", columns)), warps, 1)
        for rows, columns, warps in found
        if rows and columns and rows * columns >= 32 * warps
    ][:MOST]


def direct_settings(blocks: Blocks) -> list[Setting]:
    """List settings of a convolution tap by tap: larger and smaller blocks."""
    listed = [
        blocks,
        replace(blocks, rows=2 * blocks.rows),
        replace(blocks, rows=max(blocks.rows // 2, 1)),
        replace(blocks, rows=2 * blocks.rows, columns=max(blocks.columns // 2, 1)),
        replace(blocks, rows=max(blocks.rows // 2, 1), columns=2 * blocks.columns),
    ]
    return _settings(listed, ("BM", "BN"))


def row_settings(plan: RowPlan) -> list[Setting]:
    """List settings of a kernel over rows: more and fewer rows at a time, and warps.

    Columns are fixed: parts of rows consist of whole blocks.
    """
    heights = (plan.rows, plan.rows * 2, max(plan.rows // 2, 1))
    found = [
        Setting((("ROWS", height), ("COLUMNS", plan.columns)), warps, 1)
        for height in heights
        for warps in (plan.warps, 2 * plan.warps, plan.warps // 2, 1)
        if warps and LEAST_EACH <= height * plan.columns // (32 * warps) <= MOST_EACH
    ]
    return list(dict.fromkeys(found))[:MOST]


LEAST_EACH = 4
"""Elements of a block of rows that a thread has at least."""

MOST_EACH = 64
"""Elements of a block of rows that a thread holds at most: there are more in registers beside."""


def attention_settings(plan: AttentionPlan, dtype: str) -> list[Setting]:
    """List settings of attention: larger and smaller blocks of queries and of keys."""
    listed = [
        replace(plan, queries=queries, keys=keys, warps=warps, stages=stages)
        for queries in _around(plan.queries, MOST_QUERIES)
        for keys in _around(plan.keys, KEYS_MULTIPLE)
        for warps in (plan.warps, 4, 8)
        for stages in (plan.stages, plan.stages + 1, max(plan.stages - 1, 1))
    ]
    fitting = [one for one in listed if _fits(one, dtype)]
    found = [Setting(one.blocks, one.warps, one.stages) for one in fitting]
    return list(dict.fromkeys(found))[:MOST]


MOST_QUERIES = 128


def _fits(plan: AttentionPlan, dtype: str) -> bool:
    """Return whether scores and results fit in registers, keys and values in shared memory."""
    held = plan.queries * (plan.keys + plan.values) // (32 * plan.warps)
    pitch = (plan.depth + plan.values) * DTYPES[dtype].bits // 8
    return held <= MOST_HELD and plan.stages * plan.keys * pitch <= SHARED_BYTES


MOST_HELD = 192
"""Scores and results of attention that a thread holds at most, of its 255 registers."""


def _around(size: int, most: int) -> list[int]:
    return [one for one in (size, size // 2, size * 2) if LEAST <= one <= most]


def _settings(choices: Iterable[Blocks], names: Sequence[str]) -> list[Setting]:
    """Spell blocks as settings of a kernel with these block sizes; each once."""
    found: dict[Setting, None] = {}
    for blocks in choices:
        sizes = {"BM": blocks.rows, "BN": blocks.columns, "BK": blocks.depth}
        pairs = tuple((name, sizes[name]) for name in names)
        found[Setting(pairs, blocks.warps, blocks.stages)] = None
    return list(found)[:MOST]
