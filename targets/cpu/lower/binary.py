"""Lowerings of arithmetic on two tensors."""

from collections.abc import Sequence

from ....dialects import tri
from ...kernels.conversion import convert
from ...kernels.lower.power import Step, constant_exponent, easy_power, integer_power
from ..kernels.conversion import widened
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
        return integer_power(a, b, _loop)
    easy = easy_power(a, constant_exponent(op)) if a.is_float else None
    if easy is not None:
        return easy
    if a.dtype == "f32" and b.dtype == "f32":
        return a.with_ssa(math.powf(a.ssa, b.ssa))
    wide = convert(a, "f64")
    return convert(wide.with_ssa(math.powf(wide.ssa, convert(b, "f64").ssa)), a.dtype)


def _loop(trips: int, start: Sequence[Value], step: Step[Value]) -> list[Value]:
    return carry(trips, list(start), lambda _, values: step(*values))
