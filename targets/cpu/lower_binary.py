"""Lowerings of arithmetic on two tensors."""

from collections.abc import Callable

from ...dialects import tri
from ...dialects.core.tensor import DTYPES
from ..elementwise import constant_exponent
from .conversion import convert, widened
from .index import carry
from .number import Number, math
from .registry import elementwise


@elementwise(tri.Div)
def lower_div(op: tri.Div, a: Number, b: Number) -> Number:
    return a / b


@elementwise(tri.Mod)
def lower_mod(op: tri.Mod, a: Number, b: Number) -> Number:
    rest = a.remainder(b)
    if op.fmod or a.kind == "uint":
        return rest
    opposite = rest.less(0).logical_xor(b.less(0))
    if a.is_float:  # a zero takes the sign of b
        zero = rest.with_value(math.copysign(rest.like(0).value, b.value))
        rest = rest.equal(0).select(zero, rest)
    return rest.not_equal(0).logical_and(opposite).select(rest + b, rest)


@elementwise(tri.Atan2)
@widened
def lower_atan2(op: tri.Atan2, a: Number, b: Number) -> Number:
    return a.with_value(math.atan2(a.value, b.value))


@elementwise(tri.Pow)
@widened
def lower_pow(op: tri.Pow, a: Number, b: Number) -> Number:
    if not a.is_float and not b.is_float:
        return _integer_power(a, b)
    known = constant_exponent(op)
    if a.is_float and known in _EASY_POWERS:
        return _EASY_POWERS[known](a)
    if a.dtype == "f32" and b.dtype == "f32":
        return a.with_value(math.powf(a.value, b.value))
    wide = convert(a, "f64")
    return convert(wide.with_value(math.powf(wide.value, convert(b, "f64").value)), a.dtype)


def _root(a: Number) -> Number:
    """Compute a to the power 1/2, which differs from the square root of -0 and -inf."""
    root = (a + 0.0).apply(math.sqrt)
    return a.equal(float("-inf")).select(a.like(float("inf")), root)


_EASY_POWERS: dict[float, Callable[[Number], Number]] = {
    -1.0: lambda a: 1 / a,
    0.5: _root,
    1.0: lambda a: a,
    2.0: lambda a: a * a,
    3.0: lambda a: a * a * a,
}


def _integer_power(a: Number, b: Number) -> Number:
    """Square and multiply in the type of `a`; negative powers are 0 but for 1 and -1."""
    bits = DTYPES[b.dtype].bits
    size = b.abs().with_value(b.abs().value, f"ui{bits}")
    one = a.like(1)

    def step(_: object, now: list[Number]) -> list[Number]:
        result, factor, rest = now
        odd = rest.logical_and(rest.like(1)).not_equal(0)
        return [odd.select(result * factor, result), factor * factor, rest.shift_right(1)]

    result = carry(bits, [one, a, size], step)[0]
    if b.kind == "uint":
        return result
    unit = a.equal(1) if a.kind == "uint" else a.equal(1).logical_or(a.equal(-1))
    return b.greater_equal(0).logical_or(unit).select(result, 0)


@elementwise(tri.ShiftLeft)
def lower_shift_left(op: tri.ShiftLeft, a: Number, b: Number) -> Number:
    fits = _is_shift(b)
    return fits.select(a.shift_left(fits.select(b, 0)), 0)


@elementwise(tri.ShiftRight)
def lower_shift_right(op: tri.ShiftRight, a: Number, b: Number) -> Number:
    # What shifts everything out is a shift by all bits but one, twice.
    most = DTYPES[a.dtype].bits - 1
    fits = _is_shift(b)
    far = a.shift_right(most).shift_right(most)
    return fits.select(a.shift_right(fits.select(b, 0)), far)


def _is_shift(b: Number) -> Number:
    """Test that a shift leaves a bit of the number."""
    return b.with_value(b.value, f"ui{DTYPES[b.dtype].bits}").less(DTYPES[b.dtype].bits)
