"""Lowering of quantisation: limits, a sum that rounds, and the lowest byte of its bits."""

from ....dialects import cpu
from ...element_types import ElementTypes
from ..kernels.value import Value, arith, strict_numbers
from ..registry import elementwise

ROUNDING = 3 << 22
"""Added to f32 of at most 22 bits, it rounds them to whole numbers, halves to even.

They are the lowest bits of the sum then.
"""


@elementwise(cpu.Quantize, types=ElementTypes(("f32",), {"y": ("ui8", "i8")}))
def lower_quantize(op: cpu.Quantize, x: Value) -> Value:
    low, high = float(op.low - op.zero), float(op.high - op.zero)
    above = x.greater(low).select(x, low)
    limited = above.less(high).select(above, high)
    even = op.zero - op.zero % 2  # an odd number would round halves to odd ones
    with strict_numbers(True):
        sums = limited + float(ROUNDING + even)
    bits = sums.bits("i32")
    bits = bits if even == op.zero else bits + 1
    return Value(arith.trunci(bits.shaped(op.to), bits.ssa), op.to)
