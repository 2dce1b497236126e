"""Rules for Bessel functions: approximations by polynomials, as exact as f32.

Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 9.4.1 to 9.4.6 (functions of
the first and the second kind) and 9.8.1 to 9.8.8 (modified ones).
"""

import math

from ......dialects import tri
from ...expressions import apply
from ...promotion import as_type
from ...registry import Value
from .special import Coefficients, less, polynomial, special, where

I0_NEAR = (1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.0360768, 0.0045813)
I0_FAR = (
    *(0.39894228, 0.01328592, 0.00225319, -0.00157565, 0.00916281),
    *(-0.02057706, 0.02635537, -0.01647633, 0.00392377),
)
I1_NEAR = (0.5, 0.87890594, 0.51498869, 0.15084934, 0.02658733, 0.00301532, 0.00032411)
I1_FAR = (
    *(0.39894228, -0.03988024, -0.00362018, 0.00163801, -0.01031555),
    *(0.02282967, -0.02895312, 0.01787654, -0.00420059),
)
K0_NEAR = (-0.57721566, 0.42278420, 0.23069756, 0.03488590, 0.00262698, 0.00010750, 0.00000740)
K0_FAR = (1.25331414, -0.07832358, 0.02189568, -0.01062446, 0.00587872, -0.00251540, 0.00053208)
K1_NEAR = (1.0, 0.15443144, -0.67278579, -0.18156897, -0.01919402, -0.00110404, -0.00004686)
K1_FAR = (1.25331414, 0.23498619, -0.03655620, 0.01504268, -0.00780353, 0.00325614, -0.00068245)
J0_NEAR = (1.0, -2.2499997, 1.2656208, -0.3163866, 0.0444479, -0.0039444, 0.0002100)
Y0_NEAR = (0.36746691, 0.60559366, -0.74350384, 0.25300117, -0.04261214, 0.00427916, -0.00024846)
SIZE0 = (0.79788456, -0.00000077, -0.00552740, -0.00009512, 0.00137237, -0.00072805, 0.00014476)
PHASE0 = (-0.78539816, -0.04166397, -0.00003954, 0.00262573, -0.00054125, -0.00029333, 0.00013558)
J1_NEAR = (0.5, -0.56249985, 0.21093573, -0.03954289, 0.00443319, -0.00031761, 0.00001109)
Y1_NEAR = (-0.6366198, 0.2212091, 2.1682709, -1.3164827, 0.3123951, -0.0400976, 0.0027873)
SIZE1 = (0.79788456, 0.00000156, 0.01659667, 0.00017105, -0.00249511, 0.00113653, -0.00020033)
PHASE1 = (-2.35619449, 0.12499612, 0.00005650, -0.00637879, 0.00074348, 0.00079824, -0.00029166)
"""Coefficients near 0 and far from it; of the far ones of 9.4, those of the size and the phase."""

NEAR_I, NEAR_K, NEAR_J = 3.75, 2.0, 3.0
"""Up to these arguments the polynomials near 0 are used."""


def _is_zero(x: Value) -> Value:
    return tri.Equal.build(x, as_type(0, "f32")).y


def _squared(x: Value, near: float) -> Value:
    return apply("square(div(@0,@1))", x, near)


def _scaled_i(x: Value, near: Coefficients, far: Coefficients) -> tuple[Value, Value]:
    """Compute the polynomial near 0 times exp(-|x|), and the far one, of which is chosen by |x|."""
    size = tri.Abs.build(x).y
    shrunk = apply("mul(exp(neg(@0)),@1)", size, polynomial(near, _squared(x, NEAR_I)))
    inverse = apply("div(@1,max(@0,@1))", size, NEAR_I)
    return shrunk, apply("div(@0,sqrt(max(@1,1)))", polynomial(far, inverse), size)


@special("special_i0e")
def i0e(x: Value) -> Value:
    near, far = _scaled_i(x, I0_NEAR, I0_FAR)
    return where(less(tri.Abs.build(x).y, NEAR_I), near, far)


@special("special_i1e")
def i1e(x: Value) -> Value:
    near, far = _scaled_i(x, I1_NEAR, I1_FAR)
    odd = apply("mul(@0,sign(@1))", far, x)
    return where(less(tri.Abs.build(x).y, NEAR_I), apply("mul(@0,@1)", near, x), odd)


