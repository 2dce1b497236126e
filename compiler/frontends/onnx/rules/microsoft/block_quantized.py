"""Rules of ONNX Runtime for matrices of few bits with a scale for each block."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid, Unsupported
from ......dialects.core.numerics.packed_bits import WIDTHS, unpack_bits
from ......dialects.core.sizes.checks import need_same
from ......dialects.core.tensor import is_narrow_integer, normalize_axis
from ......dialects.tri.linear_algebra.block_quantized import ROUNDED
from ....core.values import cast, constant, tensor
from ...quantization import WIDE, spread
from ...registry import Node, Value, onnx_op
from . import DOMAIN

LEVELS = range(5)
"""What `accuracy_level` may be: at least the precision of nothing given, f32, f16, bf16, i8."""


@onnx_op("MatMulNBits", since=1, domain=DOMAIN)
def mat_mul_n_bits(
    a: Value,
    b: Value,
    scales: Value,
    zero_points: Value | None = None,
    g_idx: Value | None = None,
    bias: Value | None = None,
    *,
    K: int,
    N: int,
    bits: int = 4,
    block_size: int,
    accuracy_level: int = 0,
    weight_prepacked: int = 0,
    node: Node,
) -> tri.BlockQuantizedMatMul | tri.Add:
    """Multiply by a matrix of few bits; level 4 rounds the other factor as ONNX Runtime does."""
    _check(g_idx, bits, accuracy_level, weight_prepacked)
    depth = tensor(a).shape[-1] if tensor(a).rank else 0
    need_same(depth, K, f"multiplies {tensor(a)}, its last axis must have K = {K} elements")
    blocks = -(-K // block_size)
    w = _shaped(b, N, blocks, block_size * bits // 8)
    zeros = None if zero_points is None else _zero_points(zero_points, N, blocks, bits, node)
    rounds = accuracy_level == LEVELS[-1] and not why_exact(
        zeros, bits, block_size, node.evaluate(b) is not None
    )
    y = tri.BlockQuantizedMatMul.build(
        a,
        w,
        _shaped(scales, N, blocks),
        zeros,
        bits=bits,
        block=block_size,
        activations=ROUNDED if rounds else "",
    )
    return y if bias is None else tri.Add.build(y.y, bias)


def _check(g_idx: Value | None, bits: int, accuracy_level: int, weight_prepacked: int) -> None:
    if g_idx is not None:
        raise Unsupported("has g_idx, an order of the depth, which is deprecated: sort the weights")
    if weight_prepacked:
        raise Unsupported(
            f"has weight_prepacked {weight_prepacked}, the layout of one machine: give it as it was"
        )
    if bits not in WIDTHS:
        raise Unsupported(f"has weights of {bits} bits, must be of {', '.join(map(str, WIDTHS))}")
    if accuracy_level not in LEVELS:
        raise Invalid(f"has accuracy_level {accuracy_level}, must be 0 to {LEVELS[-1]}")


def why_exact(zeros: Value | None, bits: int, block: int, fixed: bool) -> str:
    """Return why ONNX Runtime rounds the other factor at no level, nothing where it does at i8.

    Weights are `fixed` where they are constants.
    """
    if not fixed:
        return "weights that are computed"
    if zeros is not None and tensor(zeros).dtype != "ui8":
        return f"zero points of {tensor(zeros).dtype}"
    return "" if bits > 2 or block in (32, 64, 128) else f"blocks of {block} of {bits} bits"


def _shaped(value: Value, *shape: int) -> Value:
    """Give a tensor a shape, that of older files being flat."""
    if tensor(value).shape == shape:
        return value
    fault = f"has an input {tensor(value)}, must be {list(shape)}, or as many elements"
    need_same(tensor(value).size, int(np.prod(shape)), fault)
    return tri.Reshape.build(value, shape=shape).y


def _zero_points(value: Value, rows: int, blocks: int, bits: int, node: Node) -> Value:
    """Return the zero points of blocks: bytes hold several, floats are what they are."""
    if tensor(value).dtype != "ui8":
        return _shaped(value, rows, blocks)
    size = -(-blocks * bits // 8)
    packed = _shaped(value, rows, size)
    known = node.evaluate(packed)
    if known is not None:
        return constant(np.ascontiguousarray(unpack_bits(known, bits)[:, :blocks]))
    numbers = tri.build_unpacked(packed, bits)
    return tri.Slice.build(numbers, starts=(0, 0), sizes=(rows, blocks), steps=(1, 1)).y


@onnx_op("GatherBlockQuantized", since=1, domain=DOMAIN)
def gather_block_quantized(
    data: Value,
    indices: Value,
    scales: Value,
    zero_points: Value | None = None,
    *,
    bits: int = 4,
    block_size: int = 128,
    gather_axis: int = 0,
    quantize_axis: int = 1,
    node: Node,
) -> Value:
    """Take rows of a table of few bits, and scale them.

    Bytes hold numbers that are packed along the last axis, whose zero point is 2^(bits - 1) if
    there is none.
    """
    x, rank = tensor(data), tensor(data).rank
    gathered = normalize_axis(gather_axis, rank)
    blocked = normalize_axis(quantize_axis, rank)
    if gathered == blocked:
        raise Invalid(f"takes elements of axis {gathered}, along which blocks are")
    if x.dtype != "ui8":
        if not is_narrow_integer(x.dtype):
            raise Unsupported(f"takes rows of {x.dtype}, must be ui8 or integers of few bits")
        return _rows(data, indices, scales, zero_points, gathered, blocked, block_size, None)
    if bits not in WIDTHS:
        raise Unsupported(f"has elements of {bits} bits, must be of {', '.join(map(str, WIDTHS))}")
    if blocked != rank - 1:
        raise Invalid(f"has bytes with blocks along axis {blocked}, must be along the last one")
    if zero_points is not None:
        blocks = tensor(scales).shape[-1]
        zero_points = _zero_points(
            zero_points, int(tensor(scales).size) // int(blocks), int(blocks), bits, node
        )
        zero_points = _shaped(zero_points, *map(int, tensor(scales).shape))
    return _rows(data, indices, scales, zero_points, gathered, blocked, block_size, bits)


def _rows(
    data: Value,
    indices: Value,
    scales: Value,
    zero_points: Value | None,
    axis: int,
    blocked: int,
    block_size: int,
    bits: int | None,
) -> Value:
    """Take what is stored, its scales and zero points, then compute; `bits` are those in bytes."""

    def taken(value: Value) -> Value:
        return tri.Gather.build(value, indices, axis=axis).y

    numbers, scale = taken(data), taken(scales)
    place = blocked if blocked < axis else blocked + tensor(indices).rank - 1
    if bits is not None:
        numbers = tri.build_unpacked(numbers, bits)
    wide = cast(numbers, WIDE)
    zero: Value | None = None
    if zero_points is not None:
        zero = cast(spread(taken(zero_points), wide, place, block_size), WIDE)
    elif bits is not None:
        zero = constant(np.array(1 << bits - 1, np.int32))
    centered = wide if zero is None else tri.Sub.build(wide, zero).y
    dtype = tensor(scale).dtype
    return tri.Mul.build(cast(centered, dtype), spread(scale, wide, place, block_size)).y
