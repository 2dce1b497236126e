"""Loads and stores, with explicit bounds, and other views of memory."""

from collections.abc import Sequence

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.tensor import is_float
from .dialect import TileOp
from .types import (
    Memory,
    Tile,
    broadcast,
    need_index,
    need_memory,
    need_tile,
    row_major,
    size_of,
)


class Load(TileOp):
    """Load the elements at some indices: one tile of i32 for each dimension, broadcast together.

    An index below 0 in one of the dimensions `low`, or beyond the last one in one of `high`, gives
    `pad` instead; in all other dimensions indices must be inside.
    """

    memory: Operand
    indices: Sequence[Operand]
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    pad: float = 0.0
    y: Result

    @staticmethod
    def infer(
        memory: Memory | Tile,
        indices: Sequence[Tile],
        *,
        low: tuple[int, ...] = (),
        high: tuple[int, ...] = (),
        pad: float = 0.0,
    ) -> Tile:
        source = need_memory("operand 0", memory)
        if not is_float(source.dtype) and not pad.is_integer():
            raise Invalid(f"pads {source.dtype} with {pad}, must be a whole number")
        return Tile(_index_shape(source, indices, (*low, *high)), source.dtype)


class Store(TileOp):
    """Store a tile at some indices, as `load` has them; elements out of bounds are left out.

    With `accumulate` elements are added to what is there; programs may do so at the same time, and
    the order of the additions is open.
    """

    value: Operand
    memory: Operand
    indices: Sequence[Operand]
    low: tuple[int, ...] = ()
    high: tuple[int, ...] = ()
    accumulate: bool = False

    pure = False

    @staticmethod
    def infer(
        value: Tile,
        memory: Memory | Tile,
        indices: Sequence[Tile],
        *,
        low: tuple[int, ...] = (),
        high: tuple[int, ...] = (),
        accumulate: bool = False,
    ) -> tuple[()]:
        target = need_memory("operand 1", memory)
        shape = _index_shape(target, indices, (*low, *high))
        tile = need_tile("operand 0", value)
        if tile.dtype != target.dtype:
            raise Invalid(f"stores {tile} to memory of {target.dtype}, must be of the same type")
        if broadcast(tile, Tile(shape, "i32")) != shape:
            raise Invalid(f"stores {tile} at indices of {Tile(shape, 'i32')}")
        return ()


class LoadBlock(TileOp):
    """Load a block of neighbouring elements, from some offsets on, through a tensor descriptor.

    `offsets` are scalars, one for each dimension; the block has sizes `block`. What is out of
    bounds is 0. The last stride must be 1.
    """

    memory: Operand
    offsets: Sequence[Operand]
    block: tuple[str, ...]
    y: Result

    @staticmethod
    def infer(memory: Memory | Tile, offsets: Sequence[Tile], *, block: tuple[str, ...]) -> Tile:
        source = need_memory("operand 0", memory)
        _check_block(source, offsets, block)
        return Tile(tuple(map(size_of, block)), source.dtype)


class StoreBlock(TileOp):
    """Store a block of neighbouring elements, as `load_block` loads one; cut at the bounds."""

    value: Operand
    memory: Operand
    offsets: Sequence[Operand]

    pure = False

    @staticmethod
    def infer(value: Tile, memory: Memory | Tile, offsets: Sequence[Tile]) -> tuple[()]:
        target = need_memory("operand 1", memory)
        tile = need_tile("operand 0", value)
        _check_block(target, offsets, tuple(map(str, tile.shape)))
        if tile.dtype != target.dtype:
            raise Invalid(f"stores {tile} to memory of {target.dtype}, must be of the same type")
        return ()


class View(TileOp):
    """See the same memory under another shape and other strides, from its first element on.

    `strides` are those of the shape in row-major order when there are none.
    """

    memory: Operand
    shape: tuple[int, ...]
    strides: tuple[int, ...] = ()
    y: Result

    @staticmethod
    def infer(
        memory: Memory | Tile, *, shape: tuple[int, ...], strides: tuple[int, ...] = ()
    ) -> Memory:
        source = need_memory("operand 0", memory)
        if strides and len(strides) != len(shape):
            raise Invalid(f"has {len(strides)} strides for {len(shape)} dimensions")
        view = Memory(shape, strides or row_major(shape), source.dtype)
        if view.extent > source.extent:
            raise Invalid(f"reaches {view.extent} elements of {source.extent}")
        return view


def _index_shape(
    memory: Memory, indices: Sequence[Tile], checked: tuple[int, ...]
) -> tuple[int | str, ...]:
    """Return the shape of what indices select."""
    if len(indices) != len(memory.shape):
        raise Invalid(f"has {len(indices)} indices for {len(memory.shape)} dimensions")
    for dim in checked:
        if not 0 <= dim < len(memory.shape):
            raise Invalid(f"checks dimension {dim} of {len(memory.shape)}")
    tiles = [need_index(f"index {i}", tile) for i, tile in enumerate(indices)]
    return broadcast(*tiles) if tiles else ()


def _check_block(memory: Memory, offsets: Sequence[Tile], block: tuple[str, ...]) -> None:
    rank = len(memory.shape)
    if len(offsets) != rank or len(block) != rank:
        raise Invalid(f"has {len(offsets)} offsets and {len(block)} sizes for {rank} dimensions")
    for index, offset in enumerate(offsets):
        if need_index(f"offset {index}", offset).shape:
            raise Invalid(f"offset {index} is {offset}, must be a scalar")
    if not rank or memory.strides[-1] != 1:
        raise Invalid(f"{memory} must have a last stride of 1")
