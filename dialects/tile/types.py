"""What the values of kernels are: tiles, whose sizes may have names, and memory to read from.

A tile prints as `tensor<?x1xi32, ["BM", ""]>`: a size is a number or, behind `?`, the name of a
block size, which the kernel gives a value. Memory prints as a memref with its strides.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.errors import Invalid
from ..core.mlir import ir
from ..core.tensor import DTYPES, Shape

Size = int | str
"""The size of a tile along one dimension: a number, or the name of a block size."""

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The names that kernels and block sizes may have: those of Python, since source shows them."""

_NUMBER = re.compile(r"[1-9][0-9]*")


@dataclass(frozen=True)
class Tile:
    """Hold the type of a tile: its sizes, and the MLIR spelling of its element type."""

    shape: tuple[Size, ...]
    dtype: str

    def __str__(self) -> str:
        sizes = "x".join([*(str(size) for size in self.shape), self.dtype])
        return f"tile<{sizes}>"


@dataclass(frozen=True)
class Memory:
    """Hold the type of a tensor in memory: its shape, and its strides in elements."""

    shape: Shape
    strides: Shape
    dtype: str

    @property
    def extent(self) -> int:
        """Count the elements from the first one to the last one."""
        if 0 in self.shape:
            return 0
        steps = zip(self.shape, self.strides, strict=True)
        return 1 + sum((size - 1) * stride for size, stride in steps)

    @property
    def overlaps(self) -> bool:
        """Report whether two elements may have the same address."""
        if 0 in self.shape:
            return False
        reach = 0
        for stride, size in sorted(zip(self.strides, self.shape, strict=True)):
            if size > 1 and stride <= reach:
                return True
            reach += (size - 1) * stride
        return False

    def __str__(self) -> str:
        sizes = "x".join([*map(str, self.shape), self.dtype])
        return f"memory<{sizes}, strides {self.strides}>"


def row_major(shape: Shape) -> Shape:
    """Return the strides of a tensor in row-major order."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


def plain_type(type_: ir.Type) -> Tile | Memory:
    """Return the plain type of a value of a kernel; raise Invalid for a type that none has."""
    if isinstance(type_, ir.RankedTensorType):
        return Tile(_sizes(type_), _dtype(type_))
    if isinstance(type_, ir.MemRefType):
        return Memory(tuple(type_.shape), _strides(type_), _dtype(type_))
    raise Invalid(f"operand or result has type {type_}, must be a ranked tensor or a memref")


def mlir_type(plain: Tile | Memory) -> ir.Type:
    """Return the MLIR type of a plain type, in the current context."""
    element, unknown = ir.Type.parse(plain.dtype), ir.Location.unknown()
    if isinstance(plain, Memory):
        layout = None
        if plain.strides != row_major(plain.shape):
            layout = ir.StridedLayoutAttr.get(0, plain.strides)
        return ir.MemRefType.get(plain.shape, element, layout, loc=unknown)
    names = [size if isinstance(size, str) else "" for size in plain.shape]
    if not any(names):
        return ir.RankedTensorType.get([int(size) for size in plain.shape], element)
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [size if isinstance(size, int) else dynamic for size in plain.shape]
    encoding = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    return ir.RankedTensorType.get(sizes, element, encoding, loc=unknown)


def broadcast(*tiles: Tile) -> tuple[Size, ...]:
    """Broadcast the sizes of tiles by numpy's rule; raise Invalid when they do not fit."""
    rank = max(len(tile.shape) for tile in tiles)
    padded = [(1,) * (rank - len(tile.shape)) + tile.shape for tile in tiles]
    sizes: list[Size] = []
    for column in zip(*padded, strict=True):
        larger = {size for size in column if size != 1}
        if len(larger) > 1:
            raise Invalid(f"tiles {' and '.join(map(str, tiles))} do not broadcast")
        sizes.append(larger.pop() if larger else 1)
    return tuple(sizes)


def need_tile(what: str, value: Tile | Memory) -> Tile:
    """Return the tile that a value is; raise Invalid for memory."""
    if not isinstance(value, Tile):
        raise Invalid(f"{what} is {value}, must be a tile")
    return value


def need_memory(what: str, value: Tile | Memory) -> Memory:
    """Return the memory that a value is; raise Invalid for a tile."""
    if not isinstance(value, Memory):
        raise Invalid(f"{what} is {value}, must be in memory")
    return value


def need_index(what: str, value: Tile | Memory) -> Tile:
    """Return a tile of i32; raise Invalid for anything else."""
    tile = need_tile(what, value)
    if tile.dtype != "i32":
        raise Invalid(f"{what} is {tile}, must be of i32")
    return tile


def size_of(text: str) -> Size:
    """Read a size as attributes spell it: `64` or `BM`; raise Invalid for anything else."""
    if NAME.fullmatch(text):
        return text
    if not _NUMBER.fullmatch(text) or not is_power_of_two(int(text)):
        raise Invalid(f"size is '{text}', must be a power of two or the name of a block size")
    return int(text)


def is_power_of_two(number: int) -> bool:
    return number > 0 and number & (number - 1) == 0


def _strides(type_: ir.MemRefType) -> Shape:
    """Return the strides of a memref; raise Invalid unless all is known and nothing is reversed."""
    if not type_.has_static_shape:
        raise Invalid(f"{type_} has dynamic sizes, must have none")
    if type_.memory_space is not None:
        raise Invalid(f"{type_} has a memory space, must have none")
    if 0 in type_.shape:  # the bindings do not know the strides of nothing
        return row_major(tuple(type_.shape))
    try:
        strides, offset = type_.get_strides_and_offset()
    except RuntimeError:
        raise Invalid(f"{type_} has a layout without strides") from None
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    if offset or dynamic in strides or min(strides, default=0) < 0:
        raise Invalid(f"{type_} must have strides that are known, not negative, and no offset")
    return tuple(strides)


def _dtype(type_: ir.RankedTensorType | ir.MemRefType) -> str:
    dtype = str(type_.element_type)
    if dtype not in DTYPES:
        raise Invalid(f"{type_} has element type {dtype}, must be one of {', '.join(DTYPES)}")
    return dtype


def _sizes(type_: ir.RankedTensorType) -> tuple[Size, ...]:
    shape: Sequence[int] = type_.shape
    names = type_.encoding
    if type_.has_static_shape and names is None:
        return tuple(shape)
    if type_.has_static_shape:
        raise Invalid(f"{type_} has an encoding, must have none: no size has a name")
    if not isinstance(names, ir.ArrayAttr) or len(names) != len(shape):
        raise Invalid(f"{type_} has dynamic sizes, must name a block size for each")
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes: list[Size] = []
    for size, name in zip(shape, names, strict=True):
        if not isinstance(name, ir.StringAttr) or (size == dynamic) != bool(name.value):
            raise Invalid(f"{type_} must name a block size where a size is dynamic, and only there")
        if name.value and not NAME.fullmatch(name.value):
            raise Invalid(f"{type_} names block size '{name.value}', must be an identifier")
        sizes.append(name.value or size)
    return tuple(sizes)
