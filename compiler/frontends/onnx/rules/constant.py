"""ONNX rules for operators whose result does not depend on the elements of their inputs.

Rules return arrays: the importer makes them constants or weights, by their size.
"""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.op import Op
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Array, is_integer, numpy_dtype
from ...core.ranges import range_of_sizes
from ...core.sizes.run_time_shapes import count_at_run_time
from ...core.values import (
    cast,
    counted,
    filled,
    number,
    numbers,
    only,
    single,
    tensor,
)
from ..element_types import element_type
from ..items import Item
from ..registry import ComputedSizes, Node, Value, onnx_op

LONGEST = 1 << 31
"""A range of more numbers than this is taken for a mistake."""


@onnx_op("Constant", since=1)
def constant(
    *,
    value: Array | None = None,
    sparse_value: Array | None = None,
    value_float: float | None = None,
    value_floats: tuple[float, ...] | None = None,
    value_int: int | None = None,
    value_ints: tuple[int, ...] | None = None,
    value_string: str | None = None,
    value_strings: tuple[str, ...] | None = None,
) -> Array:
    forms = (
        (value, None),
        (sparse_value, None),
        (value_float, np.float32),
        (value_floats, np.float32),
        (value_int, np.int64),
        (value_ints, np.int64),
        (value_string, object),
        (value_strings, object),
    )
    given = [np.asarray(v, dtype) for v, dtype in forms if v is not None]
    if len(given) != 1:
        raise Invalid(f"has {len(given)} values, must have 1")
    return given[0]


@onnx_op("ConstantOfShape", since=9)
def constant_of_shape(shape: ComputedSizes, *, value: Array | None = None) -> Array | Op:
    return filled(shape, np.zeros((), np.float32) if value is None else value)


@onnx_op("Identity", since=1)
def identity(x: Item) -> Item:
    return x


@onnx_op("Dropout", since=7)
def dropout_7(x: Value, *, ratio: float = 0.5) -> tuple[Value, Array | Op]:
    mask = np.ones((), numpy_dtype(tensor(x).dtype))  # of the type of x, until version 10
    return x, filled(tensor(x).shape, mask)


@onnx_op("Dropout", since=10)
def dropout_10(x: Value, *, ratio: float = 0.5) -> tuple[Value, Array | Op]:
    return x, filled(tensor(x).shape, np.ones((), np.bool_))


@onnx_op("Shape", since=1)
def shape(x: Value, *, start: int = 0, end: int | None = None) -> Array | Op:
    sizes = tensor(x).shape[start:end]
    return numbers(sizes, (len(sizes),))


@onnx_op("Size", since=1)
def size(x: Value) -> Array | Op:
    return numbers((tensor(x).size,), ())


@onnx_op("EyeLike", since=9)
def eye_like(x: Value, *, dtype: int | None = None, k: int = 0) -> Array | Value:
    x_type = tensor(x)
    if x_type.rank != 2:
        raise Invalid(f"has an input of rank {x_type.rank}, must be 2")
    to = x_type.dtype if dtype is None else element_type(dtype)
    rows, columns = x_type.shape
    if not x_type.is_static:
        diagonal = tri.Add.build(counted(rows, (rows, 1)), number(k)).y
        return cast(tri.Equal.build(diagonal, counted(columns, (columns,))).y, to)
    return np.eye(rows, columns, k, dtype=numpy_dtype(to))


@onnx_op("Range", since=11)
def range_(
    start: Value, limit: Value, delta: Value, *, stash_type: int = 1, node: Node
) -> Array | Value:
    """Count from start to limit; floats narrower than f32 are computed in f32."""
    values = [start, limit, delta]
    arrays = [array for value in values if (array := node.evaluate(value)) is not None]
    if len(arrays) == len(values):
        return _known_range(*arrays)
    sizes = [size for value in values for size in _known_sizes(value, node)]
    if len(sizes) == len(values) and None not in sizes:
        first, last, step = (only(node.sizes(value, "a size")) for value in values)
        return range_of_sizes(first, last, step, start, delta)
    count = only(node.found.compute(count_at_run_time(start, limit, delta)))
    dtype = tensor(delta).dtype
    wide = "f32" if dtype in ("f16", "bf16") else dtype
    first, step = (tri.Reshape.build(cast(each, wide), shape=()).y for each in (start, delta))
    scaled = tri.Mul.build(cast(tri.Iota.build(size=count).y, wide), step).y
    return cast(tri.Add.build(scaled, first).y, dtype)


def _known_sizes(value: Value, node: Node) -> list[Size | None]:
    return node.found.known(value) if is_integer(tensor(value).dtype) else []


def _known_range(start: Array, limit: Array, delta: Array) -> Array:
    """Count from start to limit; floats narrower than f32 are computed in f32."""
    narrow = delta.dtype.itemsize < 4 and delta.dtype.kind not in "iu"
    wide = np.float32 if narrow else delta.dtype
    first, last, step = (single(v).astype(wide) for v in (start, limit, delta))
    steps = (last.item() - first.item()) / step.item() if step else math.nan
    if not steps < LONGEST:
        most = f"at most {LONGEST} elements" if math.isfinite(steps) else "finite"
        raise Invalid(f"counts from {first} to {last} in steps of {step}, must be {most}")
    count = max(math.ceil(steps), 0)
    return (first + np.arange(count, dtype=np.int64).astype(wide) * step).astype(delta.dtype)
