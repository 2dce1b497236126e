"""What rules ask of values."""

import math

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.errors import Invalid
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op, view
from ....dialects.core.sizes.atoms import Size, is_symbolic
from ....dialects.core.sizes.checks import need
from ....dialects.core.tensor import Array, Shape, Tensor, dtype_of, is_integer

Value = ir.Value

SMALL = 256
"""Up to this many elements a filled tensor is written out; a larger one is expanded."""


def tensor(value: ir.Value) -> Tensor:
    """Return the plain type of a value."""
    return tensor_of(value.type)


def cast(value: ir.Value, dtype: str) -> ir.Value:
    """Convert to an element type; the value itself when it has it."""
    return value if tensor(value).dtype == dtype else tri.Cast.build(value, to=dtype).y


def constant(array: Array) -> ir.Value:
    """Make a small constant at the current insertion point."""
    return tri.Constant.build(value=array).y


def constant_of(value: ir.Value | None) -> Array | None:
    """Return the array of a value that a constant op in the IR makes, None for any other."""
    op = view(value.owner) if isinstance(value, ir.OpResult) else None
    return op.value if isinstance(op, tri.Constant) else None


def filled(shape: Shape, element: Array) -> Array | Op:
    """Make a tensor of equal elements: an array when small, an expanded scalar when not."""
    for size in shape:
        need(size, 0, f"has shape {list(shape)}, must not be negative")
    if any(map(is_symbolic, shape)):
        return tri.Expand.build(constant(single(element)), shape=shape)
    small = math.prod(max(size, 1) for size in shape) <= SMALL
    scalar = single(element)
    return np.full(shape, scalar) if small else tri.Expand.build(constant(scalar), shape=shape)


def ints(array: Array) -> tuple[int, ...]:
    """Return the elements of an array; Invalid unless they are integers."""
    if not is_integer(dtype_of(array.dtype)):
        raise Invalid(f"has numbers of type {array.dtype}, must be integers")
    return tuple(int(element) for element in array.reshape(-1))


def only(sizes: Shape) -> Size:
    """Return the only one of sizes; Invalid unless there is one."""
    if len(sizes) != 1:
        raise Invalid(f"has {len(sizes)} numbers, must have 1")
    return sizes[0]


def numbers(sizes: Shape, shape: Shape) -> Array | Op:
    """Make a tensor of sizes: an array when all are known, an op when not."""
    if any(map(is_symbolic, sizes)):
        return tri.Sizes.build(values=sizes, shape=shape)
    return np.array(sizes, np.int64).reshape(shape)


def number(size: Size) -> ir.Value:
    """Make a scalar of a size."""
    made = numbers((size,), ())
    return made.results[0] if isinstance(made, Op) else constant(made)


def counted(size: Size, shape: Shape) -> ir.Value:
    """Make a tensor of the numbers from 0 to `size` - 1."""
    if not is_symbolic(size):
        return constant(np.arange(size, dtype=np.int64).reshape(shape))
    return tri.Reshape.build(tri.Iota.build(size=size).y, shape=shape).y


def single(array: Array) -> Array:
    """Return an array's only element as a scalar; Invalid unless there is one."""
    if array.size != 1:
        raise Invalid(f"has {array.size} numbers, must have 1")
    return array.reshape(())
