"""Types of values in programs: buffers in memories, and tokens of completed ops."""

import math
from dataclasses import dataclass

from ..core.attributes import read_once
from ..core.errors import Invalid
from ..core.mlir import announce_dialect, ir
from ..core.tensor import Shape

TOKEN = "!async.token"
"""The type of the token of a scheduled op, for which other ops wait."""

announce_dialect("async")  # the type of tokens

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
    """The type of a buffer: its shape, its element type, and its space."""

    shape: Shape
    dtype: str
    space: str

    @property
    def itemsize(self) -> int:
        """Return the bytes of an element."""
        return _BYTES[self.dtype]

    @property
    def strides(self) -> Shape:
        """Return the strides in elements; the last dimension is contiguous."""
        return tuple(math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape)))

    @property
    def size_bytes(self) -> int:
        """Return the bytes of the buffer."""
        return math.prod(self.shape) * self.itemsize

    def __str__(self) -> str:
        return f"memref<{''.join(f'{d}x' for d in self.shape)}{self.dtype}, {self.space}>"


def buffer_of(type_: ir.Type) -> BufferType:
    """Return the buffer type of an MLIR type; raise Invalid for any other type."""
    return read_once(_read, type_)


def _read(type_: ir.Type) -> BufferType:
    if not isinstance(type_, ir.MemRefType):
        raise Invalid(f"operand or result has type {type_}, must be a memref")
    space = type_.memory_space
    if not isinstance(space, ir.StringAttr) or space.value not in SPACES:
        known = ", ".join(SPACES)
        raise Invalid(f"{type_} is in no memory, its space must be one of: {known}")
    dtype = dtype_of(space.value)
    if str(type_.element_type) != dtype:
        raise Invalid(f"{type_} must be of {dtype}")
    shape = tuple(type_.shape)
    if not type_.has_static_shape or not shape or 0 in shape:
        raise Invalid(f"{type_} must have sizes that are known, and none 0")
    buffer = BufferType(shape, dtype, space.value)
    if _layout(type_) != (list(buffer.strides), 0):
        raise Invalid(f"{type_} must be dense")
    return buffer


def dtype_of(space: str) -> str:
    """Return the element type of the buffers of a space."""
    return "i32" if space == ACCUMULATOR else "i8"


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
