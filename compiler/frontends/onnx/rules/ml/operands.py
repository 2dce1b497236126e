"""What the rules of `ai.onnx.ml` ask of their operands."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.tensor import Array, is_float, numpy_dtype
from ....core.values import cast, constant, tensor
from ...registry import Value

Listed = Array | tuple[int, ...] | tuple[float, ...] | tuple[str, ...]


def texts(listed: tuple[str, ...]) -> Array:
    """Return strings as an array."""
    return np.array(listed, object)


def is_text(array: Array) -> bool:
    """Return whether an array has strings."""
    return array.dtype == object


def given_list(what: str, *lists: Listed | None) -> Array:
    """Return the one list that is given, of integers, floats or text; Invalid unless there is."""
    arrays = [_array(listed) for listed in lists if listed is not None and len(listed)]
    if len(arrays) != 1:
        raise Invalid(f"has {len(arrays)} lists of {what}, must have 1")
    return arrays[0].reshape(-1)


def _array(listed: Listed) -> Array:
    if isinstance(listed, np.ndarray):
        return listed
    kinds = {int: np.int64, float: np.float32, str: object}
    return np.array(listed, kinds[type(listed[0])])


def floats(x: Value) -> Value:
    """Convert integers to f32; leave floats as they are."""
    return x if is_float(tensor(x).dtype) else cast(x, "f32")


def matrix(x: Value, dtype: str = "f32") -> Value:
    """Return samples as [N, features] of an element type; a vector is one sample."""
    shape = tensor(x).shape
    if len(shape) not in (1, 2):
        raise Invalid(f"has input {tensor(x)}, must have rank 1 or 2")
    if len(shape) == 1:
        x = tri.Reshape.build(x, shape=(1, *shape)).y
    return cast(x, dtype)


def row(numbers: tuple[float, ...] | tuple[int, ...] | Array, like: Value) -> Value:
    """Make a constant of one number, or one for each feature, with the element type of a value."""
    features = tensor(like).shape[-1]
    if len(numbers) not in (1, features):
        raise Invalid(f"has {len(numbers)} numbers, must have 1 or {features}, one per feature")
    return numbers_like(numbers, like)


def numbers_like(numbers: object, like: Value) -> Value:
    """Make a constant with the element type of a value."""
    return constant(np.array(numbers).astype(numpy_dtype(tensor(like).dtype)))


def column(x: Value, index: int) -> Value:
    """Return one column of a matrix as a vector."""
    at = constant(np.array(index))
    return tri.Gather.build(x, at, axis=tensor(x).rank - 1).y
