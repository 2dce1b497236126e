"""Examples of ops on tiles: on values, where numpy can compute them, else on types."""

from collections.abc import Callable
from typing import Any

from examples import BOOLS, FLOATS, INTEGERS, NUMBERS, Example, Pick
from tile_kernels import memory
from trivium.dialects import tile
from trivium.dialects.core.op import Op
from trivium.dialects.core.tensor import COMPUTED, DTYPES, Shape
from trivium.dialects.tile.arithmetic import BINARY, BOOL_TOO, FLOAT_ONLY, INTEGER_ONLY
from trivium.dialects.tile.arithmetic import UNARY as UNARY_FUNCTIONS
from trivium.dialects.tile.contraction import ACCUMULATORS, PRECISIONS, REDUCTIONS, SCANS
from trivium.dialects.tile.types import Memory, Size, Tile, row_major

SIZES = (1, 2, 4)
NAMES = ("BM", "BN")


def shape(pick: Pick, ranks: tuple[int, int] = (0, 3)) -> Shape:
    return tuple(pick.one(*SIZES) for _ in range(pick.between(*ranks)))


def dtypes_of(function: str) -> tuple[str, ...]:
    if function in FLOAT_ONLY:
        return FLOATS
    numbers = INTEGERS if function in INTEGER_ONLY else NUMBERS
    return (*numbers, *(BOOLS if function in BOOL_TOO else ()))


def unary(pick: Pick) -> Example:
    function = pick.one(*UNARY_FUNCTIONS)
    return Example((pick.array(shape(pick), *dtypes_of(function)),), {"function": function})


def binary(pick: Pick) -> Example:
    function, whole = pick.one(*BINARY), shape(pick)
    dtype = pick.one(*dtypes_of(function))
    a, b = (pick.array(pick.narrowed(whole), dtype) for _ in range(2))
    return Example((a, b), {"function": function})


def where(pick: Pick) -> Example:
    whole, dtype = shape(pick), pick.one(*COMPUTED)
    types = ("i1", dtype, dtype)
    return Example(tuple(pick.array(pick.narrowed(whole), each) for each in types))


def cast(pick: Pick) -> Example:
    return Example((pick.array(shape(pick), *COMPUTED),), {"to": pick.one(*COMPUTED)})


def bit_cast(pick: Pick) -> Example:
    dtype = pick.one(*NUMBERS)
    alike = [name for name in NUMBERS if DTYPES[name].bits == DTYPES[dtype].bits]
    return Example((pick.array(shape(pick), dtype),), {"to": pick.one(*alike)})


def dot(pick: Pick) -> Example:
    m, n, k = (pick.one(*SIZES) for _ in range(3))
    dtype = pick.one(*ACCUMULATORS)
    factors = pick.array((m, k), dtype), pick.array((k, n), dtype)
    acc = pick.array((m, n), ACCUMULATORS[dtype])
    return Example((*factors, acc), {"precision": pick.one(*PRECISIONS)})


def along(kinds: Any, **more: Callable[[Pick], Any]) -> Callable[[Pick], Example]:
    def make(pick: Pick) -> Example:
        x = pick.array(shape(pick, (1, 3)), *NUMBERS)
        drawn = {name: draw(pick) for name, draw in more.items()}
        return Example(
            (x,), {"kind": pick.one(*kinds), "axis": pick.between(0, x.ndim - 1), **drawn}
        )

    return make


def expand(pick: Pick) -> Example:
    x = pick.array(shape(pick), *COMPUTED)
    return Example((x,), {"axis": pick.between(0, x.ndim)})


def transpose(pick: Pick) -> Example:
    return Example((pick.array(shape(pick, (2, 2)), *COMPUTED),))


