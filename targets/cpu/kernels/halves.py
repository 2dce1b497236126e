"""Instructions of a machine, and rounding to bf16 by one of them or in integer arithmetic."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from ....dialects.core.machine import Machine
from ....dialects.core.mlir import ir
from .value import Value, arith, is_strict, llvm

_INSTRUCTIONS = {
    16: ("llvm.x86.avx512bf16.cvtneps2bf16.512", "avx512_bf16"),
    8: ("llvm.x86.avx512bf16.cvtneps2bf16.256", "avx512_bf16", "avx512vl"),
}
"""The intrinsic that rounds a vector of f32, by its lanes, and the features that it needs."""

_MACHINE: ContextVar[Machine | None] = ContextVar("machine", default=None)
"""The machine whose instructions may be emitted, if there is one."""


@contextmanager
def code_for(machine: Machine) -> Generator[None]:
    """Emit instructions of a machine inside the context, except in strict kernels."""
    token = _MACHINE.set(machine)
    try:
        yield
    finally:
        _MACHINE.reset(token)


def code_has(*features: str) -> bool:
    """Return whether the code that is emitted may have instructions of some features."""
    machine = _MACHINE.get()
    return machine is not None and not is_strict() and {*features} <= {*machine.features}


def round_to_bf16(value: Value) -> Any:
    """Round f32 to the nearest bf16, ties to even, and return its bits; NaN remains NaN.

    The instruction makes numbers below 2^-126 zero, as that for products does.
    """
    type_ = value.ssa.type
    lanes = type_.shape[0] if isinstance(type_, ir.VectorType) else 1
    name, *features = _INSTRUCTIONS.get(lanes, ("",))
    if not name or not code_has(*features):
        return _rounded_bits(value)
    rounded = llvm.call_intrinsic(value.shaped("bf16"), name, [value.ssa], [], [])
    return arith.bitcast(value.shaped("ui16"), rounded)


def _rounded_bits(value: Value) -> Any:
    """Round in integer arithmetic.

    Not by `arith.truncf`: without AVX512-BF16 that calls a compiler run-time library.
    """
    bits = value.bits("ui32")
    odd = bits.shift_right(16).logical_and(bits.like(1))
    rounded = (bits + odd + 0x7FFF).shift_right(16)
    rounded = value.is_nan().select(rounded.like(0x7FC0), rounded)
    return arith.trunci(rounded.shaped("ui16"), rounded.ssa)
