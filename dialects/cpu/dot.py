"""Dot products on weights packed as VNNI words: of bytes with i32 sums, of bf16 with f32 sums."""

import math

import numpy as np

from ..core.errors import Invalid
from ..core.fields import Operand, Result
from ..core.sizes.checks import need_divides, need_same
from ..core.tensor import Array, Shape, Tensor, numpy_dtype
from ..tri.image.conv import Conv
from ..tri.linear_algebra.matmul import MatMul
from .conv import PackedKernelConv, pack_kernel_columns, pack_kernels, unpack_kernel_columns
from .dialect import CpuOp
from .packing import pack_columns, plain_columns, unpack_columns, unpack_rows
from .vnni import (
    PRODUCTS,
    check_vnni,
    pack_vnni,
    products_of,
    unpack_vnni,
    vnni_count,
    widened,
)


class DotMatMul(CpuOp):
    """Multiply by a matrix as `tri.mat_mul` does, and add a bias for each column.

    `a` is of ui8, i8 or bf16. Bytes are multiplied as unsigned ones: elements of i8 count from -128
    on, so 128 is added to each. With `signed`, 128 is taken from those of ui8 instead. `w` is
    [panels, words of the depth, columns of a panel], made by `pack_vnni_columns`; `columns` counts
    those that are not filling. `b` is [columns]. Bytes are multiplied by i8, summed in i32, which
    wraps around, and make i32; bf16 is multiplied by bf16, summed in f32, and rounded to bf16.
    """

    a: Operand
    w: Operand
    b: Operand
    columns: int
    signed: bool = False
    y: Result

    anchor = True

    def infer(self, a: Tensor, w: Tensor, b: Tensor) -> Tensor:
        products = products_of(a, self.signed)
        words, _ = plain_columns(w, self.columns)
        check_vnni(w, b, self.columns, products)
        fault = f"contracts {a} with {words} words of {products.count}"
        if a.rank < 2:
            raise Invalid(fault)
        need_same(vnni_count(a.shape[-1], products.count), words, fault)
        plain = Tensor((a.shape[-1], self.columns), products.result)
        return MatMul().infer(Tensor(a.shape, products.result), plain)

    def reference(self, a: Array, w: Array, b: Array) -> Array:
        products = products_of(Tensor.of(a), self.signed)
        plain = unpack_vnni(unpack_columns(w, self.columns), 0, products.factor, a.shape[-1])
        total = widened(a, products) @ plain.astype(b.dtype) + b
        return total.astype(numpy_dtype(products.result))


class DotKernelConv(PackedKernelConv, abstract=True):
    """Base of convolutions that put `padding`, a number of the type of `x`, around it.

    `x` is of ui8, i8 or bf16 and `b` is [outputs], with the meaning that `cpu.dot_mat_mul` gives
    them and `signed`.
    """

    b: Operand
    padding: int = 0
    signed: bool = False

    def convolved(self, x: Array, words: Array, b: Array, group: int) -> Array:
        """Convolve with kernels that are [outputs, words of a group, taps…]."""
        products = products_of(Tensor.of(x), self.signed)
        plain = unpack_vnni(words, 1, products.factor, x.shape[1] // group).astype(b.dtype)
        rank = len(self.strides)
        around = zip(self.pads[:rank], self.pads[rank:], strict=True)
        padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=self.padding)
        conv = Conv(strides=self.strides, pads=(0, 0) * rank, dilations=self.dilations, group=group)
        total = conv.reference(widened(padded, products), plain, b)
        return total.astype(numpy_dtype(products.result))


class DotConv(DotKernelConv):
    """Convolve as `tri.conv` does, around whose input `padding` is put, and add a bias.

    `w` is [group, outputs / group * words of the channels of a group * taps], made by
    `pack_vnni_kernels` with `block`: a row is one output.
    """

    block: int

    def infer(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        products = products_of(x, self.signed)
        check_vnni(w, b, self.outputs, products)
        _check_padding(x, self.padding)
        wide = Tensor(x.shape, products.result)
        plain = Tensor(_plain_shape(x, w, self.outputs, self.block, self.kernel), products.result)
        return self.plain(w.shape[0]).infer(wide, plain)

    def reference(self, x: Array, w: Array, b: Array) -> Array:
        words = unpack_rows(w, self.outputs // w.shape[0], self.block).reshape(
            self.outputs, -1, *self.kernel
        )
        return self.convolved(x, words, b, w.shape[0])


class DotPanelConv(DotKernelConv):
    """Convolve as `cpu.dot_conv` does, in one group, with vectors across outputs.

    `w` is [panels, taps * words of the channels, outputs of a panel], made by
    `pack_vnni_kernel_columns`: a column is one output.
    """

    def infer(self, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        products = products_of(x, self.signed)
        depth, _ = plain_columns(w, self.outputs)
        check_vnni(w, b, self.outputs, products)
        _check_padding(x, self.padding)
        fault = f"weight {w} does not hold windows of {self.kernel} in {x}"
        if x.rank < 2:
            raise Invalid(fault)
        words = vnni_count(x.shape[1], products.count)
        need_same(depth, words * math.prod(self.kernel), fault)
        wide = Tensor(x.shape, products.result)
        plain = Tensor((self.outputs, x.shape[1], *self.kernel), products.result)
        return self.plain().infer(wide, plain)

    def reference(self, x: Array, w: Array, b: Array) -> Array:
        words = unpack_kernel_columns(w, self.outputs, self.kernel)
        return self.convolved(x, words, b, 1)


def pack_vnni_columns(w: Array, block: int) -> Array:
    """Bring a matrix of i8 or bf16 into the order of a `cpu.dot_mat_mul`."""
    return pack_columns(pack_vnni(w, 0), block)


def pack_vnni_kernels(w: Array, group: int, block: int) -> Array:
    """Bring the kernels of a `tri.conv`, of i8 or bf16, into the order of a `cpu.dot_conv`."""
    return pack_kernels(pack_vnni(w, 1), group, block)


def pack_vnni_kernel_columns(w: Array, block: int) -> Array:
    """Bring kernels, as `pack_vnni_kernels` does, into the order of a `cpu.dot_panel_conv`."""
    return pack_kernel_columns(pack_vnni(w, 1), block)


def _check_padding(x: Tensor, padding: int) -> None:
    dtype = numpy_dtype(x.dtype)
    info = np.iinfo(dtype) if PRODUCTS[x.dtype].factor == "i8" else None
    low, high = (int(info.min), int(info.max)) if info else (0, 0)
    if not low <= padding <= high:
        raise Invalid(f"padding is {padding}, must be from {low} to {high} in {x.dtype}")


def _plain_shape(x: Tensor, w: Tensor, outputs: int, block: int, kernel: tuple[int, ...]) -> Shape:
    """Return the shape of the kernels before they were packed; Invalid where they cannot be."""
    if w.rank != 2:
        raise Invalid(f"weight has rank {w.rank}, must have 2: groups, packed kernels")
    if block < 1:
        raise Invalid(f"block is {block}, must be at least 1")
    group, size = w.shape
    fault = f"{group} groups do not split {x} and {outputs} outputs"
    if x.rank < 2 or outputs < 1:
        raise Invalid(fault)
    need_divides(x.shape[1], group, fault)
    need_divides(outputs, group, fault)
    channels = x.shape[1] // group
    words = vnni_count(channels, PRODUCTS[x.dtype].count)
    fault = f"weight {w} does not hold {outputs} kernels of {kernel} in {words} words"
    need_same(size, outputs // group * words * math.prod(kernel), fault)
    return (outputs, channels, *kernel)
