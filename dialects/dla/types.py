"""What the values of programs are: buffers in memories, and tokens that say what is complete."""

import math
from dataclasses import dataclass

from ..core.attributes import read_once
from ..core.errors import Invalid
from ..core.mlir import announce_dialect, ir
from ..core.tensor import Shape

TOKEN = "!async.token"
"""The type of what an op of a scheduled program gives to those that wait for it."""

announce_dialect("async")  # tokens are looked at often

SRAM, WEIGHTS, ACCUMULATOR = "sram", "weights", "accumulator"
INPUTS, OUTPUTS, CONSTANTS, ACTIVATIONS = (
    "dram.inputs",
    "dram.outputs",
    "dram.constants",
    "dram.activations",
)
REGIONS = (CONSTANTS, INPUTS, OUTPUTS, ACTIVATIONS)
SPACES = (SRAM, WEIGHTS, ACCUMULATOR, *REGIONS)

_BYTES = {"i8": 1, "i32": 4}


@dataclass(frozen=True)
class BufferType:
    """Hold the type of a buffer: its shape, its element type, and the space that it is in."""

    shape: Shape
    dtype: str
    space: str

    @property
    def itemsize(self) -> int:
        """Return how many bytes an element has."""
        return _BYTES[self.dtype]

    @property
    def strides(self) -> Shape:
        """Return the distances between elements, in elements: the last dimension is densest."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def size_bytes(self) -> int:
        """Return how many bytes the buffer has."""
        return math.prod(self.shape) * self.itemsize

    def __str__(self) -> str:
        return f"memref<{''.join(f'{d}x' for d in self.shape)}{self.dtype}, {self.space}>"


def buffer_of(type_: ir.Type) -> BufferType:
    """Return the plain type of a buffer; raise Invalid for a type that none has."""
    return read_once(_read, type_)


def _read(type_: ir.Type) -> BufferType:
    if not isinstance(type_, ir.MemRefType):
        raise Invalid(f"operand or result has type {type_}, must be a memref")
    space = type_.memory_space
    if not isinstance(space, ir.StringAttr) or space.value not in SPACES:
        known = ", ".join(SPACES)
        raise Invalid(f"{type_} is in no memory, its space must be one of: {known}")
    dtype = "i32" if space.value == ACCUMULATOR else "i8"
    if str(type_.element_type) != dtype:
        raise Invalid(f"{type_} must be of {dtype}")
    shape = tuple(type_.shape)
    if not type_.has_static_shape or not shape or 0 in shape:
        raise Invalid(f"{type_} must have sizes that are known, and none 0")
    buffer = BufferType(shape, dtype, space.value)
    if _layout(type_) != (list(buffer.strides), 0):
        raise Invalid(f"{type_} must lie densely")
    return buffer


def _layout(type_: ir.MemRefType) -> tuple[list[int], int]:
    try:
        strides, offset = type_.get_strides_and_offset()
    except RuntimeError:
        raise Invalid(f"{type_} has a layout without strides") from None
    return list(strides), offset


def memref_of(buffer: BufferType) -> ir.Type:
    """Return the MLIR type of a buffer, in the current context."""
    element, unknown = ir.Type.parse(buffer.dtype), ir.Location.unknown()
    space = ir.StringAttr.get(buffer.space)
    return ir.MemRefType.get(buffer.shape, element, memory_space=space, loc=unknown)
