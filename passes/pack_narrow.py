"""Store constants of fewer than 8 bits packed in bytes."""

import numpy as np

from ..dialects import tri
from ..dialects.core.mlir import ir
from ..dialects.core.module import Module
from ..dialects.core.numerics.packed_bits import pack_bits
from ..dialects.core.tensor import DTYPES, Array, dtype_of, is_narrow, is_narrow_integer
from ..dialects.tri.constant import INLINE_BYTES
from .constants import hint
from .core import Pass
from .rewriting import NoMatch, Pattern, Rewriter, rewrite


class PackNarrow(Pass):
    """Store large constants of 4 and 2 bits in bytes that are full; take them apart in ops.

    So packages have no more bytes than models. Targets take them apart when a package is loaded, or
    in each run, like all ops on constants.

        %w = tri.weight : 64x64xi4   =>   %p = tri.weight : 2048xui8
                                          %b = tri.bitwise_and (tri.shift_right %p, [0, 4]), 15
                                          %w = tri.reshape (tri.cast %b to i4)
    """

    def run(self, module: Module) -> None:
        rewrite(module, _Weight(), _Constant())


class _Weight(Pattern):
    root = tri.Weight

    def rewrite(self, op: tri.Weight, rewriter: Rewriter) -> None:
        if op.name not in rewriter.module.weights:
            raise NoMatch("the module has no data of it")
        _pack(op, rewriter.module.weights[op.name], rewriter)


class _Constant(Pattern):
    root = tri.Constant

    def rewrite(self, op: tri.Constant, rewriter: Rewriter) -> None:
        _pack(op, op.value, rewriter)


def _pack(op: tri.Weight | tri.Constant, array: Array, rewriter: Rewriter) -> None:
    dtype = dtype_of(array.dtype)
    bits = DTYPES[dtype].bits
    if not is_narrow(dtype) or bits == 8:
        raise NoMatch(f"elements are {dtype}, must have fewer than 8 bits")
    if array.nbytes <= INLINE_BYTES:
        raise NoMatch(f"has {array.nbytes} bytes, must have more than {INLINE_BYTES}")
    packed = pack_bits(np.ascontiguousarray(array).reshape(-1).view(np.uint8), bits)
    with rewriter.before(op):
        stored = tri.build_constant(rewriter.module, packed, hint(op)).results[0]
        rewriter.replace(op, _unpacked(stored, array.shape, dtype))


def _unpacked(stored: ir.Value, shape: tuple[int, ...], dtype: str) -> tri.Reshape:
    """Build the ops from bytes to elements of a type; the last bytes may be filled up."""
    bits, size = DTYPES[dtype].bits, int(np.prod(shape))
    whole = dtype if is_narrow_integer(dtype) else f"ui{bits}"
    numbers = tri.Cast.build(tri.build_unpacked(stored, bits), to=whole).y
    if whole != dtype:
        numbers = tri.BitCast.build(numbers, to=dtype).y
    if size % (8 // bits):
        numbers = tri.Slice.build(numbers, starts=(0,), sizes=(size,), steps=(1,)).y
    return tri.Reshape.build(numbers, shape=shape)
