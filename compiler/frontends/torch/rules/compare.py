"""Rules for comparisons, logic, bits and choices, element by element."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.op import Op
from .....dialects.core.tensor import is_float
from ...core.values import cast, constant, tensor
from ..complex_expressions import AnyOperand, joined, parts_of
from ..promotion import Operand, as_type, promote, promoted_type
from ..registry import Complex, Value, torch_op
from .activation import limited

COMPARISONS: tuple[tuple[str, type[Op]], ...] = (
    ("torch.ge", tri.GreaterEqual),
    ("torch.gt", tri.Greater),
    ("torch.le", tri.LessEqual),
    ("torch.lt", tri.Less),
)
LOGIC: tuple[tuple[str, type[Op]], ...] = (
    ("torch.logical_and", tri.And),
    ("torch.logical_or", tri.Or),
    ("torch.logical_xor", tri.Xor),
)
BITS: tuple[tuple[str, str, type[Op], type[Op] | None], ...] = (
    ("torch.bitwise_and", "aten::__and__", tri.BitwiseAnd, tri.And),
    ("torch.bitwise_or", "aten::__or__", tri.BitwiseOr, tri.Or),
    ("torch.bitwise_xor", "aten::__xor__", tri.BitwiseXor, tri.Xor),
    ("torch.bitwise_left_shift", "aten::__lshift__", tri.ShiftLeft, None),
    ("torch.bitwise_right_shift", "aten::__rshift__", tri.ShiftRight, None),
)
"""Types of operators, the op of integers, and that of bools."""


def _comparison(op: type[Op]) -> Callable[..., Op]:
    def compare(input: Operand, other: Operand) -> Op:
        return op.build(*_comparable(input, other))

    return compare


def _comparable(a: Operand, b: Operand) -> tuple[Value, ...]:
    """Promote operands of a comparison; bools are compared as integers, for want of an order."""
    dtype = promoted_type(a, b)
    return promote(a, b, dtype="ui8" if dtype == "i1" else dtype)


for _type, _op in COMPARISONS:
    torch_op(_type)(_comparison(_op))


@torch_op("torch.eq")
def eq(input: AnyOperand, other: AnyOperand) -> Any:
    if isinstance(input, (Complex, complex)) or isinstance(other, (Complex, complex)):
        return tri.Not.build(ne(input, other).y)
    return tri.Equal.build(*_comparable(input, other))


@torch_op("torch.ne")
def ne(input: AnyOperand, other: AnyOperand) -> Any:
    if isinstance(input, (Complex, complex)) or isinstance(other, (Complex, complex)):
        pairs = zip(parts_of(input), parts_of(other), strict=True)
        return tri.Or.build(*(ne(*pair).y for pair in pairs))
    return tri.Not.build(tri.Equal.build(*_comparable(input, other)).results[0])


def _logic(op: type[Op]) -> Callable[..., Op]:
    def combine(input: Value, other: Value) -> Op:
        return op.build(truth(input), truth(other))

    return combine


def truth(x: Value) -> Value:
    """Return which elements are not zero."""
    return cast(x, "i1")


for _type, _op in LOGIC:
    torch_op(_type)(_logic(_op))


@torch_op("torch.logical_not")
def logical_not(input: Value) -> tri.Not:
    return tri.Not.build(truth(input))


def _bitwise(of_integers: type[Op], of_bools: type[Op] | None) -> Callable[..., Op]:
    def combine(input: Operand, other: Operand) -> Op:
        a, b = promote(input, other)
        if tensor(a).dtype != "i1":
            return of_integers.build(a, b)
        if of_bools is None:
            raise Invalid("shifts bools, must be integers")
        return of_bools.build(a, b)

    return combine


for _type, _method, _of_integers, _of_bools in BITS:
    torch_op(_type, _method)(_bitwise(_of_integers, _of_bools))


@torch_op("torch.bitwise_not")
def bitwise_not(input: Value) -> Op:
    boolean = tensor(input).dtype == "i1"
    return tri.Not.build(input) if boolean else tri.BitwiseNot.build(input)


@torch_op(
    *("torch.where", "aten::where.self", "aten::where.Scalar"),
    *("aten::where.ScalarOther", "aten::where.ScalarSelf"),
)
def where(condition: Value, input: AnyOperand, other: AnyOperand) -> Any:
    if isinstance(input, (Complex, complex)) or isinstance(other, (Complex, complex)):
        return _chosen_parts(condition, input, other)
    return tri.Where.build(truth(condition), *promote(input, other))


def _chosen_parts(condition: Value, first: AnyOperand, second: AnyOperand) -> Complex:
    """Choose complex numbers by choosing their parts."""
    pairs = zip(parts_of(first), parts_of(second), strict=True)
    return joined(*(tri.Where.build(truth(condition), *promote(*pair)).y for pair in pairs))


@torch_op("Tensor.masked_fill", "torch.masked_fill")
def masked_fill(input: Value | Complex, mask: Value, value: AnyOperand) -> Any:
    if isinstance(input, Complex) or isinstance(value, (Complex, complex)):
        return _chosen_parts(mask, value, input)
    (filling,) = promote(value, dtype=tensor(input).dtype)
    return tri.Where.build(truth(mask), filling, input)


@torch_op("torch.clamp", "torch.clip", "aten::clamp")
def clamp(input: Value, min: Operand | None = None, max: Operand | None = None) -> Value:
    """Limit elements; by numbers that the element type can hold in one op."""
    limits = [limit for limit in (min, max) if limit is not None]
    if not limits:
        raise Invalid("has neither min nor max")
    dtype = promoted_type(input, *limits)
    if dtype == "i1":  # bools have no order
        wide = (None if x is None else as_type(x, "ui8") for x in (min, max))
        return cast(clamp(cast(input, "ui8"), *wide), dtype)
    x = cast(input, dtype)
    low = None if isinstance(min, Value) or min is None else min
    high = None if isinstance(max, Value) or max is None else max
    if is_float(dtype) or low is not None or high is not None:
        x = x if low is None and high is None else limited(x, low, high)
    if isinstance(min, Value):
        x = tri.Maximum.build(x, cast(min, dtype)).y
    return tri.Minimum.build(x, cast(max, dtype)).y if isinstance(max, Value) else x


@torch_op("torch.lerp")
def lerp(input: Value, end: Value, weight: Operand) -> Value:
    (share,) = promote(weight, dtype=tensor(input).dtype)
    step = tri.Mul.build(tri.Sub.build(end, input).y, share).y
    return tri.Add.build(input, step).y


@torch_op("torch.isnan")
def isnan(input: Value) -> Op:
    return tri.IsNan.build(input) if is_float(tensor(input).dtype) else never(input)


@torch_op("torch.isinf")
def isinf(input: Value) -> Op:
    return tri.IsInf.build(input) if is_float(tensor(input).dtype) else never(input)


def never(x: Value) -> tri.Expand:
    """Return false for each element."""
    return tri.Expand.build(constant(np.zeros((), np.bool_)), shape=tensor(x).shape)
