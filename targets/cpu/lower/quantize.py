"""Lowering of quantisation: limits, a sum that rounds, and the lowest byte of its bits.

With AVX-512, an instruction rounds and another one narrows to the limits of bytes.
"""

from ....dialects import cpu
from ...element_types import ElementTypes
from ..kernels.functions.by_avx512 import has_instructions, nearest
from ..kernels.value import Value, arith, strict_numbers
from ..registry import elementwise

HIGHEST, LOWEST = 255, -128
"""The limits of ui8 above, and of i8 below."""

ROUNDING = 3 << 22
"""Added to f32 of at most 22 bits, it rounds them to whole numbers, halves to even.

They are the lowest bits of the sum then.
"""


@elementwise(cpu.Quantize, types=ElementTypes(("f32",), {"y": ("ui8", "i8")}))
def lower_quantize(op: cpu.Quantize, x: Value) -> Value:
    return _saturated(op, x) if _saturates(op, x) else _by_sum(op, x)


def _saturates(op: cpu.Quantize, x: Value) -> bool:
    """Return whether one limit is that of the bytes, and instructions limit what they narrow.

    Numbers that do not fit in i32 become -2^31, which is large without a sign, and small with one
    unless a negative number is added.
    """
    if not has_instructions(x):
        return False
    return op.high == HIGHEST if op.to == "ui8" else op.low == LOWEST and op.zero >= 0


def _saturated(op: cpu.Quantize, x: Value) -> Value:
    """Round, shift, and narrow by an instruction that knows the other limit."""
    if op.to == "ui8":
        low = float(op.low - op.zero)
        whole = nearest(x.greater(low).select(x, low)) + op.zero
        limited = arith.minui(whole.ssa, whole.like(HIGHEST).ssa)
    else:
        high = x.like(float(op.high - op.zero))
        whole = nearest(x.greater(high).select(high, x)) + op.zero
        limited = whole.maximum(LOWEST).minimum(-LOWEST - 1).ssa
    return Value(arith.trunci(x.shaped(op.to), limited), op.to)


def _by_sum(op: cpu.Quantize, x: Value) -> Value:
    low, high = float(op.low - op.zero), float(op.high - op.zero)
    above = x.greater(low).select(x, low)
    limited = above.less(high).select(above, high)
    even = op.zero - op.zero % 2  # an odd number would round halves to odd ones
    with strict_numbers(True):
        sums = limited + float(ROUNDING + even)
    bits = sums.bits("i32")
    bits = bits if even == op.zero else bits + 1
    return Value(arith.trunci(bits.shaped(op.to), bits.ssa), op.to)
