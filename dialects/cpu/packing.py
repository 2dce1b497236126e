"""Packed weights: blocks of rows, or of columns (panels), that kernels read together.

A block of rows is stored column by column, a block of columns row by row.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ..core.errors import Invalid
from ..core.sizes.checks import need
from ..core.tensor import Array, Shape, Tensor


def even_split(total: int, most: int) -> tuple[int, int, int, int]:
    """Cut a length into pieces of at most two sizes, none above `most`: large, small, counts."""
    pieces = -(-total // most) if total else 0
    if not pieces:
        return most, most, 0, 0
    small, many = divmod(total, pieces)
    return small + 1, small, many, pieces - many


def block_starts(rows: int, block: int) -> list[int]:
    """Return where blocks of at most `block` rows start, and where the last one ends."""
    large, small, many, few = even_split(rows, block)
    starts = [i * large for i in range(many)]
    return [*starts, *(many * large + i * small for i in range(few + 1))]


def need_count(name: str, count: int) -> None:
    """Raise Invalid unless a size that code may choose is a size, or 0 for its choice."""
    if count < 0:
        raise Invalid(f"{name} is {count}, must be at least 0")


def pack_rows(matrices: Array, block: int) -> Array:
    """Pack [count, rows, depth] to [count, rows * depth]: block after block, depth by depth."""
    return join_parts(split_rows(matrices, block))


def join_parts(parts: Sequence[Array]) -> Array:
    """Join arrays [count, ...] to one of [count, elements]."""
    flat = [part.reshape(len(part), -1) for part in parts]
    return flat[0] if len(flat) == 1 else np.concatenate(flat, axis=1)


def split_rows(matrices: Array, block: int) -> list[Array]:
    """Split [count, rows, depth] into blocks of one height: [count, blocks, depth, rows of one].

    Blocks have at most two heights; each part has one. `pack_rows` joins the parts.
    """
    count, rows, depth = matrices.shape
    large, small, many, few = even_split(rows, block)
    parts: list[Array] = []
    first = 0
    for height, blocks in ((large, many), (small, few)):
        if blocks:
            taken = matrices[:, first : first + height * blocks]
            parts.append(taken.reshape(count, blocks, height, depth).swapaxes(2, 3))
        first += height * blocks
    return parts


def unpack_rows(packed: Array, rows: int, block: int) -> Array:
    """Undo `pack_rows`."""
    count, depth = len(packed), packed.shape[1] // rows
    starts = block_starts(rows, block)
    blocks = [
        packed[:, first * depth : last * depth].reshape(count, depth, last - first).swapaxes(1, 2)
        for first, last in pairwise(starts)
    ]
    return np.concatenate(blocks, axis=1)


def pack_columns(matrix: Array, block: int) -> Array:
    """Pack [depth, columns] to [panels, depth, block]; zeros fill up the last panel."""
    return pack_last_axis(matrix, block)


def pack_last_axis(array: Array, block: int) -> Array:
    """Pack [..., columns] to [panels, ..., block]; zeros fill up the last panel.

    The array is copied once, in any order of its axes: fresh memory costs more than the copy.
    """
    *sizes, columns = array.shape
    packed = np.empty((-(-columns // block), *sizes, block), array.dtype)
    whole = columns // block
    parts = array[..., : whole * block].reshape(*sizes, whole, block)
    packed[:whole] = np.moveaxis(parts, -2, 0)
    if whole < len(packed):
        packed[whole, ..., : columns % block] = array[..., whole * block :]
        packed[whole, ..., columns % block :] = 0
    return packed


def unpack_columns(packed: Array, columns: int) -> Array:
    """Undo `pack_columns`."""
    panels, depth, block = packed.shape
    return packed.swapaxes(0, 1).reshape(depth, panels * block)[:, :columns]


def plain_columns(packed: Tensor, columns: int) -> Shape:
    """Return the shape of a matrix before `pack_columns`; raise Invalid where it cannot be one."""
    if packed.rank != 3:
        raise Invalid(f"weight has rank {packed.rank}, must have 3: panels, depth, columns of one")
    panels, depth, block = packed.shape
    fault = f"weight {packed} does not hold {columns} columns"
    need(columns, 1, fault)
    need(columns, (panels - 1) * block + 1, fault)
    need(panels * block, columns, fault)
    return depth, columns
