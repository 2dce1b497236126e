"""Elementwise ops of tiles: constants, functions of one and two numbers, choice, casts.

Each function has a name and numpy's semantics, in the type of its operands. Integers wrap
around.
"""

from collections.abc import Callable, Mapping

import numpy as np

from ..core.errors import Invalid, need_one_of
from ..core.fields import Operand, Result
from ..core.numerics.functions import erf
from ..core.tensor import COMPUTED, DTYPES, Array, Tensor, is_float, numpy_dtype
from .dialect import TileOp
from .types import FLOAT8, Tile, broadcast, need_computed, size_of

UNARY: Mapping[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "cos": np.cos,
    "erf": lambda x: erf(x).astype(x.dtype),
    "exp": np.exp,
    "exp2": np.exp2,
    "floor": np.floor,
    "log": np.log,
    "log2": np.log2,
    "neg": np.negative,
    "not": np.invert,
    "rsqrt": lambda x: (1 / np.sqrt(x)).astype(x.dtype),
    "sin": np.sin,
    "sqrt": np.sqrt,
}
"""Functions of one number."""

FLOAT_ONLY = (frozenset(UNARY) - {"abs", "neg", "not"}) | {"div", "div_nearest"}
"""Functions that only floats have."""


def _quotient(a: Array, b: Array) -> Array:
    return (a - np.fmod(a, b)) // b  # exact, so that rounding down is no matter


BINARY: Mapping[str, Callable[[Array, Array], Array]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "div_nearest": np.divide,
    "quotient": _quotient,
    "remainder": np.fmod,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "shift_left": np.left_shift,
    "shift_right": np.right_shift,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
"""Functions of two numbers."""

COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
BITWISE = frozenset({"not", "and", "or", "xor"})
INTEGER_ONLY = BITWISE | {"quotient", "shift_left", "shift_right"}
BOOL_TOO = BITWISE | {"eq", "ne"}
"""Functions that i1 has, too."""


class Full(TileOp):
    """Return a tile full of one number.

    `value` has one element and no dimensions; a size of `shape` is a power of two like `4`, or the
    name of a block size like `BM`.
    """

    value: Array
    shape: tuple[str, ...] = ()
    y: Result

    def infer(self) -> Tile:
        tensor = Tensor.of(self.value)
        if tensor.shape:
            raise Invalid(f"value is {tensor}, must have no dimensions")
        need_computed(tensor.dtype)
        return Tile(tuple(map(size_of, self.shape)), tensor.dtype)


class Unary(TileOp):
    """Compute a function of one number for each element.

    Of floats: ceil, cos, erf, exp, exp2, floor, log, log2, rsqrt, sin and sqrt; of integers and i1:
    not; of all numbers: abs and neg.
    """

    x: Operand
    function: str
    y: Result

    def infer(self, x: Tile) -> Tile:
        _check_function(self.function, UNARY, x.dtype)
        return x

    def reference(self, x: Array) -> Array:
        return UNARY[self.function](x)


class Binary(TileOp):
    """Compute a function of two numbers of one type for each element.

    Of floats: div and div_nearest; of integers: quotient, shift_left and shift_right; of integers
    and i1: and, or and xor; of all numbers: add, sub, mul, remainder, max, min, and comparisons,
    which give i1: lt, le, gt and ge; eq and ne are of i1, too. `div_nearest` is rounded to nearest,
    `div` may be wrong by two units in the last place. Quotients of integers are rounded toward
    zero, remainders have the sign of the dividend, and `max` and `min` return NaN where either is
    NaN.

    Quotients by 0 are any number, and so is what a shift by less than 0, or by as many bits as
    there are, gives. Signed numbers keep their sign when they are shifted to the right.
    """

    a: Operand
    b: Operand
    function: str
    y: Result

    def infer(self, a: Tile, b: Tile) -> Tile:
        _check_function(self.function, BINARY, a.dtype)
        _check_same_dtype(a, b)
        return Tile(broadcast(a, b), "i1" if self.function in COMPARISONS else a.dtype)

    def reference(self, a: Array, b: Array) -> Array:
        return BINARY[self.function](a, b)


class Where(TileOp):
    """Select each element from `a` where `condition` is true, else from `b`."""

    condition: Operand
    a: Operand
    b: Operand
    y: Result

    def infer(self, condition: Tile, a: Tile, b: Tile) -> Tile:
        if condition.dtype != "i1":
            raise Invalid(f"condition is {condition}, must be of i1")
        need_computed(a.dtype)
        _check_same_dtype(a, b)
        return Tile(broadcast(condition, a, b), a.dtype)

    def reference(self, condition: Array, a: Array, b: Array) -> Array:
        return np.where(condition, a, b)


class Cast(TileOp):
    """Convert elements to another type: floats to integers toward zero, to floats to the nearest.

    Floats that an integer type cannot represent give any number; integers keep their low bits. To
    i1, the result is whether a number is not 0.
    """

    x: Operand
    to: str
    y: Result

    def infer(self, x: Tile) -> Tile:
        _check_dtype(self.to)
        return Tile(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        return x.astype(numpy_dtype(self.to))


class BitCast(TileOp):
    """See the bits of elements as another type of the same size.

    Floats of 8 bits are made so of ui8, and of nothing else.
    """

    x: Operand
    to: str
    y: Result

    def infer(self, x: Tile) -> Tile:
        need_computed(x.dtype)
        if self.to in FLOAT8 and x.dtype != "ui8":
            raise Invalid(f"sees {x.dtype} as {self.to}, which is made of ui8")
        if self.to not in FLOAT8:
            _check_dtype(self.to)
        if DTYPES[self.to].bits != DTYPES[x.dtype].bits or "i1" in (self.to, x.dtype):
            raise Invalid(f"sees {x.dtype} as {self.to}, must be of the same size, and not i1")
        return Tile(x.shape, self.to)

    def reference(self, x: Array) -> Array:
        return x.view(numpy_dtype(self.to))


def _check_function(name: str, table: Mapping[str, object], dtype: str) -> None:
    """Raise Invalid unless a table has a function, and elements of a type have it, too."""
    need_one_of("function", name, table)
    need_computed(dtype)
    if name in FLOAT_ONLY and not is_float(dtype):
        raise Invalid(f"function {name} takes floats, not {dtype}")
    if name in INTEGER_ONLY and is_float(dtype):
        raise Invalid(f"function {name} takes integers, not {dtype}")
    if name not in BOOL_TOO and dtype == "i1":
        raise Invalid(f"function {name} takes numbers, not {dtype}")


def _check_same_dtype(a: Tile, b: Tile) -> None:
    if a.dtype != b.dtype:
        raise Invalid(f"operands are of {a.dtype} and {b.dtype}, must be the same")


def _check_dtype(dtype: str) -> None:
    if dtype not in COMPUTED:
        raise Invalid(f"casts to '{dtype}', must be one of {', '.join(COMPUTED)}")
