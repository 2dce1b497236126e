"""Rules for tensors that are made of numbers alone."""

import math
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid, Unsupported
from .....dialects.core.op import Op
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import Array, is_float, is_integer, numpy_dtype
from ...core.ranges import range_of_sizes
from ...core.values import cast, constant, filled, number, tensor
from ..complex_expressions import AnyOperand, joined, parts_of
from ..element_types import COMPLEX_PARTS, torch_type
from ..operands import plain
from ..promotion import Operand, as_type, promote, promoted_type
from ..registry import Complex, Value, torch_op
from ..views import Ints, expand, parts, reshape, shape_of

LONGEST = 1 << 31
"""A range of more numbers than this is taken for a mistake."""

Made = Array | Op | Complex


def _full(shape: Ints | None, value: Operand, dtype: str) -> Array | Op:
    if isinstance(value, Value) or (not isinstance(value, float) and is_symbolic(value)):
        return tri.Expand.build(reshape(as_type(value, dtype), ()), shape=shape or ())
    return filled(shape or (), np.array(value).astype(numpy_dtype(dtype)))


def _filled(
    shape: Ints | None, value: AnyOperand, name: str | None, like: str | Value | Complex
) -> Made:
    """Fill a shape, in the type of a name of torch's or, without one, in that of a tensor."""
    default = like if isinstance(like, str) else tensor(parts(like)).dtype
    is_complex = name in COMPLEX_PARTS or (name is None and isinstance(like, Complex))
    if not is_complex:
        if isinstance(value, (Complex, complex)):
            raise Invalid(f"fills {name or default} with {value}, must be a real number")
        return _full(shape, value, _dtype(name, default))
    dtype = default if name is None else COMPLEX_PARTS[name]
    made = [_full(shape, part, dtype) for part in parts_of(value)]
    return joined(*(each.results[0] if isinstance(each, Op) else constant(each) for each in made))


def _dtype(name: str | None, default: str) -> str:
    return default if name is None else torch_type(name)


@torch_op("torch.zeros", "torch.empty")
def zeros(size: Ints | None = None, *, dtype: str | None = None) -> Made:
    """Make zeros; uninitialised memory has them as well."""
    return _filled(size, 0, dtype, "f32")


@torch_op("torch.ones")
def ones(size: Ints | None = None, *, dtype: str | None = None) -> Made:
    return _filled(size, 1, dtype, "f32")


@torch_op("torch.full")
def full(size: Ints | None = None, *, fill_value: AnyOperand, dtype: str | None = None) -> Made:
    if isinstance(fill_value, (Complex, complex)):
        return _filled(size, fill_value, dtype or "torch.complex64", "f32")
    by_value = promoted_type(fill_value)
    return _filled(size, fill_value, dtype, "f32" if is_float(by_value) else by_value)


@torch_op("torch.zeros_like", "torch.empty_like")
def zeros_like(input: Value | Complex, *, dtype: str | None = None) -> Made:
    return _filled(shape_of(input), 0, dtype, input)


@torch_op("torch.ones_like")
def ones_like(input: Value | Complex, *, dtype: str | None = None) -> Made:
    return _filled(shape_of(input), 1, dtype, input)


@torch_op("torch.full_like")
def full_like(input: Value | Complex, *, fill_value: AnyOperand, dtype: str | None = None) -> Made:
    return _filled(shape_of(input), fill_value, dtype, input)


@torch_op("Tensor.new_zeros", "Tensor.new_empty")
def new_zeros(
    input: Value | Complex, size: Ints | None = None, *, dtype: str | None = None
) -> Made:
    return _filled(size, 0, dtype, input)


@torch_op("Tensor.new_ones")
def new_ones(input: Value | Complex, size: Ints | None = None, *, dtype: str | None = None) -> Made:
    return _filled(size, 1, dtype, input)


@torch_op("Tensor.new_full")
def new_full(
    input: Value | Complex,
    size: Ints | None = None,
    *,
    fill_value: AnyOperand,
    dtype: str | None = None,
) -> Made:
    return _filled(size, fill_value, dtype, input)


@torch_op("Tensor.fill")
def fill(input: Value, value: Operand) -> Value:
    (filling,) = promote(value, dtype=tensor(input).dtype)
    return expand(filling, tensor(input).shape)


