"""Loads and stores, with explicit bounds, and other views of memory."""

from collections.abc import Sequence

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.limits import at_least
from ..core.tensor import is_float, is_narrow, numpy_dtype
from .dialect import MemoryOp
from .types import (
    Memory,
    Tile,
    broadcast,
    need_computed,
    need_index,
    need_memory,
    need_tile,
    row_major,
    size_of,
)


class Load(MemoryOp):
    """Load the elements at some indices: one tile of i32 for each dimension, broadcast together.

    An index below 0 in one of the dimensions `low`, or beyond the last one in one of `high`, gives
    `pad` instead; all other indices must be inside.
    """

    memory: Operand
    indices: Sequence[Operand]
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    pad: float = 0.0
    y: Result

    def infer(self, memory: Memory | Tile, indices: Sequence[Memory | Tile]) -> Tile:
        source = need_memory("operand 0", memory)
        if not _holds(source.dtype, self.pad):
            raise Invalid(f"pads with {self.pad}, which {source.dtype} does not hold")
        return Tile(_index_shape(source, indices, (*self.low, *self.high)), source.dtype)


class Store(MemoryOp):
    """Store a tile at some indices, as `load` has them; elements out of bounds are left out.

    The value broadcasts to the indices. Where two elements go to one place, either stays. With
    `accumulate` each is added to the element in memory; programs may do so at the same time,
    and the order of the additions is open.
    """

    value: Operand
    memory: Operand
    indices: Sequence[Operand]
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    accumulate: bool = False

    pure = False

    def infer(
        self, value: Memory | Tile, memory: Memory | Tile, indices: Sequence[Memory | Tile]
    ) -> tuple[()]:
        tile, target = _need_target(value, memory)
        if self.accumulate and target.dtype == "i1":
            raise Invalid("adds up elements of i1, must be numbers")
        if self.accumulate:
            need_computed(target.dtype)
        shape = _index_shape(target, indices, (*self.low, *self.high))
        if broadcast(tile, Tile(shape, "i32")) != shape:
            raise Invalid(f"stores {tile}, which does not broadcast to {Tile(shape, 'i32')}")
        return ()


class LoadBlock(MemoryOp):
    """Load a block of neighbouring elements, from some offsets on, through a tensor descriptor.

    There is an offset, a scalar, and a size in `block` for each dimension. What is out of bounds is
    0. The last stride must be 1.
    """

    memory: Operand
    offsets: Sequence[Operand]
    block: tuple[str, ...]
    y: Result

    def infer(self, memory: Memory | Tile, offsets: Sequence[Memory | Tile]) -> Tile:
        source = need_memory("operand 0", memory)
        _check_block(source, offsets, len(self.block))
        return Tile(tuple(map(size_of, self.block)), source.dtype)


class StoreBlock(MemoryOp):
    """Store a block of neighbouring elements, as `load_block` loads one; cut at the bounds.

    The sizes of the block are those of the value.
    """

    value: Operand
    memory: Operand
    offsets: Sequence[Operand]

    pure = False

    def infer(
        self, value: Memory | Tile, memory: Memory | Tile, offsets: Sequence[Memory | Tile]
    ) -> tuple[()]:
        tile, target = _need_target(value, memory)
        _check_block(target, offsets, len(tile.shape))
        return ()


class View(MemoryOp):
    """See the same memory under another shape and other strides, from its first element on.

    `strides` are those of the shape in row-major order when there are none. Elements may be seen
    several times, by strides of 0, and can then be loaded only.
    """

    memory: Operand
    shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    y: Result

    def infer(self, memory: Memory | Tile) -> Memory:
        source = need_memory("operand 0", memory)
        if self.strides and len(self.strides) != len(self.shape):
            raise Invalid(f"has {len(self.strides)} strides for {len(self.shape)} dimensions")
        if any(at_least(each, 0) is False for each in (*self.shape, *self.strides)):
            raise Invalid(
                f"has shape {self.shape} and strides {self.strides}, must not be negative"
            )
        view = Memory(self.shape, self.strides or row_major(self.shape), source.dtype)
        if at_least(source.extent, view.extent) is False:
            raise Invalid(f"reaches {view.extent} elements of {source.extent}")
        return view


def _index_shape(
    memory: Memory, indices: Sequence[Memory | Tile], checked: tuple[int, ...]
) -> tuple[int | str, ...]:
    """Return the shape of the elements that indices select."""
    if len(indices) != len(memory.shape):
        raise Invalid(f"has {len(indices)} indices for {len(memory.shape)} dimensions")
    for dim in checked:
        if not 0 <= dim < len(memory.shape):
            raise Invalid(f"checks dimension {dim}, must be in [0, {len(memory.shape)})")
    tiles = [need_index(f"index {i}", tile) for i, tile in enumerate(indices)]
    return broadcast(*tiles) if tiles else ()


def _check_block(memory: Memory, offsets: Sequence[Memory | Tile], sizes: int) -> None:
    rank = len(memory.shape)
    if len(offsets) != rank or sizes != rank:
        raise Invalid(f"has {len(offsets)} offsets and {sizes} sizes for {rank} dimensions")
    for index, value in enumerate(offsets):
        offset = need_index(f"offset {index}", value)
        if offset.shape:
            raise Invalid(f"offset {index} is {offset}, must be a scalar")
    if not rank or memory.strides[-1] != 1:
        raise Invalid(f"{memory} must have a last stride of 1")


def _need_target(value: Memory | Tile, memory: Memory | Tile) -> tuple[Tile, Memory]:
    """Return the stored tile and its memory; raise Invalid where they do not fit."""
    tile, target = need_tile("operand 0", value), need_memory("operand 1", memory)
    if tile.dtype != target.dtype:
        raise Invalid(f"stores {tile} to memory of {target.dtype}, must be of the same type")
    if target.overlaps:
        raise Invalid(f"stores to {target}, whose elements overlap")
    return tile, target


def _holds(dtype: str, number: float) -> bool:
    """Report whether an element type can represent a number, or one near it."""
    if is_float(dtype):
        return True
    if is_narrow(dtype):
        return number == 0
    if dtype == "i1":
        return number in (0, 1)
    limits = np.iinfo(numpy_dtype(dtype))
    return number.is_integer() and limits.min <= number <= limits.max