VALUES: dict[type[Op], Callable[[Pick], Example]] = {
    tile.Unary: unary,
    tile.Binary: binary,
    tile.Where: where,
    tile.Cast: cast,
    tile.BitCast: bit_cast,
    tile.Dot: dot,
    tile.Reduce: along(REDUCTIONS),
    tile.Scan: along(SCANS, reverse=Pick.flag),
    tile.Expand: expand,
    tile.Transpose: transpose,
}
"""Ops that compute tiles from tiles."""

Types = tuple[list[Any], dict[str, Any]]
"""What an op is built from: the types of operand fields, and attributes."""


def named_shape(pick: Pick, rank: int) -> tuple[Size, ...]:
    return tuple(pick.one(*SIZES, *NAMES) for _ in range(rank))


def some_memory(pick: Pick, last_stride: int | None = None) -> Memory:
    rank = pick.between(0 if last_stride is None else 1, 3)
    sizes = pick.ints(rank, 0, 5)
    if 0 in sizes:  # whose elements are nowhere: the text keeps no strides
        return Memory(sizes, row_major(sizes), pick.one(*COMPUTED))
    order = list(range(rank)) if last_stride else list(pick.permutation(rank))
    strides, step = [0] * rank, last_stride or 1
    for dim in reversed(order):
        strides[dim] = step
        step *= max(sizes[dim], 1) * pick.between(1, 2)
    return Memory(sizes, tuple(strides), pick.one(*COMPUTED))


def load(pick: Pick) -> Types:
    source, whole = some_memory(pick), named_shape(pick, 2)
    indices = [Tile(pick.narrowed(whole), "i32") for _ in source.shape]
    bounds = {which: pick.axes(len(indices)) for which in ("low", "high")}
    return [source, indices], {**bounds, "pad": float(pick.between(0, 1))}


def store(pick: Pick) -> Types:
    target, whole = some_memory(pick), named_shape(pick, 2)
    indices = [Tile(whole, "i32") for _ in target.shape]
    value = Tile(pick.narrowed(whole) if indices else (), target.dtype)
    return [value, target, indices], {"accumulate": target.dtype != "i1" and pick.flag()}


def load_block(pick: Pick) -> Types:
    source = some_memory(pick, last_stride=1)
    block = tuple(map(str, named_shape(pick, len(source.shape))))
    return [source, [Tile((), "i32")] * len(block)], {"block": block}


def store_block(pick: Pick) -> Types:
    (target, offsets), attributes = load_block(pick)
    value = tile.LoadBlock(**attributes).infer(target, offsets)
    return [value, target, offsets], {}


def view(pick: Pick) -> Types:
    sizes = pick.ints(pick.between(0, 3), 1, 4)
    strides = pick.one((), pick.ints(len(sizes), 0, 3))
    reach = memory(*sizes, strides=strides or None).extent
    return [memory(reach, dtype=pick.one(*COMPUTED))], {"shape": sizes, "strides": strides}


def full(pick: Pick) -> Types:
    value = pick.array((), *COMPUTED)
    return [], {"value": value, "shape": tuple(map(str, named_shape(pick, pick.between(0, 3))))}


OTHERS: dict[type[Op], Callable[[Pick], Types]] = {
    tile.Load: load,
    tile.Store: store,
    tile.LoadBlock: load_block,
    tile.StoreBlock: store_block,
    tile.View: view,
    tile.Full: full,
    tile.Arange: lambda pick: ([], {"block": pick.one("BM", "8")}),
    tile.BlockSize: lambda pick: ([], {"block": pick.one(*NAMES)}),
    tile.SizeOf: lambda pick: ([], {"size": pick.between(0, 9)}),
    tile.ProgramId: lambda pick: ([], {"axis": pick.between(0, 2)}),
    tile.Yield: lambda pick: ([[Tile(named_shape(pick, 2), pick.one(*COMPUTED))]], {}),
    tile.Return: lambda pick: ([], {}),
}
"""Ops that need to know more than tiles: only their text is tested here."""

ELSEWHERE = {tile.Kernel, tile.For, tile.Launch}
"""Ops whose meaning is that of other ones: every test of a kernel takes them through text."""
