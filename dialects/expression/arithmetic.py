"""The functions of expressions on numpy arrays and numbers: their reference semantics."""

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from ..core.errors import Invalid
from ..core.numerics.functions import erf, integer_power
from ..core.numerics.precision import accumulator
from ..core.tensor import Array, Tensor, normalize_axis, numpy_dtype
from .functions import FLOAT_FUNCTIONS, SIZE, Function
from .promotion import Number, signature, simplified

_NUMPY_NAMES = {
    **{"acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh"},
    **{"atan": "arctan", "atanh": "arctanh"},
}


def _same(x: Array) -> Array:
    return x


def _reciprocal(x: Array) -> Array:
    return 1 / x


def _rsqrt(x: Array) -> Array:
    return 1 / np.sqrt(x)


def _sign(x: Array) -> Array:
    """Return -1, 0 or 1; of NaN 0, as torch does."""
    return x if x.dtype == np.bool_ else np.where(x == x, np.sign(x), np.zeros_like(x))


def _square(x: Array) -> Array:
    return x * x


def _whole(function: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """Round floats; integers are whole."""

    def rounded(x: Array) -> Array:
        return function(x) if np.issubdtype(x.dtype, np.floating) else x

    return rounded


def _power(a: Array, b: Array) -> Array:
    return np.power(a, b) if np.issubdtype(a.dtype, np.floating) else integer_power(a, b)


_OURS: dict[str, Callable[..., Any]] = {"erf": erf, "reciprocal": _reciprocal, "rsqrt": _rsqrt}

ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{n: _OURS.get(n) or getattr(np, _NUMPY_NAMES.get(n, n)) for n in FLOAT_FUNCTIONS},
    "abs": np.abs,
    "ceil": _whole(np.ceil),
    "floor": _whole(np.floor),
    "int": _same,
    "neg": np.negative,
    "round": _whole(np.rint),
    "sign": _sign,
    "square": _square,
    "torch.bool": _same,
    "torch.float": _same,
    "torch.long": _same,
    "trunc": _whole(np.trunc),
    "add": np.add,
    "and": np.bitwise_and,
    "atan2": np.arctan2,
    "div": np.true_divide,
    "floor_divide": np.floor_divide,
    "fmod": np.fmod,
    "logaddexp": np.logaddexp,
    "lshift": np.left_shift,
    "max": np.maximum,
    "maximum": np.maximum,
    "min": np.minimum,
    "minimum": np.minimum,
    "mul": np.multiply,
    "or": np.bitwise_or,
    "pow": _power,
    "remainder": np.remainder,
    "rshift": np.right_shift,
    "sub": np.subtract,
    "xor": np.bitwise_xor,
}
"""Each function of arrays that have the element type that it computes in."""


def compute(function: Function, arguments: Sequence[Any]) -> Any:
    """Apply a function to arrays and numbers; of numbers alone it makes a number.

    Integers wrap around, f16 and bf16 are computed in f32 and rounded once. Raises Invalid for
    arguments that the function does not take, Unsupported for complex ones.
    """
    types = [_type(argument) for argument in arguments]
    if function is SIZE:
        return size_of(types)
    operands, result = signature(function, types)
    function, arguments = simplified(function, arguments)
    with np.errstate(all="ignore"):
        arrays = [_as(argument, operands) for argument in arguments]
        y = np.asarray(ARITHMETIC[function.name](*arrays)).astype(numpy_dtype(result))
    return y if any(isinstance(t, Tensor) for t in types) else y.item()


def size_of(arguments: Sequence[Any]) -> int | tuple[int, ...]:
    """Return the size of an axis of a tensor type, or those of all axes; Invalid otherwise."""
    tensor, *axis = arguments
    if not isinstance(tensor, Tensor):
        raise Invalid(f"'size' takes {tensor}, must be a tensor")
    if not axis:
        return tensor.shape
    if type(axis[0]) is not int:
        raise Invalid(f"'size' takes axis {axis[0]}, must be an integer")
    return tensor.shape[normalize_axis(axis[0], len(tensor.shape))]


def _type(argument: Any) -> Any:
    """Return the tensor type of an array; numbers as they are."""
    return Tensor.of(cast("Array", argument)) if isinstance(argument, np.ndarray) else argument


def _as(argument: Array | Number, dtype: str) -> Array:
    """Convert to an element type, then to its type of computation; numbers in one step."""
    array = argument.astype(numpy_dtype(dtype)) if isinstance(argument, np.ndarray) else argument
    return np.asarray(array).astype(numpy_dtype(accumulator(dtype)))
