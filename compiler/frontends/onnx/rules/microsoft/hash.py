"""The hash of ONNX Runtime: MurmurHash3 for x86, of 32 bits, of the bytes of each element."""

from typing import Any

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Unsupported
from ......dialects.core.tensor import numpy_dtype
from ....core.values import cast, constant, tensor
from ...registry import Value, onnx_op
from . import DOMAIN

WORDS = {"i32": 1, "ui32": 1, "f32": 1, "i64": 2, "ui64": 2, "f64": 2}
"""How many words of 32 bits an element of a type has."""


@onnx_op("MurmurHash3", since=1, domain=DOMAIN)
def murmur_hash3(x: Value, *, positive: int = 1, seed: int = 0) -> Value:
    """Hash the elements; the hashes are unsigned if they are to be positive."""
    dtype = tensor(x).dtype
    if dtype not in WORDS:
        raise Unsupported(f"hashes elements of type {dtype}, must be one of {', '.join(WORDS)}")
    state = _number(seed)
    for word in _words(x):
        word = _multiplied(_rotated(_multiplied(word, 0xCC9E2D51), 15), 0x1B873593)
        state = _rotated(tri.BitwiseXor.build(state, word).y, 13)
        state = tri.Add.build(_multiplied(state, 5), _number(0xE6546B64)).y
    state = tri.BitwiseXor.build(state, _number(4 * WORDS[dtype])).y
    for distance, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = _multiplied(_folded(state, distance), factor)
    state = _folded(state, 16)
    return state if positive else tri.BitCast.build(state, to="i32").y


def _words(x: Value) -> list[Value]:
    """Return the words of each element, the lowest first."""
    if WORDS[tensor(x).dtype] == 1:
        return [_bits(x, "ui32")]
    wide = _bits(x, "ui64")
    low = tri.BitwiseAnd.build(wide, _number(0xFFFFFFFF, "ui64")).y
    high = tri.ShiftRight.build(wide, _number(32, "ui64")).y
    return [cast(low, "ui32"), cast(high, "ui32")]


def _bits(x: Value, dtype: str) -> Value:
    return x if tensor(x).dtype == dtype else tri.BitCast.build(x, to=dtype).y


def _rotated(x: Value, distance: int) -> Value:
    """Rotate bits to the left."""
    left = tri.ShiftLeft.build(x, _number(distance)).y
    return tri.BitwiseOr.build(left, tri.ShiftRight.build(x, _number(32 - distance)).y).y


def _folded(x: Value, distance: int) -> Value:
    return tri.BitwiseXor.build(x, tri.ShiftRight.build(x, _number(distance)).y).y


def _multiplied(x: Value, factor: int) -> Value:
    return tri.Mul.build(x, _number(factor)).y


def _number(value: int, dtype: str = "ui32") -> Value:
    kind: Any = numpy_dtype(dtype)
    return constant(np.array(value % (1 << 8 * kind.itemsize), kind))
