"""Decide which products are done word by word: several multiplications in one instruction."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...dialects import tri
from ...dialects.core.attributes import tensor_of
from ...dialects.core.machine import NATIVE, find_machine
from ...dialects.core.mlir import ir
from ...dialects.core.module import Module
from ...dialects.core.op import Op
from ...dialects.core.tensor import Array, numpy_dtype
from ...dialects.cpu.words import PRODUCTS, WORD
from ...passes.core import Pass
from ...passes.rewriting import NoMatch, Rewriter, rewrite
from .dot import find_instruction
from .machine_pattern import MachinePattern
from .pack_words import (
    check_kernels,
    check_matrix,
    check_size,
    dot_convolution,
    dot_product,
    weight_constant,
)

BYTE = np.iinfo(np.int8)

MOST_PARTS = 3
"""So many signed bytes add up to any unsigned one, less a zero point."""


class ChooseDotProducts(Pass):
    """Multiply bytes and bf16 by constant weights word by word, with sums in 32 bits.

    Zero points go into the bias: the sum of (x - z) * w is that of x * w, less z times that of w.
    Results of bytes are the same; those of bf16 differ by rounding. Weights that need a ninth bit
    are the sum of several parts. `machine` is what the kernels will run on: bf16 stays as it is
    where that has no instruction for it, and without `halves`.

        tri.mat_mul (tri.sub (tri.cast %x), %z), %w   =>   cpu.dot_mat_mul %x, %w_packed, %b
        tri.conv (tri.sub (tri.cast %x), %z), %w      =>   cpu.dot_conv %x, %w_packed, %b
        tri.conv (tri.sub (tri.cast %x), %z), %w      =>   cpu.dot_panel_conv, for small maps
        tri.mat_mul %x, %w                            =>   cpu.dot_mat_mul %x, %w_packed, %zeros
    """

    halves: bool = True
    machine: str = NATIVE

    def run(self, module: Module) -> None:
        machine = find_machine(self.machine)
        patterns: list[type[MachinePattern]] = [_ByteMatMul, _ByteConv]
        if self.halves and find_instruction(machine, "bf16"):
            patterns += [_HalfMatMul, _HalfGemm, _HalfConv]
        rewrite(module, *(pattern(machine) for pattern in patterns))


# -- bytes -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Bytes:
    """Hold a tensor of bytes that was widened to i32, and what was subtracted from it.

    That is a number, or one that is only known at run time.
    """

    x: ir.Value
    zero: int
    unknown: ir.Value | None = None

    @property
    def offset(self) -> int:
        """Return what a product with words has in excess of each element, as far as it is known."""
        return PRODUCTS[tensor_of(self.x.type).dtype].offset + self.zero


def _bytes_of(value: ir.Value, rewriter: Rewriter) -> _Bytes:
    """Find the bytes that an operand is made of; NoMatch when it is made otherwise."""
    if tensor_of(value.type).dtype != WORD:
        raise NoMatch(f"has element type {tensor_of(value.type).dtype}, must be {WORD}")
    shift = rewriter.find_producer(value)
    wide = shift.a if isinstance(shift, tri.Sub) else value
    x = rewriter.producer(wide, tri.Cast).x
    if tensor_of(x.type).dtype not in ("ui8", "i8"):
        raise NoMatch(f"widens {tensor_of(x.type).dtype}, must be bytes")
    if not isinstance(shift, tri.Sub):
        return _Bytes(x, 0)
    if tensor_of(x.type).shape != tensor_of(value.type).shape:
        raise NoMatch("the zero point broadcasts the tensor")
    if tensor_of(shift.b.type).size == 1 and rewriter.find_constant(shift.b) is None:
        return _Bytes(x, 0, shift.b)
    return _Bytes(x, int(rewriter.scalar(shift.b)))


def _parts(w: Array) -> list[Array]:
    """Return weights as one array of bytes, or as several that add up to them."""
    if w.min() < MOST_PARTS * BYTE.min or w.max() > MOST_PARTS * BYTE.max:
        raise NoMatch(f"weights are from {w.min()} to {w.max()}, few bytes do not add up to them")
    parts: list[Array] = []
    while not parts or w.any():
        parts.append(np.clip(w, BYTE.min, BYTE.max).astype(np.int8))
        w = w - parts[-1]
    return parts


def _bias(
    op: Op, given: ir.Value | None, inputs: _Bytes, sums: Array, rewriter: Rewriter
) -> ir.Value:
    """Build, before an op, its bias without what zero points add; `sums` are those of weights."""
    known = None if given is None else rewriter.find_constant(given)
    fixed = -inputs.offset * sums if known is None else known - inputs.offset * sums
    bias = weight_constant(op, fixed.astype(np.int32), "bias", rewriter)
    with rewriter.before(op):
        if given is not None and known is None:
            bias = tri.Add.build(given, bias).y
        if inputs.unknown is None:
            return bias
    weights = weight_constant(op, sums.astype(np.int32), "sums", rewriter)
    with rewriter.before(op):
        zero = tri.Reshape.build(inputs.unknown, shape=(1,)).y
        return tri.Sub.build(bias, tri.Mul.build(zero, weights).y).y


Multiply = Callable[[Array, ir.Value], Op]


def _replace(
    op: tri.MatMul | tri.Conv,
    parts: Sequence[Array],
    inputs: _Bytes,
    given: ir.Value | None,
    axes: tuple[int, ...],
    multiply: Multiply,
    rewriter: Rewriter,
) -> None:
    """Replace an op by the sum of products with parts of its weights; `axes` are the depth."""
    made: Op | None = None
    for part in parts:
        sums = part.sum(axes, np.int64)
        bias = _bias(op, given if made is None else None, inputs, sums, rewriter)
        with rewriter.before(op):
            product = multiply(part, bias)
            made = product if made is None else tri.Add.build(made.results[0], product.results[0])
    assert made is not None, "there is one part at least"
    rewriter.replace(op, made)


class _ByteMatMul(MachinePattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        inputs = _bytes_of(op.a, rewriter)
        check_matrix(op)
        parts = _parts(rewriter.constant(op.b))

        def multiply(part: Array, bias: ir.Value) -> Op:
            return dot_product(op, inputs.x, part, bias, self.machine, rewriter)

        _replace(op, parts, inputs, None, (0,), multiply, rewriter)


class _ByteConv(MachinePattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        inputs = _bytes_of(op.x, rewriter)
        check_kernels(op)
        parts = _parts(rewriter.constant(op.w))
        if any(op.pads):
            _check_padding(inputs)
        axes = tuple(range(1, parts[0].ndim))

        def multiply(part: Array, bias: ir.Value) -> Op:
            return dot_convolution(op, inputs.x, part, bias, inputs.zero, self.machine, rewriter)

        _replace(op, parts, inputs, op.b, axes, multiply, rewriter)


def _check_padding(inputs: _Bytes) -> None:
    """Raise NoMatch unless padding with the zero point is padding with a byte."""
    info = np.iinfo(numpy_dtype(tensor_of(inputs.x.type).dtype))
    if inputs.unknown is not None:
        raise NoMatch("pads with a zero point that is only known at run time")
    if not info.min <= inputs.zero <= info.max:
        raise NoMatch(f"pads with the zero point {inputs.zero}, which is no byte")


# -- bf16 ------------------------------------------------------------------------------------------


class _HalfMatMul(MachinePattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        _check_half(op)
        check_matrix(op)
        w = rewriter.constant(op.b)
        zeros = _zeros(op, w.shape[1], rewriter)
        rewriter.replace(op, dot_product(op, op.a, w, zeros, self.machine, rewriter))


class _HalfGemm(MachinePattern):
    root = tri.Gemm

    def rewrite(self, op: tri.Gemm, rewriter: Rewriter) -> None:
        _check_half(op)
        if op.trans_a or op.alpha != 1 or op.beta != 1:
            raise NoMatch("has scales, or a is transposed")
        b = rewriter.constant(op.b)
        w = b.T if op.trans_b else b
        check_size(op)
        bias = _row_bias(op, w.shape[1], rewriter)
        rewriter.replace(op, dot_product(op, op.a, w, bias, self.machine, rewriter))


class _HalfConv(MachinePattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        _check_half(op)
        check_kernels(op)
        w = rewriter.constant(op.w)
        bias = _zeros(op, w.shape[0], rewriter) if op.b is None else _wide(op, op.b, rewriter)
        rewriter.replace(op, dot_convolution(op, op.x, w, bias, 0, self.machine, rewriter))


def _check_half(op: Op) -> None:
    if tensor_of(op.results[0].type).dtype != "bf16":
        raise NoMatch("is not of bf16")


def _zeros(op: Op, count: int, rewriter: Rewriter) -> ir.Value:
    return weight_constant(op, np.zeros(count, np.float32), "bias", rewriter)


def _wide(op: Op, bias: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Return a bias in the type of sums."""
    if (known := rewriter.find_constant(bias)) is not None:
        return weight_constant(op, known.astype(np.float32), "bias", rewriter)
    with rewriter.before(op):
        return tri.Cast.build(bias, to="f32").y


def _row_bias(op: tri.Gemm, columns: int, rewriter: Rewriter) -> ir.Value:
    """Return what is added to each column; NoMatch when rows differ."""
    if op.c is None:
        return _zeros(op, columns, rewriter)
    if tensor_of(op.c.type).size != columns or tensor_of(op.c.type).shape[-1:] != (columns,):
        raise NoMatch(f"adds {tensor_of(op.c.type)}, not one number for each column")
    with rewriter.before(op):
        row = tri.Reshape.build(op.c, shape=(columns,)).y
    return _wide(op, row, rewriter)
