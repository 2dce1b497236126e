"""Functions whose results are rounded to bf16: shorter polynomials, by instructions of AVX-512.

Errors are far below half a step of bf16, which is 2^-9 of a number at least. Without the
instructions, and in strict kernels, the functions are those of f32.
"""

import math
from collections.abc import Callable
from typing import Any

from .....dialects.core.mlir import ir
from ....kernels import coefficients
from ....kernels.approximation import polynomial
from ..halves import code_has
from ..value import Value, constant_of, llvm
from . import approximation

_LOG2_E = 1 / math.log(2)

_DOWN = 1
"""The mode of rounding in which VREDUCEPS subtracts the next whole number below."""

_CURRENT = 4
"""The mode of rounding that is set."""


def exp(x: Value) -> Value:
    """Compute e to the power x. f32: at most 2^-13 of the result, of denormals all."""
    return _power_of_two(x * _LOG2_E) if _has_instructions(x) else approximation.exp(x)


def sigmoid(x: Value) -> Value:
    """Compute 1 / (1 + exp(-x)). f32: at most 2^-12 of the result, of denormals all."""
    if not _has_instructions(x):
        return approximation.sigmoid(x)
    return _instruction("rcp14", _power_of_two(x * -_LOG2_E) + 1, lambda x: [x, _all_lanes()])


def _has_instructions(x: Value) -> bool:
    lanes = x.ssa.type.shape[0] if isinstance(x.ssa.type, ir.VectorType) else 1
    return x.dtype == "f32" and lanes == 16 and code_has("avx512f", "avx512dq")


def _power_of_two(t: Value) -> Value:
    """Compute 2^t = 2^n P(t - n), where n is the next whole number below t."""
    down, current = constant_of(_DOWN, "i32"), constant_of(_CURRENT, "i32")
    rest = _instruction("mask.reduce", t, lambda x: [down, x, _all_lanes(), current])
    power = polynomial(rest, (1.0, *coefficients.EXP2_SHORT))
    return _instruction("mask.scalef", power, lambda x: [t.ssa, x, _all_lanes(), current])


def _instruction(name: str, x: Value, more: Callable[[Any], list[Any]]) -> Value:
    """Emit an instruction for all lanes; `more` are its operands behind the first one."""
    name = f"llvm.x86.avx512.{name}.ps.512"
    return x.with_ssa(llvm.call_intrinsic(x.ssa.type, name, [x.ssa, *more(x.ssa)], [], []))


def _all_lanes() -> Any:
    return constant_of(-1, "i16")
