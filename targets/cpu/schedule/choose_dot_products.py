"""Choose which products use dot-product instructions on VNNI words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.machine import NATIVE, Machine, find_machine
from ....dialects.core.mlir import ir
from ....dialects.core.module import Module
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array, numpy_dtype
from ....dialects.cpu.vnni import VNNI
from ....passes.core import Pass
from ....passes.rewriting import NoMatch, Rewriter, rewrite
from ..kernels.products.dot import find_instruction
from ..layout.packed_constants import constant_before
from ..layout.vnni import (
    check_kernels,
    check_matrix,
    check_size,
    dot_convolution,
    dot_product,
    products_for,
)
from .machine_pattern import MachinePattern

BYTE = np.iinfo(np.int8)

MOST_PARTS = 3
"""The number of signed bytes whose sum can be any unsigned byte less a zero point."""


class ChooseDotProducts(Pass):
    """Multiply bytes and bf16 by constant weights in VNNI words, with sums in 32 bits.

    Zero points go into the bias: the sum of (x - z) * w is that of x * w, less z times that of w.
    Results of bytes are the same; those of bf16 differ by rounding. Weights that need a ninth bit,
    as unsigned ones without their zero point do, are bytes plus a number for each output, which is
    multiplied by the sums of the inputs; or the sum of several parts. `machine` is the machine
    of the kernels: bf16 is unchanged if it has no instruction for it, and without `halves`.

        tri.mat_mul (tri.sub (tri.cast %x), %z), %w   =>   cpu.dot_mat_mul %x, %w_packed, %b
        tri.conv (tri.sub (tri.cast %x), %z), %w      =>   cpu.dot_conv %x, %w_packed, %b
        tri.conv (tri.sub (tri.cast %x), %z), %w      =>   cpu.dot_panel_conv, for small maps
        tri.mat_mul %x, %w                            =>   cpu.dot_mat_mul %x, %w_packed, %zeros
        tri.mat_mul (tri.sub (tri.cast %x), %z), %w   =>   tri.add (cpu.dot_mat_mul %x, %w_packed),
                                                           tri.mul (cpu.dot_mat_mul %x, %ones), %n
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
    """Hold a tensor of bytes that was widened to i32, and its zero point.

    The zero point is a constant, or a value that is only known at run time.
    """

    x: ir.Value
    machine: Machine
    zero: int
    unknown: ir.Value | None = None

    @property
    def offset(self) -> int:
        """Return the offset that a dot product adds to each element, as far as it is constant."""
        return products_for(self.x, self.machine).offset + self.zero


def _bytes_of(value: ir.Value, machine: Machine, rewriter: Rewriter) -> _Bytes:
    """Find the bytes that an operand is made of; NoMatch when it is made otherwise."""
    if tensor_of(value.type).dtype != VNNI:
        raise NoMatch(f"has element type {tensor_of(value.type).dtype}, must be {VNNI}")
    shift = rewriter.find_producer(value)
    wide = shift.a if isinstance(shift, tri.Sub) else value
    x = rewriter.producer(wide, tri.Cast).x
    if tensor_of(x.type).dtype not in ("ui8", "i8"):
        raise NoMatch(f"widens {tensor_of(x.type).dtype}, must be bytes")
    if not isinstance(shift, tri.Sub):
        return _Bytes(x, machine, 0)
    if tensor_of(x.type).shape != tensor_of(value.type).shape:
        raise NoMatch("the zero point broadcasts the tensor")
    if tensor_of(shift.b.type).size == 1 and rewriter.find_constant(shift.b) is None:
        return _Bytes(x, machine, 0, shift.b)
    return _Bytes(x, machine, int(rewriter.scalar(shift.b)))


def _shifts(w: Array, axes: tuple[int, ...]) -> Array:
    """Return, for each output, a number without which its weights are bytes; zeros if none does."""
    least, most = w.min(axes), w.max(axes)
    fit = (least >= BYTE.min) & (most <= BYTE.max)
    shifts = np.where(fit, 0, least - BYTE.min)
    return shifts if (most - shifts <= BYTE.max).all() else np.zeros_like(shifts)


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
    """Build the bias of an op less the contribution of zero points; `sums` are sums of weights."""
    known = None if given is None else rewriter.find_constant(given)
    fixed = -inputs.offset * sums if known is None else known - inputs.offset * sums
    bias = constant_before(op, fixed.astype(np.int32), "bias", rewriter)
    with rewriter.before(op):
        if given is not None and known is None:
            bias = tri.Add.build(given, bias).y
        if inputs.unknown is None:
            return bias
    weights = constant_before(op, sums.astype(np.int32), "sums", rewriter)
    with rewriter.before(op):
        zero = tri.Reshape.build(inputs.unknown, shape=(1,)).y
        return tri.Sub.build(bias, tri.Mul.build(zero, weights).y).y


