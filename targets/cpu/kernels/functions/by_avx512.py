"""Functions of vectors of 16 f32 by instructions of AVX-512."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .....dialects.core.mlir import ir
from ....kernels import coefficients
from ....kernels.approximation import LOG2_E, polynomial
from ..halves import code_has
from ..value import Value, arith, constant_of, llvm

_DOWN = 1
"""The mode of rounding in which VREDUCEPS subtracts the next whole number below."""

_CURRENT = 4
"""The mode of rounding that is set."""

_LOG2_E_LOW = LOG2_E - float(np.float32(LOG2_E))
"""What an f32 of the number lacks."""

SIXTEENTHS = 1.5 * 2**19
"""Added to a small f32 and taken off again, this rounds to sixteenths, counted by the low bits."""

_ROOTS = [2 ** (k / 16) for k in range(16)]


def has_instructions(x: Value) -> bool:
    """Return whether the code that is emitted may have the instructions for a value."""
    lanes = x.ssa.type.shape[0] if isinstance(x.ssa.type, ir.VectorType) else 1
    return x.dtype == "f32" and lanes == 16 and code_has("avx512f", "avx512dq")


def power_of_two(x: Value, powers: Sequence[float]) -> Value:
    """Compute 2^x = 2^n P(x - n), where n is the whole number below x.

    P is 1 at zero, then has coefficients of `powers`. Both instructions find n themselves.
    """
    down, current = constant_of(_DOWN, "i32"), constant_of(_CURRENT, "i32")
    rest = _instruction("mask.reduce", x, lambda x: [down, x, _all_lanes(), current])
    return _times_power(polynomial(rest, (1.0, *powers)), x)


def exp(x: Value) -> Value:
    """Compute e to the power x between -110 and 90, with gradual underflow.

    x = (n + k / 16 + r) ln 2 with whole n and k and |r| <= 1 / 32, and
    exp(x) = 2^n 2^(k/16) (1 + r P(r)).
    """
    shifted = x.fma(LOG2_E, SIXTEENTHS)
    sixteenths = shifted - SIXTEENTHS
    rest = x.fma(_LOG2_E_LOW, x.fma(LOG2_E, -sixteenths))
    root = look_up(_ROOTS, shifted.bits("i32"))
    power = root.fma(rest * polynomial(rest, coefficients.EXP2_NEAR), root)
    return _times_power(power, sixteenths)


def _times_power(x: Value, power: Value) -> Value:
    """Multiply by 2^n, where n is the whole number below the power."""
    current = constant_of(_CURRENT, "i32")
    return _instruction("mask.scalef", x, lambda x: [power.ssa, x, _all_lanes(), current])


def reciprocal(x: Value) -> Value:
    """Compute 1 / x: at most 2^-14 of the result."""
    return _instruction("rcp14", x, lambda x: [x, _all_lanes()])


def look_up(table: Sequence[float], numbers: Value) -> Value:
    """Return the number of a table of 16 for each lane, by the low four bits of an i32."""
    type_, elements = numbers.shaped("f32"), np.array(table, np.float32)
    operands = [arith.constant(type_, ir.DenseElementsAttr.get(elements, type=type_)), numbers.ssa]
    name = "llvm.x86.avx512.permvar.sf.512"
    return Value(llvm.call_intrinsic(type_, name, operands, [], []), "f32")


def nearest(x: Value) -> Value:
    """Round to i32, halves to even; what does not fit, and NaN, becomes -2^31."""
    type_ = x.shaped("i32")
    operands = [x.ssa, constant_of(0, "i32", type_), _all_lanes(), constant_of(_CURRENT, "i32")]
    name = "llvm.x86.avx512.mask.cvtps2dq.512"
    return Value(llvm.call_intrinsic(type_, name, operands, [], []), "i32")


def _instruction(name: str, x: Value, more: Callable[[Any], list[Any]]) -> Value:
    """Emit an instruction for all lanes; `more` are its operands behind the first one."""
    name = f"llvm.x86.avx512.{name}.ps.512"
    return x.with_ssa(llvm.call_intrinsic(x.ssa.type, name, [x.ssa, *more(x.ssa)], [], []))


def _all_lanes() -> Any:
    return constant_of(-1, "i16")