@special("i0", "special_i0", "special_modified_bessel_i0")
def i0(x: Value) -> Value:
    return apply("mul(exp(abs(@0)),@1)", x, i0e(x))


@special("special_i1", "special_modified_bessel_i1")
def i1(x: Value) -> Value:
    return apply("mul(exp(abs(@0)),@1)", x, i1e(x))


def _far_k(x: Value, far: Coefficients) -> Value:
    """Compute exp(x) times the function of large arguments."""
    return apply("div(@0,sqrt(@1))", polynomial(far, apply("div(@1,@0)", x, NEAR_K)), x)


def _near_k0(x: Value) -> Value:
    rest = polynomial(K0_NEAR, _squared(x, NEAR_K))
    return apply("sub(@2,mul(log(mul(@0,0.5)),@1))", x, i0(x), rest)


def _near_k1(x: Value) -> Value:
    rest = polynomial(K1_NEAR, _squared(x, NEAR_K))
    near = apply("add(mul(log(mul(@0,0.5)),@1),div(@2,@0))", x, i1(x), rest)
    return where(_is_zero(x), math.inf, near)


@special("special_modified_bessel_k0")
def k0(x: Value) -> Value:
    return where(less(x, NEAR_K), _near_k0(x), apply("mul(exp(neg(@0)),@1)", x, _far_k(x, K0_FAR)))


@special("special_modified_bessel_k1")
def k1(x: Value) -> Value:
    return where(less(x, NEAR_K), _near_k1(x), apply("mul(exp(neg(@0)),@1)", x, _far_k(x, K1_FAR)))


@special("special_scaled_modified_bessel_k0")
def scaled_k0(x: Value) -> Value:
    return where(less(x, NEAR_K), apply("mul(exp(@0),@1)", x, _near_k0(x)), _far_k(x, K0_FAR))


@special("special_scaled_modified_bessel_k1")
def scaled_k1(x: Value) -> Value:
    return where(less(x, NEAR_K), apply("mul(exp(@0),@1)", x, _near_k1(x)), _far_k(x, K1_FAR))


def _far_j(x: Value, size: Coefficients, phase: Coefficients, function: str) -> Value:
    inverse = apply("div(@1,max(@0,@1))", x, NEAR_J)
    angle = apply("add(@0,@1)", x, polynomial(phase, inverse))
    return apply(f"div(mul(@0,{function}(@1)),sqrt(@2))", polynomial(size, inverse), angle, x)


@special("special_bessel_j0")
def j0(x: Value) -> Value:
    size = tri.Abs.build(x).y
    near = polynomial(J0_NEAR, _squared(x, NEAR_J))
    return where(less(size, NEAR_J), near, _far_j(size, SIZE0, PHASE0, "cos"))


@special("special_bessel_j1")
def j1(x: Value) -> Value:
    size = tri.Abs.build(x).y
    near = apply("mul(@0,@1)", x, polynomial(J1_NEAR, _squared(x, NEAR_J)))
    far = apply("mul(sign(@0),@1)", x, _far_j(size, SIZE1, PHASE1, "cos"))
    return where(less(size, NEAR_J), near, far)


@special("special_bessel_y0")
def y0(x: Value) -> Value:
    rest = polynomial(Y0_NEAR, _squared(x, NEAR_J))
    near = apply(f"add(mul(mul({2 / math.pi},log(mul(@0,0.5))),@1),@2)", x, j0(x), rest)
    return where(less(x, NEAR_J), near, _far_j(x, SIZE0, PHASE0, "sin"))


@special("special_bessel_y1")
def y1(x: Value) -> Value:
    rest = polynomial(Y1_NEAR, _squared(x, NEAR_J))
    near = apply(f"add(mul(mul({2 / math.pi},log(mul(@0,0.5))),@1),div(@2,@0))", x, j1(x), rest)
    near = where(_is_zero(x), -math.inf, near)
    return where(less(x, NEAR_J), near, _far_j(x, SIZE1, PHASE1, "sin"))


@special("special_spherical_bessel_j0")
def spherical_j0(x: Value) -> Value:
    quotient = where(tri.IsInf.build(x).y, 0, apply("div(sin(@0),@0)", x))
    return where(_is_zero(x), 1, quotient)
