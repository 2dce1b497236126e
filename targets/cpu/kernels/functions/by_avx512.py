"""Functions of vectors of 16 f32 by instructions of AVX-512."""

from collections.abc import Callable, Sequence
from typing import Any

from .....dialects.core.mlir import ir
from ....kernels.approximation import polynomial
from ..halves import code_has
from ..value import Value, constant_of, llvm

_DOWN = 1
"""The mode of rounding in which VREDUCEPS subtracts the next whole number below."""

_CURRENT = 4
"""The mode of rounding that is set."""


def has_instructions(x: Value) -> bool:
    """Return whether the code that is emitted may have the instructions for a value."""
    lanes = x.ssa.type.shape[0] if isinstance(x.ssa.type, ir.VectorType) else 1
    return x.dtype == "f32" and lanes == 16 and code_has("avx512f", "avx512dq")


def power_of_two(x: Value, coefficients: Sequence[float]) -> Value:
    """Compute 2^x = 2^n P(x - n), where n is the whole number below x.

    P is 1 at zero, then has the coefficients. Both instructions find n themselves.
    """
    down, current = constant_of(_DOWN, "i32"), constant_of(_CURRENT, "i32")
    rest = _instruction("mask.reduce", x, lambda x: [down, x, _all_lanes(), current])
    power = polynomial(rest, (1.0, *coefficients))
    return _instruction("mask.scalef", power, lambda power: [x.ssa, power, _all_lanes(), current])


def reciprocal(x: Value) -> Value:
    """Compute 1 / x: at most 2^-14 of the result."""
    return _instruction("rcp14", x, lambda x: [x, _all_lanes()])


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
