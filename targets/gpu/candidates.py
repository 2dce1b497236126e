"""Settings of kernels that are worth a try: other block sizes, warps and stages than the first."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...dialects.tile.setting import Setting
from .costs import Blocks

SHARED_BYTES = 227 * 1024
"""The most shared memory that a program has on any GPU: that of Hopper. Others have less."""

MOST = 12
"""How many settings of one kernel are tried at most."""

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
    warps = [replace(one, warps=count) for count in (2, 8) for one in listed[:3]]
    return _settings([*listed, *warps], ("BN", "BK"))


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


def _settings(choices: Iterable[Blocks], names: Sequence[str]) -> list[Setting]:
    """Spell blocks as settings of a kernel with these block sizes; each once."""
    found: dict[Setting, None] = {}
    for blocks in choices:
        sizes = {"BM": blocks.rows, "BN": blocks.columns, "BK": blocks.depth}
        pairs = tuple((name, sizes[name]) for name in names)
        found[Setting(pairs, blocks.warps, blocks.stages)] = None
    return list(found)[:MOST]
