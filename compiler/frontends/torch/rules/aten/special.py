"""Rules for special functions that have no op: approximations that are as exact as f32.

Sources: Press et al., Numerical Recipes, 6.2 (`erfc`); Giles, Approximating the erfinv function;
Acklam, An algorithm for computing the inverse normal cumulative distribution function; Abramowitz
and Stegun, Handbook of Mathematical Functions, 6.3 (`digamma`).
"""

import math
from collections.abc import Callable

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ....core.values import cast, tensor
from ...expressions import apply
from ...promotion import Operand, as_float, as_type
from ...registry import Value, torch_op

Function = Callable[[Value], Value]
Coefficients = tuple[float, ...]

ERFC = (
    *(-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806),
    *(0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277),
)
ERFINV_CENTER = (
    *(1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087),
    *(-4.39150654e-06, -3.5233877e-06, 3.43273939e-07, 2.81022636e-08),
)
ERFINV_TAIL = (
    *(2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773),
    *(-0.00367342844, 0.00134934322, 0.000100950558, -0.000200214257),
)
NDTRI_CENTER = (
    *(2.506628277459239, -30.66479806614716, 138.3577518672690),
    *(-275.9285104469687, 220.9460984245205, -39.69683028665376),
)
NDTRI_CENTER_BELOW = (
    *(1.0, -13.28068155288572, 66.80131188771972),
    *(-155.6989798598866, 161.5858368580409, -54.47609879822406),
)
NDTRI_TAIL = (
    *(2.938163982698783, 4.374664141464968, -2.549732539343734),
    *(-2.400758277161838, -0.3223964580411365, -0.007784894002430293),
)
NDTRI_TAIL_BELOW = (
    *(1.0, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462),
)
NDTRI_BREAK = 0.02425
"""Below this probability the tail is approximated."""


def polynomial(coefficients: Coefficients, x: Value) -> Value:
    """Compute a polynomial, the coefficient of the least power first."""
    *rest, text = map(repr, coefficients)
    for coefficient in reversed(rest):
        text = f"add({coefficient},mul(@0,{text}))"
    return apply(text, x)


def special(*names: str) -> Callable[[Function], Function]:
    """Register a function of f32 for floats that are no more exact, and for integers."""

    def register(function: Function) -> Function:
        @torch_op(*(f"aten::{name}" for name in names), renamed={"x": "self"})
        def in_f32(self: Value) -> Value:
            x = as_float(self)
            if tensor(x).dtype == "f64":
                raise Unsupported("is of f64, and is computed as exactly as f32 alone")
            return cast(function(cast(x, "f32")), tensor(x).dtype)

        return function

    return register


def where(condition: Value, x: Operand, y: Operand) -> Value:
    """Choose elements of f32."""
    return tri.Where.build(condition, as_type(x, "f32"), as_type(y, "f32")).y


def less(x: Value, y: Operand) -> Value:
    return tri.Less.build(x, as_type(y, "f32")).y


def _scaled_erfc(size: Value) -> Value:
    """Compute exp(x²) erfc(x) of what is not negative."""
    t = apply("reciprocal(add(mul(@0,0.5),1))", size)
    return apply("mul(@0,exp(@1))", t, polynomial(ERFC, t))


@special("erfc", "special_erfc")
def erfc(x: Value) -> Value:
    size = tri.Abs.build(x).y
    upper = apply("mul(@0,exp(neg(square(@1))))", _scaled_erfc(size), size)
    return where(less(x, 0), apply("sub(2,@0)", upper), upper)


@special("special_erfcx")
def erfcx(x: Value) -> Value:
    upper = _scaled_erfc(tri.Abs.build(x).y)
    return where(less(x, 0), apply("sub(mul(2,exp(square(@0))),@1)", x, upper), upper)


@special("erfinv", "special_erfinv")
def erfinv(x: Value) -> Value:
    w = apply("neg(log(mul(sub(1,@0),add(1,@0))))", x)
    center = polynomial(ERFINV_CENTER, apply("sub(@0,2.5)", w))
    tail = polynomial(ERFINV_TAIL, apply("sub(sqrt(max(@0,0)),3)", w))
    inside = apply("mul(@0,@1)", where(less(w, 5), center, tail), x)
    at_end = tri.Equal.build(tri.Abs.build(x).y, as_type(1, "f32")).y
    return where(at_end, apply("mul(@0,@1)", x, math.inf), inside)


@special("special_ndtri")
def ndtri(p: Value) -> Value:
    """Return where the normal distribution has a probability."""
    middle = apply("sub(@0,0.5)", p)
    square = apply("square(@0)", middle)
    over, under = (polynomial(c, square) for c in (NDTRI_CENTER, NDTRI_CENTER_BELOW))
    center = apply("mul(@0,div(@1,@2))", middle, over, under)
    nearer = apply("min(@0,sub(1,@0))", p)
    q = apply("sqrt(mul(-2,log(@0)))", nearer)
    size = apply("neg(div(@0,@1))", *(polynomial(c, q) for c in (NDTRI_TAIL, NDTRI_TAIL_BELOW)))
    at_end = tri.Equal.build(nearer, as_type(0, "f32")).y
    size = where(at_end, math.inf, size)
    tail = where(less(middle, 0), apply("neg(@0)", size), size)
    return where(less(nearer, NDTRI_BREAK), tail, center)


SHIFT = 6
"""From here on the asymptotic series of `digamma` is as exact as f32."""


@special("digamma", "special_digamma", "special_psi")
def digamma(x: Value) -> Value:
    """Compute the series beyond `SHIFT`, before it by recurrence, negative ones by reflection."""
    positive = where(less(x, 0), apply("sub(1,@0)", x), x)
    steps = "reciprocal(@0)"
    for step in range(1, SHIFT):
        steps = f"add({steps},reciprocal(add(@0,{step})))"
    far = apply(f"add(@0,{SHIFT})", positive)
    series = polynomial((-1 / 12, 1 / 120, -1 / 252), apply("reciprocal(square(@0))", far))
    value = apply("add(sub(log(@0),div(0.5,@0)),div(@1,square(@0)))", far, series)
    value = apply("sub(@0,@1)", value, apply(steps, positive))
    # The tangent has a period of 1 here: a smaller argument is more exact.
    part = apply("sub(@0,round(@0))", x)
    reflected = apply(f"sub(@0,div({math.pi},tan(mul(@1,{math.pi}))))", value, part)
    pole = tri.Equal.build(part, as_type(0, "f32")).y
    return where(less(x, 0), where(pole, math.nan, reflected), value)


@torch_op("aten::polygamma", "aten::special_polygamma")
def polygamma(n: int, self: Value) -> Value:
    if n:
        raise Unsupported(f"is derivative {n} of digamma, must be 0")
    x = as_float(self)
    return cast(digamma(cast(x, "f32")), tensor(x).dtype)
