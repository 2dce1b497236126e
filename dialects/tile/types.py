"""What the values of kernels are: tiles, whose sizes may have names, and memory to read from.

A tile prints as `tensor<?x1xi32, ["BM", ""]>`: a size is a number or, behind `?`, the name of a
block size, which the kernel gives a value. Memory prints as a memref with its strides. Where these
depend on symbols, its memory space has the expressions, as in
`memref<?x?xf32, strided<[?, 1]>, {sizes = ["N", "T"], strides = ["2*T", ""]}>`.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..core.attributes import expressions
from ..core.errors import Invalid
from ..core.mlir import ir
from ..core.sizes.atoms import is_symbolic
from ..core.sizes.limits import at_least
from ..core.sizes.substitution import likely
from ..core.symbol_table import symbol_table
from ..core.tensor import COMPUTED, Shape

FLOAT8 = ("f8E4M3FN", "f8E5M2")
"""Types whose elements are moved, multiplied and cast to others; nothing computes with them.

They are made of their bits.
"""

HELD = (*COMPUTED, *FLOAT8)
"""The element types that tiles and memory have."""

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
        """Report whether two elements may have the same address; at likely sizes of symbols."""
        if 0 in self.shape:
            return False
        reach = 0
        strides, shape = map(likely, self.strides), map(likely, self.shape)
        for stride, size in sorted(zip(strides, shape, strict=True)):
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
        return _memory(type_)
    raise Invalid(f"operand or result has type {type_}, must be a ranked tensor or a memref")


def mlir_type(plain: Tile | Memory) -> ir.Type:
    """Return the MLIR type of a plain type, in the current context."""
    if isinstance(plain, Memory):
        return _memory_type(plain)
    element, unknown = ir.Type.parse(plain.dtype), ir.Location.unknown()
    names = [size if isinstance(size, str) else "" for size in plain.shape]
    if not any(names):
        return ir.RankedTensorType.get([int(size) for size in plain.shape], element)
    dynamic = ir.ShapedType.get_dynamic_size()
    sizes = [size if isinstance(size, int) else dynamic for size in plain.shape]
    encoding = ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
    return ir.RankedTensorType.get(sizes, element, encoding, loc=unknown)


def _memory_type(plain: Memory) -> ir.Type:
    dynamic, unknown = ir.ShapedType.get_dynamic_size(), ir.Location.unknown()
    layout = space = None
    listed = {"sizes": plain.shape}
    if plain.strides != row_major(plain.shape):
        listed["strides"] = plain.strides
        strides = [dynamic if is_symbolic(stride) else stride for stride in plain.strides]
        layout = ir.StridedLayoutAttr.get(0, strides)
    if any(map(is_symbolic, (*plain.shape, *plain.strides))):
        space = ir.DictAttr.get({name: expressions(each) for name, each in listed.items()})
    shape = [dynamic if is_symbolic(size) else size for size in plain.shape]
    return ir.MemRefType.get(shape, ir.Type.parse(plain.dtype), layout, space, loc=unknown)


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


def need_computed(dtype: str) -> None:
    """Raise Invalid for a type that is loaded and multiplied, but not computed with."""
    if dtype in FLOAT8:
        raise Invalid(f"takes elements of {dtype}, which must be cast first")


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


def _memory(type_: ir.MemRefType) -> Memory:
    """Return plain memory; raise Invalid unless all is known and nothing is reversed."""
    texts = _expressions(type_)
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = _filled(type_, "sizes", type_.shape, dynamic, texts)
    strides = row_major(shape)
    # The bindings do not know the strides of nothing, nor those that follow from dynamic sizes.
    if 0 not in shape and (type_.has_static_shape or "strides" in texts):
        strides = _filled(type_, "strides", _strides(type_), dynamic, texts)
    if any(at_least(stride, 0) is False for stride in strides):
        raise Invalid(f"{type_} must have strides that are not negative")
    return Memory(shape, strides, _dtype(type_))


def _strides(type_: ir.MemRefType) -> Sequence[int]:
    try:
        strides, offset = type_.get_strides_and_offset()
    except RuntimeError:
        raise Invalid(f"{type_} has a layout without strides") from None
    if offset:
        raise Invalid(f"{type_} must have no offset")
    return strides


def _expressions(type_: ir.MemRefType) -> dict[str, Sequence[ir.Attribute]]:
    """Return the expressions of sizes and strides that depend on symbols."""
    space = type_.memory_space
    if space is None:
        return {}
    if not isinstance(space, ir.DictAttr):
        raise Invalid(f"{type_} has a memory space, must have none")
    found = {named.name: named.attr for named in space}
    if "sizes" not in found or found.keys() - {"sizes", "strides"}:
        raise Invalid(f"{type_} has keys {sorted(found)}, must have 'sizes', and may 'strides'")
    return {
        name: tuple(texts) if isinstance(texts, ir.ArrayAttr) else ()
        for name, texts in found.items()
    }


def _filled(
    type_: ir.MemRefType,
    name: str,
    numbers: Sequence[int],
    dynamic: int,
    texts: dict[str, Sequence[ir.Attribute]],
) -> Shape:
    """Return numbers with the sizes that expressions spell in place of dynamic ones."""
    listed = texts.get(name, ())
    if dynamic in numbers and len(listed) != len(numbers):
        raise Invalid(f"{type_} has dynamic {name}, must have an expression for each")
    table = symbol_table(type_.context)
    found: list[int] = []
    for axis, number in enumerate(numbers):
        text = listed[axis] if listed else None
        spelled = text.value if isinstance(text, ir.StringAttr) else ""
        if (number == dynamic) != bool(spelled):
            raise Invalid(f"{type_} must have expressions for dynamic {name}, and for no others")
        size = table.parse(spelled) if spelled else number
        if spelled and (not is_symbolic(size) or str(size) != spelled):
            raise Invalid(f"{type_} has expression '{spelled}', must be spelled {size}")
        found.append(size)
    return tuple(found)


def _dtype(type_: ir.RankedTensorType | ir.MemRefType) -> str:
    dtype = str(type_.element_type)
    if dtype not in HELD:
        raise Invalid(f"{type_} has element type {dtype}, must be one of {', '.join(HELD)}")
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
