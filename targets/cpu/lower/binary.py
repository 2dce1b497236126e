"""Lowerings of arithmetic on two tensors."""

from collections.abc import Callable

from ....dialects import tri
from ....dialects.core.tensor import DTYPES
from ...elementwise import constant_exponent
from ..kernels.conversion import convert, widened
from ..kernels.index import carry
from ..kernels.value import Value, math
from ..registry import elementwise


@elementwise(tri.Div)
def lower_div(op: tri.Div, a: Value, b: Value) -> Value:
    return a / b


@elementwise(tri.Mod)
def lower_mod(op: tri.Mod, a: Value, b: Value) -> Value:
    rest = a.remainder(b)
    if op.fmod or a.kind == "uint":
        return rest
    opposite = rest.less(0).logical_xor(b.less(0))
    if a.is_float:  # a zero takes the sign of b
        zero = rest.with_ssa(math.copysign(rest.like(0).ssa, b.ssa))
        rest = rest.equal(0).select(zero, rest)
    return rest.not_equal(0).logical_and(opposite).select(rest + b, rest)


@elementwise(tri.Atan2)
@widened
def lower_atan2(op: tri.Atan2, a: Value, b: Value) -> Value:
    return a.with_ssa(math.atan2(a.ssa, b.ssa))


@elementwise(tri.Pow)
@widened
def lower_pow(op: tri.Pow, a: Value, b: Value) -> Value:
    if not a.is_float and not b.is_float:
        return _integer_power(a, b)
    known = constant_exponent(op)
    if a.is_float and known in _EASY_POWERS:
        return _EASY_POWERS[known](a)
    if a.dtype == "f32" and b.dtype == "f32":
        return a.with_ssa(math.powf(a.ssa, b.ssa))
    wide = convert(a, "f64")
    return convert(wide.with_ssa(math.powf(wide.ssa, convert(b, "f64").ssa)), a.dtype)


def _root(a: Value) -> Value:
    """Compute a to the power 1/2, which differs from the square root of -0 and -inf."""
    root = (a + 0.0).apply(math.sqrt)
    return a.equal(float("-inf")).select(a.like(float("inf")), root)


_EASY_POWERS: dict[float, Callable[[Value], Value]] = {
    -1.0: lambda a: 1 / a,
    0.5: _root,
    1.0: lambda a: a,
    2.0: lambda a: a * a,
    3.0: lambda a: a * a * a,
}


def _integer_power(a: Value, b: Value) -> Value:
    """Square and multiply in the type of `a`; negative powers are 0 but for 1 and -1."""
    bits = DTYPES[b.dtype].bits
    size = b.abs().with_ssa(b.abs().ssa, f"ui{bits}")
    one = a.like(1)

    def step(_: object, now: list[Value]) -> list[Value]:
        result, factor, rest = now
        odd = rest.logical_and(rest.like(1)).not_equal(0)
        return [odd.select(result * factor, result), factor * factor, rest.shift_right(1)]

    result = carry(bits, [one, a, size], step)[0]
    if b.kind == "uint":
        return result
    unit = a.equal(1) if a.kind == "uint" else a.equal(1).logical_or(a.equal(-1))
    return b.greater_equal(0).logical_or(unit).select(result, 0)


@elementwise(tri.ShiftLeft)
def lower_shift_left(op: tri.ShiftLeft, a: Value, b: Value) -> Value:
    fits = _is_shift(b)
    return fits.select(a.shift_left(fits.select(b, 0)), 0)


@elementwise(tri.ShiftRight)
def lower_shift_right(op: tri.ShiftRight, a: Value, b: Value) -> Value:
    # A shift by all bits is a shift by all bits but one, then by one.
    most = DTYPES[a.dtype].bits - 1
    fits = _is_shift(b)
    far = a.shift_right(most).shift_right(most)
    return fits.select(a.shift_right(fits.select(b, 0)), far)


def _is_shift(b: Value) -> Value:
    """Test that a shift leaves a bit of the number."""
    return b.with_ssa(b.ssa, f"ui{DTYPES[b.dtype].bits}").less(DTYPES[b.dtype].bits)
