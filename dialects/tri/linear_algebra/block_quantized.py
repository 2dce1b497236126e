"""Products with matrices of few bits, which have a scale for each block of their depth."""

import numpy as np

from ...core.errors import Invalid, need_one_of
from ...core.fields import Operand, Result
from ...core.numerics.packed_bits import WIDTHS, unpack_bits
from ...core.numerics.precision import narrow, widen
from ...core.sizes.checks import need_same, need_same_shape
from ...core.sizes.dim import ceildiv
from ...core.tensor import Array, Tensor
from ..dialect import TriOp
from ..quantize import LARGEST_BYTE

FLOATS = ("f32", "f16", "bf16")
"""The element types that are multiplied by numbers of few bits."""

ROUNDED = "i8"
"""The type to which blocks of activations may be rounded."""

MOST_ROUNDED = 1 << 15
"""The longest block of bytes times bytes whose sum fits in 32 bits."""


class BlockQuantizedMatMul(TriOp):
    """Compute `a @ mᵀ` with a matrix of few bits: m[n, k] = (w[n, k] - zero[n, j]) * scale[n, j].

    `a` is […, K] and `y` […, N]; j = k / `block` is the block of an element. `w` is ui8
    [N, blocks, `block` * `bits` / 8] with K elements in each row, packed from the lowest bits of a
    byte on; what fills up the last block counts for nothing. `bits` is 2, 4 or 8. `scales` and
    `zero_points` are [N, blocks]: scales of the type of `a`, zero points of that type or ui8. The
    zero point is 2^(bits - 1) without any. Half types are multiplied and summed in f32. With the
    type `activations`, i8, each block of a row of `a` is first rounded as `round_blocks` does.
    Source: ONNX Runtime `com.microsoft.MatMulNBits`, whose accuracy_level 4 rounds.
    """

    a: Operand
    w: Operand
    scales: Operand
    zero_points: Operand | None = None
    bits: int
    block: int
    activations: str = ""
    y: Result

    anchor = True

    def infer(
        self, a: Tensor, w: Tensor, scales: Tensor, zero_points: Tensor | None = None
    ) -> Tensor:
        need_one_of("element type of a", a.dtype, FLOATS)
        check_blocks(self.bits, self.block)
        if self.activations:
            need_one_of("activations", self.activations, (ROUNDED,))
            check_sums(self.block)
        if not a.rank or w.rank != 3 or w.dtype != "ui8":
            raise Invalid(f"multiplies {a} by {w}, must be by bytes [rows, blocks, bytes of one]")
        rows, blocks, size = w.shape
        need_same(size, self.block * self.bits // 8, f"has {size} bytes for {self.block} elements")
        needed = ceildiv(a.shape[-1], self.block)
        need_same(blocks, needed, f"has {blocks} blocks of {self.block}, {a} needs {needed}")
        for what, given in (("scales", scales), ("zero points", zero_points)):
            if given is not None:
                fault = f"has {what} {given}, must be [{rows}, {blocks}]"
                need_same_shape(given.shape, (rows, blocks), fault)
        if scales.dtype != a.dtype:
            raise Invalid(f"has scales of {scales.dtype}, must be {a.dtype}")
        if zero_points is not None and zero_points.dtype not in (a.dtype, "ui8"):
            raise Invalid(f"has zero points of {zero_points.dtype}, must be {a.dtype} or ui8")
        return Tensor((*a.shape[:-1], rows), a.dtype)

    def reference(
        self, a: Array, w: Array, scales: Array, zero_points: Array | None = None
    ) -> Array:
        matrix = dequantized_blocks(w, scales, zero_points, self.bits)
        depth, wide = a.shape[-1], widen(a)
        if self.activations:
            numbers, steps = round_blocks(wide, self.block)
            wide = (numbers * steps[..., None]).reshape(*a.shape[:-1], -1)[..., :depth]
        product = np.tensordot(wide, matrix[:, :depth], (-1, 1))
        return narrow(np.asarray(product, np.float32), a)


def check_blocks(bits: int, block: int) -> None:
    """Raise Invalid unless blocks of elements of some bits fill whole words of 32 bits."""
    if bits not in WIDTHS:
        raise Invalid(f"has elements of {bits} bits, must be of {', '.join(map(str, WIDTHS))}")
    if block < 16 or block & block - 1:
        raise Invalid(f"has blocks of {block}, must be a power of two from 16 on")


def check_sums(block: int) -> None:
    """Raise Invalid unless sums of products of bytes of a block fit in 32 bits."""
    if block > MOST_ROUNDED:
        raise Invalid(f"rounds blocks of {block}, must be of at most {MOST_ROUNDED}")


def round_blocks(a: Array, block: int) -> tuple[Array, Array]:
    """Round blocks of the last axis of f32 to i8; zeros fill up the last block.

    The step of a block is its largest magnitude / 127. Its numbers are multiplied by 127 / that
    magnitude and rounded to the nearest integer, halves to the even one. Returns the integers
    [..., blocks, block], and the steps [..., blocks] in f32.
    """
    filled = np.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, -a.shape[-1] % block)])
    apart = filled.reshape(*a.shape[:-1], -1, block)
    largest, most = np.abs(apart).max(-1, keepdims=True), np.float32(LARGEST_BYTE)
    factor = np.divide(most, largest, out=np.zeros_like(largest), where=largest != 0)
    with np.errstate(invalid="ignore"):
        numbers = np.clip(np.rint(apart * factor), -most, most).astype(np.int8)
    return numbers, (largest / most)[..., 0]


def dequantized_blocks(w: Array, scales: Array, zero_points: Array | None, bits: int) -> Array:
    """Return the matrix [rows, blocks * elements of one], in f32, that packed blocks stand for."""
    numbers = unpack_bits(w, bits).astype(np.float32)
    half = np.float32(1 << bits - 1)
    zeros = half if zero_points is None else zero_points.astype(np.float32)[..., None]
    matrix = (numbers - zeros) * scales.astype(np.float32)[..., None]
    return matrix.reshape(len(w), -1)
