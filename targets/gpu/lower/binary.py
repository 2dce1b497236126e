"""Lowerings of arithmetic of two tensors."""

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.tensor import DTYPES
from ...elementwise import constant_exponent
from ..kernels import trigonometry
from ..kernels.approximation import with_sign_of
from ..kernels.conversion import convert
from ..kernels.power import EASY_POWERS, integer_power, power, snapped
from ..kernels.remainder import quotient, remainder
from ..kernels.value import Value
from ..registry import accepts, elementwise


@elementwise(tri.Div)
def lower_div(op: tri.Div, a: Value, b: Value) -> Value:
    return a / b if a.is_float else quotient(a, b)


@elementwise(tri.Mod)
def lower_mod(op: tri.Mod, a: Value, b: Value) -> Value:
    rest = remainder(a, b)
    if op.fmod or a.kind == "uint":
        return rest
    opposite = rest.less(0).logical_xor(b.less(0))
    if a.is_float:
        rest = rest.equal(0).select(with_sign_of(rest.like(0), b), rest)
    return rest.not_equal(0).logical_and(opposite).select(rest + b, rest)


@accepts(tri.Mod)
def mod_of_at_most_f32(op: tri.Mod) -> bool:
    """Takes remainders of integers and of floats up to f32."""
    return tensor_of(op.a.type).dtype != "f64"


@elementwise(tri.Atan2)
def lower_atan2(op: tri.Atan2, a: Value, b: Value) -> Value:
    return trigonometry.atan2(a, b)


@elementwise(tri.Pow)
def lower_pow(op: tri.Pow, a: Value, b: Value) -> Value:
    if not a.is_float and not b.is_float:
        return integer_power(a, b)
    known = constant_exponent(op)
    if a.is_float and known in EASY_POWERS:
        return EASY_POWERS[known](a)
    result = power(convert(a, "f64"), convert(b, "f64"))
    return convert(result if a.is_float else snapped(result), a.dtype)


@elementwise(tri.ShiftLeft)
def lower_shift_left(op: tri.ShiftLeft, a: Value, b: Value) -> Value:
    fits = _is_shift(b)
    return fits.select(a.shift_left(fits.select(b, 0)), 0)


@elementwise(tri.ShiftRight)
def lower_shift_right(op: tri.ShiftRight, a: Value, b: Value) -> Value:
    # A shift by all bits or more is two shifts by all bits but one.
    most = DTYPES[a.dtype].bits - 1
    fits = _is_shift(b)
    far = a.shift_right(most).shift_right(most)
    return fits.select(a.shift_right(fits.select(b, 0)), far)


def _is_shift(b: Value) -> Value:
    """Test that a shift leaves a bit of the number."""
    bits = DTYPES[b.dtype].bits
    return b.cast(f"ui{bits}").less(bits)