@torch_op("torch.arange")
def arange(
    start: Array | int | float = 0,
    end: Array | int | float | None = None,
    step: Array | int | float = 1,
    *,
    dtype: str | None = None,
) -> Array | Value:
    """Count from start to before the end; integers unless one of the three is a float."""
    if end is None:
        raise Invalid("has no end")
    ends: tuple[Any, ...] = (start, end, step)
    if any(map(is_symbolic, ends)):
        return _range_of_sizes(*ends, dtype=_dtype(dtype, "i64"))
    first, last, by = (np.asarray(v).reshape(()) for v in (start, end, step))
    if dtype is not None and is_integer(torch_type(dtype)):
        first, last, by = (np.trunc(v).astype(np.int64) for v in (first, last, by))
    floats = any(v.dtype.kind not in "iub" for v in (first, last, by))
    low, high, width = (v.astype(np.float64).item() for v in (first, last, by))
    count = (high - low) / width if width else math.nan
    if not count < LONGEST:
        most = f"at most {LONGEST} elements" if math.isfinite(count) else "finite"
        raise Invalid(f"counts from {low} to {high} in steps of {width}, must be {most}")
    to = numpy_dtype(_dtype(dtype, "f32" if floats else "i64"))
    counted: Any = np.arange(max(math.ceil(count), 0))
    exact: Any = (low, width) if floats else (int(first), int(by))
    return (exact[0] + counted * exact[1]).astype(to)


def _range_of_sizes(start: Any, end: Any, step: Any, dtype: str) -> Value:
    first, last, by = (plain(each, (int,)) for each in (start, end, step))
    if first is None or last is None or by is None:
        raise Unsupported(f"counts from {start} to {end} in steps of {step}, must be integers")
    values = [cast(number(size), dtype) for size in (first, by)]
    return range_of_sizes(first, last, by, *values)


@torch_op("aten::hann_window")
def hann_window(window_length: int, periodic: bool = True, *, dtype: str | None = None) -> Array:
    """Make a window of Hann; a periodic one has an end that is left out."""
    ends = max(window_length - 1 + periodic, 1)
    places = np.arange(window_length) / ends
    window = 0.5 - 0.5 * np.cos(2 * np.pi * places) if window_length > 1 else np.ones(window_length)
    return window.astype(numpy_dtype(_dtype(dtype, "f32")))


@torch_op("torch.tril")
def tril(input: Value, *, diagonal: int = 0) -> tri.Trilu:
    return tri.Trilu.build(input, k=diagonal, upper=False)


@torch_op("torch.triu")
def triu(input: Value, *, diagonal: int = 0) -> tri.Trilu:
    return tri.Trilu.build(input, k=diagonal, upper=True)


@torch_op("aten::tril_indices")
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: str | None = None) -> Array:
    """List the places of a matrix on and below a diagonal: a row of rows, and one of columns."""
    places = np.stack(np.tril_indices(row, offset, col))
    return places.astype(numpy_dtype(_dtype(dtype, "i64")))


@torch_op("aten::triu_indices")
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: str | None = None) -> Array:
    places = np.stack(np.triu_indices(row, offset, col))
    return places.astype(numpy_dtype(_dtype(dtype, "i64")))


@torch_op("torch.diag")
def diag(input: Value, *, diagonal: int = 0) -> Value:
    """Take a diagonal of a matrix, or make a matrix with a vector as its diagonal."""
    sizes = tensor(input).shape
    if len(sizes) not in (1, 2):
        raise Invalid(f"has an input {tensor(input)}, must be a vector or a matrix")
    down, right = max(-diagonal, 0), max(diagonal, 0)
    if len(sizes) == 2:
        count = max(min(sizes[0] - down, sizes[1] - right), 0)
        at = np.arange(count)[:, None] + np.array([down, right])
        return tri.GatherNd.build(input, constant(at)).y
    size = sizes[0] + abs(diagonal)
    column = tri.Reshape.build(input, shape=(sizes[0], 1)).y
    rows = tri.Pad.build(column, pads=(down, 0, right, 0)).y
    zero = constant(np.zeros((), numpy_dtype(tensor(input).dtype)))
    on = constant(np.eye(size, k=diagonal, dtype=np.bool_))
    return tri.Where.build(on, rows, zero).y
