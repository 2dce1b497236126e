"""Lowerings of arithmetic of two tensors."""

from collections.abc import Sequence

from ....dialects import tri
from ....dialects.core.tensor import COMPUTED
from ...element_types import ElementTypes
from ...kernels.conversion import convert
from ...kernels.lower.power import Step, constant_exponent, easy_power, integer_power
from ..kernels.functions import trigonometry
from ..kernels.functions.approximation import with_sign_of
from ..kernels.functions.power import power, snapped
from ..kernels.functions.remainder import quotient, remainder
from ..kernels.loop import loop
from ..kernels.value import Value, aligned
from ..registry import elementwise


@elementwise(tri.Div)
def lower_div(op: tri.Div, a: Value, b: Value) -> Value:
    return a.divided_nearest(b) if a.is_float else quotient(a, b)


@elementwise(tri.Mod, types=ElementTypes([each for each in COMPUTED if each != "f64"]))
def lower_mod(op: tri.Mod, a: Value, b: Value) -> Value:
    rest = remainder(a, b)
    if op.fmod or a.kind == "uint":
        return rest
    opposite = rest.less(0).logical_xor(b.less(0))
    if a.is_float:
        rest = rest.equal(0).select(with_sign_of(rest.like(0), b), rest)
    return rest.not_equal(0).logical_and(opposite).select(rest + b, rest)


@elementwise(tri.Atan2)
def lower_atan2(op: tri.Atan2, a: Value, b: Value) -> Value:
    return trigonometry.atan2(a, b)


@elementwise(tri.Pow)
def lower_pow(op: tri.Pow, a: Value, b: Value) -> Value:
    if not a.is_float and not b.is_float:
        return integer_power(a, b, _loop)
    easy = easy_power(a, constant_exponent(op)) if a.is_float else None
    if easy is not None:
        return easy
    result = power(convert(a, "f64"), convert(b, "f64"))
    return convert(result if a.is_float else snapped(result), a.dtype)


def _loop(trips: int, start: Sequence[Value], step: Step[Value]) -> list[Value]:
    def body(_: Value, result: Value, factor: Value, rest: Value) -> list[Value]:
        return step(result, factor, rest)

    return loop(0, trips, 1, aligned(*start), body)