Multiply = Callable[[Array, ir.Value], Op]


@dataclass(frozen=True)
class _Products:
    """Build products of bytes with parts of the weights of an op; `axes` are the weights' depth."""

    op: tri.MatMul | tri.Conv
    inputs: _Bytes
    axes: tuple[int, ...]
    multiply: Multiply
    rewriter: Rewriter

    def total(self, parts: Sequence[Array], given: ir.Value | None) -> Op:
        """Build the sum of products with all parts, and of a bias if one is given."""
        made = self._product(parts[0], given)
        for part in parts[1:]:
            product = self._product(part, None)
            with self.rewriter.before(self.op):
                made = tri.Add.build(made.results[0], product.results[0])
        return made

    def shifted(self, made: Op, shifts: Array, ones: Array) -> Op:
        """Add the contribution of the shifts that were subtracted from the weights of outputs."""
        sums = self._product(ones, None)
        numbers = constant_before(self.op, shifts.astype(np.int32), "shifts", self.rewriter)
        with self.rewriter.before(self.op):
            lacking = tri.Mul.build(sums.results[0], numbers).y
            return tri.Add.build(made.results[0], lacking)

    def _product(self, part: Array, given: ir.Value | None) -> Op:
        sums = part.sum(self.axes, np.int64)
        bias = _bias(self.op, given, self.inputs, sums, self.rewriter)
        with self.rewriter.before(self.op):
            return self.multiply(part, bias)


class _ByteMatMul(MachinePattern):
    root = tri.MatMul

    def rewrite(self, op: tri.MatMul, rewriter: Rewriter) -> None:
        inputs = _bytes_of(op.a, self.machine, rewriter)
        check_matrix(op)
        w = rewriter.constant(op.b)
        shifts = _shifts(w, (0,))
        parts = _parts(w - shifts)

        def multiply(part: Array, bias: ir.Value) -> Op:
            return dot_product(op, inputs.x, part, bias, self.machine, rewriter)

        products = _Products(op, inputs, (0,), multiply, rewriter)
        made = products.total(parts, None)
        if shifts.any():
            made = products.shifted(made, shifts, np.ones((len(w), 1), np.int8))
        rewriter.replace(op, made)


class _ByteConv(MachinePattern):
    root = tri.Conv

    def rewrite(self, op: tri.Conv, rewriter: Rewriter) -> None:
        inputs = _bytes_of(op.x, self.machine, rewriter)
        check_kernels(op, self.machine)
        w = rewriter.constant(op.w)
        axes = tuple(range(1, w.ndim))
        ones = (1,) * (w.ndim - 2)
        shifts = _shifts(w, axes) if op.group == 1 else np.zeros(len(w), w.dtype)
        parts = _parts(w - shifts.reshape(-1, 1, *ones))
        if any(op.pads):
            _check_padding(inputs)

        def multiply(part: Array, bias: ir.Value) -> Op:
            return dot_convolution(op, inputs.x, part, bias, inputs.zero, self.machine, rewriter)

        products = _Products(op, inputs, axes, multiply, rewriter)
        made = products.total(parts, op.b)
        if shifts.any():
            kernel = np.ones((1, *w.shape[1:]), np.int8)
            made = products.shifted(made, shifts.reshape(-1, *ones), kernel)
        rewriter.replace(op, made)


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
        check_kernels(op, self.machine)
        w = rewriter.constant(op.w)
        bias = _zeros(op, w.shape[0], rewriter) if op.b is None else _wide(op, op.b, rewriter)
        rewriter.replace(op, dot_convolution(op, op.x, w, bias, 0, self.machine, rewriter))


def _check_half(op: Op) -> None:
    if tensor_of(op.results[0].type).dtype != "bf16":
        raise NoMatch("is not of bf16")


def _zeros(op: Op, count: int, rewriter: Rewriter) -> ir.Value:
    return constant_before(op, np.zeros(count, np.float32), "bias", rewriter)


def _wide(op: Op, bias: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Return a bias in the type of sums."""
    if (known := rewriter.find_constant(bias)) is not None:
        return constant_before(op, known.astype(np.float32), "bias", rewriter)
    with rewriter.before(op):
        return tri.Cast.build(bias, to="f32").y


def _row_bias(op: tri.Gemm, columns: int, rewriter: Rewriter) -> ir.Value:
    """Return the bias of each column; raise NoMatch if rows differ."""
    if op.c is None:
        return _zeros(op, columns, rewriter)
    if tensor_of(op.c.type).size != columns or tensor_of(op.c.type).shape[-1:] != (columns,):
        raise NoMatch(f"adds {tensor_of(op.c.type)}, not one number for each column")
    with rewriter.before(op):
        row = tri.Reshape.build(op.c, shape=(columns,)).y
    return _wide(op, row, rewriter)
