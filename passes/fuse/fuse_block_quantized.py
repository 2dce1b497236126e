"""Recognise products with constant matrices of few bits that are scaled."""

from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.numerics.packed_bits import pack_bits
from ...dialects.core.tensor import DTYPES, Array, dtype_of, integer_range, is_narrow_integer
from ..constants import hint
from ..core import Pass
from ..rewriting import NoMatch, Pattern, Rewriter, rewrite

BLOCKS = tuple(1 << n for n in range(4, 13))
"""The sizes of blocks that are tried: what one scale is for, or a part of it."""


class FuseBlockQuantized(Pass):
    """Multiply by integers of fewer than 8 bits as they are, where a model scales them before.

    Scales and zero points are the same along runs of the depth, such as blocks or all of it.

        %w = tri.mul (tri.cast (tri.sub (tri.cast %q), %z)), %s; %y = tri.mat_mul %x, %w
            =>   %y = tri.block_quantized_mat_mul %x, %packed, %scales, %zero_points
    """

    def run(self, module: Module) -> None:
        rewrite(module, _MatMul(), _Gemm())


class _MatMul(Pattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        matrix = _find_matrix(op.b, False, rewriter)
        rewriter.replace(op, _product(op, matrix, rewriter))


class _Gemm(Pattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        if op.trans_a or op.alpha != 1 or op.beta != 1:
            raise NoMatch("has scales of its own, or a is transposed")
        matrix = _find_matrix(op.b, op.trans_b, rewriter)
        product = _product(op, matrix, rewriter)
        if op.c is None:
            rewriter.replace(op, product)
            return
        with rewriter.before(op):
            rewriter.replace(op, tri.Add.build(product.y, op.c))


@dataclass(frozen=True)
class _Matrix:
    """Hold integers [columns, depth], from 0 on, and what is the scale and zero point of each."""

    numbers: Array
    zeros: Array
    scales: Array
    bits: int

    def changes(self) -> Array:
        """Return where in depth the scale or zero point of any row differs from the one before."""
        places = [
            np.flatnonzero((each[:, 1:] != each[:, :-1]).any(axis=0)) + 1
            for each in (self.scales, self.zeros)
        ]
        return np.concatenate(places)

    def size(self, block: int) -> int:
        """Return the bytes that a row takes in blocks."""
        blocks = -(-self.numbers.shape[1] // block)
        return blocks * (block * self.bits // 8 + 4)


def _cut(array: Array, block: int) -> Array:
    """Return an array [rows, depth] as [rows, blocks, block]; the last numbers are repeated."""
    rows, depth = array.shape
    filled = np.pad(array, ((0, 0), (0, -depth % block)), "edge")
    return filled.reshape(rows, -1, block)


def _find_matrix(value: ir.Value, transposed: bool, rewriter: Rewriter) -> _Matrix:
    """Look through what scales a constant; NoMatch where it has 8 bits or more."""
    turn = rewriter.find_producer(value)
    if isinstance(turn, tri.Transpose) and tensor_of(value.type).rank == 2:
        return _find_matrix(turn.x, transposed == (turn.permutation == (1, 0)), rewriter)
    shape = tensor_of(value.type).shape
    if len(shape) != 2 or 0 in shape or tensor_of(value.type).dtype != "f32":
        raise NoMatch("is no product with a matrix of f32")
    product = rewriter.producer(value, tri.Mul)
    stored, zero = _integers(product.a, rewriter)
    numbers, scales = rewriter.constant(stored), _spread(product.b, rewriter)
    if numbers.shape != shape:
        raise NoMatch(f"scales broadcast {numbers.shape}")
    dtype = dtype_of(numbers.dtype)
    least = integer_range(dtype)[0]
    zeros = np.zeros((), np.int32) if zero is None else _spread(zero, rewriter)

    def turned(array: Array) -> Array:
        full = np.broadcast_to(array, shape)
        return full if transposed else full.T

    return _Matrix(
        (turned(numbers.astype(np.int32)) - least).astype(np.uint8),
        turned(zeros.astype(np.int32)) - least,
        turned(scales),
        DTYPES[dtype].bits,
    )


def _integers(value: ir.Value, rewriter: Rewriter) -> tuple[ir.Value, ir.Value | None]:
    """Return the constant of few bits that is cast to floats, and the zero point of it if any."""
    stored, zero = rewriter.producer(value, tri.Cast).x, None
    shifted = rewriter.find_producer(stored)
    if isinstance(shifted, tri.Sub):
        stored, zero = shifted.a, shifted.b
    cast = rewriter.find_producer(stored)
    if isinstance(cast, tri.Cast):
        stored = cast.x
    dtype = tensor_of(stored.type).dtype
    if not is_narrow_integer(dtype):
        raise NoMatch(f"scales {dtype}, must be integers of fewer than 8 bits")
    return stored, zero


def _spread(value: ir.Value, rewriter: Rewriter) -> Array:
    """Return a constant, also one whose numbers are each repeated for a block."""
    maker = rewriter.find_producer(value)
    if isinstance(maker, tri.Cast):
        return maker.evaluate([_spread(maker.x, rewriter)])
    if isinstance(maker, tri.Gather):
        return maker.evaluate([_spread(maker.x, rewriter), rewriter.constant(maker.indices)])
    return rewriter.constant(value)


def _product(
    op: tri.MatMul | tri.Gemm, matrix: _Matrix, rewriter: Rewriter
) -> tri.BlockQuantizedMatMul:
    changes = matrix.changes()
    blocks = [block for block in BLOCKS if not (changes % block).any()]
    if not blocks:
        raise NoMatch(f"scales differ within {BLOCKS[0]} numbers in depth")
    block = min(blocks, key=matrix.size)
    zeros = _cut(matrix.zeros, block)[..., 0]
    if not ((zeros >= 0) & (zeros < 1 << matrix.bits)).all():
        raise NoMatch("zero points are outside of the range of the integers")
    depth = matrix.numbers.shape[1]
    filled = np.pad(matrix.numbers, ((0, 0), (0, -depth % block)))
    operands = [pack_bits(_cut(filled, block), matrix.bits), _cut(matrix.scales, block)[..., 0]]
    if (zeros != 1 << matrix.bits - 1).any():
        operands.append(zeros.astype(np.uint8))
    names = ("weight", "scale", "zero_point")
    with rewriter.before(op):
        made = [
            tri.build_constant(rewriter.module, np.ascontiguousarray(a), f"{hint(op)}.{n}")
            for a, n in zip(operands, names, strict=False)
        ]
        values = [each.results[0] for each in made]
        return tri.BlockQuantizedMatMul.build(op.a, *values, bits=matrix.bits, block=block)
