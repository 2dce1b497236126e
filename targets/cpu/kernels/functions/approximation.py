"""Functions that the vector units lack: f32 by polynomials of our own, f64 by the C library.

`targets/kernels/coefficients.py` has the polynomials. The errors in the docstrings are in units in
the last place (ULP) of an f32 result that is not denormal; the tests measure them against f64. On a
machine without FMA they are up to 1 ULP larger, and where `tanh` and `erf` are 1, they may be 2^-23
less.
NaN gives NaN, and infinities give limits. Strict kernels compute all of them in f64, by the C
library, and round once.
"""

import math as constants

from .....dialects.core.mlir import ir
from ....kernels import approximation, coefficients
from ....kernels.approximation import LOG2_E, polynomial
from ....kernels.conversion import convert
from ..conversion import widened
from ..value import Value, llvm
from . import by_avx512

_LN2_HIGH = 45426 / 2**16
_LN2_LOW = constants.log(2) - _LN2_HIGH
"""Two parts of ln 2: the first has so few bits that its product with an exponent is exact."""
ROUNDER = 1.5 * 2**23
"""Added to a small f32 and taken off again, this rounds to the nearest whole number."""


@widened
def exp(x: Value) -> Value:
    """Compute e to the power x. f32: at most 1.1 ULP, gradual underflow included.

    AVX-512 has a shorter polynomial, for which `expm1` and others pay by 0.1 to 0.6 ULP.
    """
    if not by_avx512.has_instructions(x):
        return exp_anywhere(x)
    return by_avx512.exp(_where_exp_changes(x))


@widened
def exp_anywhere(x: Value) -> Value:
    """Compute what `exp` does, with the same bits of a number alone and in any vector.

    x = n ln 2 + r with a whole n and |r| <= ln 2 / 2, and exp(x) = 2^n (1 + r + r^2 P(r)).
    """
    if x.dtype == "f64":
        return x.apply("exp")
    x = _where_exp_changes(x)
    shifted = x.fma(LOG2_E, ROUNDER)
    n = shifted - ROUNDER
    r = n.fma(-_LN2_LOW, n.fma(-_LN2_HIGH, x))
    power = polynomial(r, (1.0, 1.0, *coefficients.EXP))
    return scale(power, shifted)


def _where_exp_changes(x: Value) -> Value:
    """Hold an f32 between where its exponential is zero and where it is infinite."""
    return x.maximum(-110.0).minimum(90.0)


def scale(x: Value, shifted: Value) -> Value:
    """Multiply by 2^n, where `shifted` is n + ROUNDER; rounds once when the result is denormal."""
    n = shifted.bits("i32") - shifted.like(ROUNDER).bits("i32")
    types = f"{_suffix(x.ssa.type, 'f32')}.{_suffix(x.ssa.type, 'i32')}"
    scaled = llvm.call_intrinsic(x.ssa.type, f"llvm.ldexp.{types}", [x.ssa, n.ssa], [], [])
    return x.with_ssa(scaled)


def _suffix(type_: ir.Type, dtype: str) -> str:
    """Spell a scalar or vector type as the names of LLVM's intrinsics do."""
    return f"v{type_.shape[0]}{dtype}" if isinstance(type_, ir.VectorType) else dtype


@widened
def expm1(x: Value) -> Value:
    """Compute exp(x) - 1, without cancellation near zero. f32: at most 3.6 ULP.

    Source for f64: Kahan, see Higham, Accuracy and stability of numerical algorithms, 1.14.1.
    """
    if x.dtype == "f64":
        power = exp(x)
        near = x.abs().less(1.0).logical_and(power.not_equal(1))
        return near.select((power - 1) * x / log(power), x.abs().less(1.0).select(x, power - 1))
    near = (x * x).fma(polynomial(x, coefficients.EXPM1), x)
    return x.abs().less(0.35).select(near, exp(x) - 1)


@widened
def log(x: Value) -> Value:
    """Compute the natural logarithm. f32: at most 1 ULP, of denormals too."""
    if x.dtype == "f64":
        return x.apply("log")
    tiny = x.less(2.0**-126)
    result = _log_of_normal(tiny.select(x * 2.0**25, x), tiny.select(x.like(-25), 0))
    result = x.equal(float("inf")).select(x, result)
    result = x.equal(0).select(x.like(float("-inf")), result)
    return x.greater_equal(0).select(result, float("nan"))


def _log_of_normal(x: Value, power: Value | float = 0) -> Value:
    """Compute log(2^power x) for a positive normal f32 x; anything of other numbers.

    x = 2^e (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and
    log(x) = e ln 2 + f - f^2 / 2 + f^3 P(f).
    """
    exponent, f = _split(x)
    exponent = exponent + power
    square = f * f
    series = (square * f) * polynomial(f, coefficients.LOG)
    series = exponent.fma(_LN2_LOW, series)
    return exponent.fma(_LN2_HIGH, square.fma(-0.5, series) + f)


def _split(x: Value) -> tuple[Value, Value]:
    """Split a positive normal number in e and f, where x = 2^e (1 + f) and 1 + f is near 1."""
    bits = x.bits("i32")
    exponent = (bits - x.like(0.5**0.5).bits("i32")).shift_right(23)
    f = (bits - exponent.shift_left(23)).bits("f32") - 1
    return convert(exponent, "f32"), f


@widened
def log1p(x: Value) -> Value:
    """Compute log(1 + x), without cancellation near zero. f32: at most 2 ULP."""
    return approximation.log1p(x, log)


@widened
def tanh(x: Value) -> Value:
    """Compute the hyperbolic tangent, never beyond 1. f32: at most 5 ULP."""
    return x.apply("tanh") if x.dtype == "f64" else approximation.tanh_f32(x)


@widened
def erf(x: Value) -> Value:
    """Compute the Gauss error function, never beyond 1. f32: at most 6 ULP.

    x P(x^2) / Q(x^2), with x held at a bound from where on that is 1.
    """
    if x.dtype == "f64":
        return x.apply("erf")
    x = x.maximum(-3.93).minimum(3.93)
    square = x * x
    above = polynomial(square, coefficients.ERF_ABOVE)
    y = x * above / polynomial(square, coefficients.ERF_BELOW)
    return y.maximum(-1).minimum(1)


@widened
def sigmoid(x: Value) -> Value:
    """Compute 1 / (1 + exp(-x)). f32: at most 2.6 ULP down to x = -88, then zero."""
    return 1 / (exp(-x) + 1)


@widened
def softplus(x: Value) -> Value:
    """Compute log(1 + exp(x)) without overflow. f32: at most 2.6 ULP."""
    e = exp(-x.abs())
    if x.dtype == "f64":
        return x.maximum(0) + log1p(e)
    rounded = e + 1  # in [1, 2]: normal, and none of the special cases of log1p
    return x.maximum(0) + _log_of_normal(rounded) + (e - (rounded - 1)) / rounded
