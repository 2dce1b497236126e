"""Cost model of products: the first choice of block sizes, before tuning."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ....dialects.core.tensor import DTYPES
from ....dialects.tile.types import FLOAT8

MULTIPROCESSORS = 132
"""The multiprocessors of a nominal GPU, an H100 or H200; each runs one program at a time."""

LEAST = 16
"""The least size that `tile.dot` has along rows, columns and depth."""

LEAST_BYTES_DEPTH = 32
"""The least depth of `tile.dot` for bytes."""

MOST_SPLITS = 16
"""Into how many parts a depth is split at most: the second kernel adds them one by one."""


@dataclass(frozen=True)
class Blocks:
    """The sizes of a block of a product, and how a program computes it."""

    rows: int
    columns: int
    depth: int
    warps: int = 4
    stages: int = 3

    def shared_bytes(self, dtype: str) -> int:
        """Return the shared memory that the factors take, all stages of them."""
        size = DTYPES[dtype].bits // 8
        return self.stages * (self.rows + self.columns) * self.depth * size


def _blocks(sizes: str, warps: int, stages: int) -> tuple[Blocks, ...]:
    """Parse blocks of rows x columns x depth, such as "128x64x32"."""
    parsed = (map(int, each.split("x")) for each in sizes.split())
    return tuple(Blocks(*each, warps=warps, stages=stages) for each in parsed)


HALF_BLOCKS = (
    *_blocks("128x256x64 256x128x64 128x128x64", warps=8, stages=3),
    *_blocks("128x64x64 64x128x64 64x64x64 32x64x64 64x32x64", warps=4, stages=4),
    *_blocks("32x32x64 16x128x64", warps=4, stages=4),
    *_blocks("16x64x128 16x32x128 32x16x128", warps=4, stages=3),
)

FLOAT_BLOCKS = (
    *_blocks("128x128x16", warps=8, stages=3),
    *_blocks("128x64x16 64x128x16 64x64x32 32x64x32 64x32x32", warps=4, stages=3),
    *_blocks("32x32x32 16x64x32 16x32x32 32x16x32", warps=4, stages=3),
)

DOUBLE_BLOCKS = _blocks("64x64x16 32x64x16 64x32x16 32x32x16 16x32x16 32x16x16", warps=4, stages=3)

BYTE_BLOCKS = tuple(replace(blocks, depth=2 * blocks.depth) for blocks in HALF_BLOCKS[2:10])

OUTER_BLOCKS = _blocks("64x64x1 32x64x1 64x32x1 32x32x1 16x32x1", warps=4, stages=1)
"""For types that `tile.dot` does not multiply: a column times a row at a time."""

BLOCKS: Mapping[str, tuple[Blocks, ...]] = {
    "f16": HALF_BLOCKS,
    "bf16": HALF_BLOCKS,
    "f32": FLOAT_BLOCKS,
    "f64": DOUBLE_BLOCKS,
    **dict.fromkeys(("i8", *FLOAT8), BYTE_BLOCKS),
}

INTENSITY = {**dict.fromkeys(("f16", "bf16", "i8", *FLOAT8), 64), "f32": 32, "f64": 16}
"""The products for each loaded element that keep the arithmetic busy."""


def block_choices(
    batch: int, rows: int, columns: int, depth: int, dtype: str, precision: str = "ieee"
) -> list[Blocks]:
    """List blocks for a product, those expected to be the fastest first."""
    wide = precision == "tf32" and dtype == "f32"
    known = _TF32_BLOCKS if wide else BLOCKS.get(dtype, OUTER_BLOCKS)
    fitting = list(dict.fromkeys(_fitted(known, rows, columns, depth, dtype)))
    intensity = 64 if wide else INTENSITY.get(dtype, 16)

    def cost(blocks: Blocks) -> tuple[float, int]:
        programs = batch * -(-rows // blocks.rows) * -(-columns // blocks.columns)
        area = blocks.rows * blocks.columns
        rate = min(intensity, area / (blocks.rows + blocks.columns))
        waves = max(1.0, programs / MULTIPROCESSORS)
        tail = -(-programs // MULTIPROCESSORS) / waves if waves < _MANY_WAVES else 1.0
        return waves * tail * area / rate, -area

    return sorted(fitting, key=cost)


_MANY_WAVES = 8
"""Waves of programs from which on the idle part of the last one is negligible."""

_TF32_BLOCKS = tuple(replace(blocks, depth=blocks.depth // 2) for blocks in HALF_BLOCKS[2:])


def split_count(programs: int, steps: int) -> int:
    """Return in how many parts to split a depth of some steps, so that a GPU is busy; 1 is none."""
    if 2 * programs > MULTIPROCESSORS:
        return 1
    parts = min(MULTIPROCESSORS // programs, steps // _LEAST_STEPS, MOST_SPLITS)
    return parts if parts > 1 else 1


_LEAST_STEPS = 8
"""Steps along the depth that a part of it has at least: each part costs a store and a load."""


def vector_blocks(columns: int, depth: int, along_depth: bool) -> Blocks:
    """Return the blocks of a product with a few vectors; `along_depth`: its order in memory."""
    most = _VECTOR_ELEMENTS
    if along_depth:
        size = min(next_power(depth), most // 8)
        return Blocks(1, min(next_power(columns), most // size), size, stages=1)
    size = min(next_power(columns), most // 32)
    return Blocks(1, size, min(next_power(depth), most // size), stages=1)


_VECTOR_ELEMENTS = 2048
"""Elements of a matrix that a program multiplies by vectors at a time: 16 for each thread."""


def direct_blocks(pixels: int, outputs: int, outputs_nearest: bool) -> Blocks:
    """Return the blocks of a convolution tap by tap, longer along the innermost dim."""
    warps = 4 if pixels * outputs >= 4 * _WARP_ELEMENTS * MULTIPROCESSORS else 1
    size = warps * _WARP_ELEMENTS
    if outputs_nearest:
        columns = min(next_power(outputs), 64)
        return Blocks(min(next_power(pixels), size // columns), columns, 1, warps, stages=1)
    rows = min(next_power(pixels), size // 2)
    return Blocks(rows, min(next_power(outputs), size // rows), 1, warps, stages=1)


_WARP_ELEMENTS = 256
"""Elements of a result for each warp: 8 for each thread, which loads as many f16 at once."""


def next_power(size: int) -> int:
    """Return the least power of two that is as large as a size; Undecided for one with symbols."""
    return 1 << max(int(size) - 1, 0).bit_length()


def _fitted(
    known: tuple[Blocks, ...], rows: int, columns: int, depth: int, dtype: str
) -> Iterator[Blocks]:
    """Cut blocks that are larger than the product."""
    least = LEAST_BYTES_DEPTH if DTYPES[dtype].bits == 8 else LEAST
    for blocks in known:
        yield replace(
            blocks,
            rows=min(blocks.rows, max(next_power(rows), LEAST)),
            columns=min(blocks.columns, max(next_power(columns), LEAST)),
            depth=min(blocks.depth, max(next_power(depth), least)),
        )
