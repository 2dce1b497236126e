"""Select convolutions: with bias and a factor for each channel, which SDP computes.

What a convolution of the source has that the engine has not is given to it in other words: the
zero point of the input becomes the value of its pads, and a part of the bias; groups become several
convolutions of parts of the channels.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import lcm

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, Shape
from .....passes.rewriting import NoMatch
from ...select.selection import BYTE, HIGH, LOW
from ...select.windows import KernelWindow
from ..dialect.convolution import Conv
from ..dialect.moves import CHANNELS, Join, Window
from ..dialect.single import Sdp, spelled
from ..format.operations import SdpStage
from ..reference import sdp
from ..reference.arithmetic import Integers
from .selection import NvdlaSelection, image_of

MOST_SUM = (1 << 31) - 1
_RANGE = 256
_HIGH_SHIFT = 16
"""Of a bias of more than 16 bits, stage X1 adds the bits from here on."""


@dataclass(frozen=True)
class Kernel:
    """Weights [K, C, R, S], biases [K], and the factors of sums: multiplier / 2^shift, [K].

    `zero` is the zero point of the input. Weights and biases of f16 have no factors.
    """

    weights: Array
    bias: Array
    multiplier: Integers
    shift: Integers
    zero: int

    def part(self, kernels: slice, weights: Array) -> "Kernel":
        """Return some of the kernels, with other weights."""
        numbers = (self.bias[kernels], self.multiplier[kernels], self.shift[kernels])
        return Kernel(weights, *numbers, self.zero)


Convolve = Callable[[ir.Value, Kernel], ir.Value]
"""Build a convolution of an image, and what ends it."""


@dataclass(frozen=True)
class Ending:
    """What follows the factor: a zero point, and bounds."""

    zero: int
    low: int
    high: int


def ending_of(op: tri.Requantize, selection: NvdlaSelection) -> Ending:
    """Return the zero point and the bounds of a result; raise NoMatch for what SDP cannot do."""
    selection.scaling(op)
    return Ending(op.zero_point, op.low, op.high)


def factors_of(op: tri.Requantize, kernels: int, axis: int) -> tuple[Integers, Integers]:
    """Return the multiplier and the shift of each kernel."""
    if len(op.multiplier) > 1 and op.axis % tensor_of(op.y.type).rank != axis:
        raise NoMatch(f"has multipliers along axis {op.axis}, must be that of filters, {axis}")
    numbers = (np.asarray(each, np.int64) for each in (op.multiplier, op.shift))
    multiplier, shift = (np.broadcast_to(each, (kernels,)) for each in numbers)
    return multiplier, shift


def biases_of(conv: tri.Conv | tri.ConvTranspose, selection: NvdlaSelection) -> Integers:
    """Return the biases of a convolution, or one 0."""
    given = 0 if conv.b is None else selection.constant(conv.b, "biases")
    return np.asarray(given, np.int64)


def kernel_of(op: tri.Requantize, weights: Integers, bias: Integers, zero: int) -> Kernel:
    """Return weights [K, C, R, S] with their biases and factors."""
    kernels = len(weights)
    return Kernel(weights, np.broadcast_to(bias, (kernels,)), *factors_of(op, kernels, 1), zero)


def select_conv(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select a convolution of images, of one or two axes, with any number of groups."""
    conv = selection.sole(op.x, tri.Conv)
    source = selection.quantized_operand(conv.x)
    weights = selection.constant(conv.w, "weights").astype(np.int64)
    bias = biases_of(conv, selection)
    window = KernelWindow.of(weights.shape[2:], conv.strides, conv.dilations, conv.pads)
    kernel = kernel_of(op, weights.reshape(*weights.shape[:2], *window.kernel), bias, source.zero)
    ending = ending_of(op, selection)
    covered = (*source.ops, conv)
    with selection.place(*covered):
        image = image_of(source.value)

        def convolve(x: ir.Value, dense: Kernel) -> ir.Value:
            return convolved(selection, x, dense, window, ending)

        y = convolved_groups(selection, image, kernel, conv.group, convolve)
    selection.replaced(y, covered)


def convolved_groups(
    selection: NvdlaSelection,
    x: ir.Value,
    kernel: Kernel,
    groups: int,
    convolve: Convolve,
) -> ir.Value:
    """Build a convolution of groups: each part of it has whole atoms of channels and kernels."""
    if groups == 1:
        return convolve(x, kernel)
    depth, share = kernel.weights.shape[1], len(kernel.weights) // groups
    atom = selection.atom
    together = lcm(lcm(atom, depth) // depth, lcm(atom, share) // share)
    if together >= groups:
        return convolve(x, _dense(kernel, 0, groups, share))
    parts: list[ir.Value] = []
    rows, columns = tensor_of(x.type).shape[2:]
    for first in range(0, groups, together):
        count = min(together, groups - first)
        part = selection.build(
            Window, x, start=(first * depth, 0, 0), sizes=(count * depth, rows, columns)
        ).y
        parts.append(convolve(part, _dense(kernel, first, count, share)))
    return selection.build(Join, parts, axis=CHANNELS).y


def convolved(
    selection: NvdlaSelection, x: ir.Value, kernel: Kernel, window: KernelWindow, ending: Ending
) -> ir.Value:
    """Build a convolution and the SDP that ends it; NoMatch beyond limits."""
    bias = bias_of(kernel)
    most = np.abs(bias) - LOW * np.abs(kernel.weights).sum(axis=(1, 2, 3))
    if most.max() > MOST_SUM:
        raise NoMatch(f"sums may reach {most.max()}, must fit in 32 bits")
    factor, truncate = _common(kernel, most, selection.description.name)
    sums = summed(selection, x, kernel, window)
    stage = SdpStage(
        enable=1,
        kind=sdp.MULTIPLY,
        mode=sdp.PER_CHANNEL,
        activation=sdp.RELU if ending.low == ending.zero else 0,
        truncate=truncate,
        precision=1,
    )
    first, addends, scales = _biased(selection, stage, bias, factor)
    second = stage if scales.ndim == 1 else replace(stage, kind=sdp.BOTH)
    y = selection.build(
        Sdp,
        sums,
        addends,
        selection.vector(scales, "factors"),
        x1=spelled(first),
        x2=spelled(second),
        offset=-ending.zero,
    ).result
    low = LOW if ending.low == ending.zero else ending.low
    return selection.clamped(y, low, ending.high)


def bias_of(kernel: Kernel) -> Integers:
    """Return biases of sums of bytes, which take the zero point of the input away."""
    return kernel.bias - kernel.zero * kernel.weights.sum(axis=(1, 2, 3))


def summed(
    selection: NvdlaSelection, x: ir.Value, kernel: Kernel, window: KernelWindow
) -> ir.Value:
    """Build the sums of a convolution, without biases; NoMatch beyond limits."""
    window.check()
    weights = kernel.weights
    if weights.dtype != np.float16:
        low, high = int(weights.min()), int(weights.max())
        if low < LOW or high > HIGH:
            name = selection.description.name
            raise NoMatch(f"{name} has weights of {BYTE}, not from {low} to {high}")
        weights = weights.astype(np.int8)
    return selection.build(
        Conv,
        x,
        selection.build_constant(weights, "weights"),
        strides=window.strides,
        dilations=window.dilations,
        pads=window.pads,
        pad_value=kernel.zero,
        block=selection.configuration.macs_channels,
    ).y


def _biased(
    selection: NvdlaSelection, stage: SdpStage, bias: Integers, factor: Integers
) -> tuple[SdpStage, ir.Value, Integers]:
    """Return stage X1, its operand, and the operands of X2: the factors, with bits of biases.

    A bias of more than 16 bits is added in two parts, which is exact.
    """
    first = SdpStage(enable=1, kind=sdp.ALU, mode=sdp.PER_CHANNEL, precision=1)
    if np.abs(bias).max() < 1 << 15:
        return first, selection.vector(bias, "biases"), factor
    upper = (bias + (1 << 15)) >> _HIGH_SHIFT
    lower = bias - (upper << _HIGH_SHIFT)
    first = replace(first, shift=_HIGH_SHIFT)
    return first, selection.vector(upper, "biases"), np.stack([lower, factor], 1)


def _common(kernel: Kernel, most: Integers, name: str) -> tuple[Integers, int]:
    """Return multipliers for one shift, which is that of the largest factor.

    Raises NoMatch where the bits that small factors lose may change a result by more than half a
    step; what is out of range of i8 stays so.
    """
    truncate = int(kernel.shift.min())
    behind = kernel.shift - truncate
    half = np.where(behind > 0, np.int64(1) << np.maximum(behind - 1, 0), 0)
    found = (kernel.multiplier + half) >> behind
    factor = kernel.multiplier * 2.0**-kernel.shift
    reach = np.minimum(most, 2 * _RANGE / np.maximum(factor, 2.0**-62))
    lost = np.abs(found * 2.0**-truncate - factor) * reach
    if lost.max() > 0.5 or found.max() >= 1 << 15:
        raise NoMatch(f"{name} has one shift for all channels, and factors differ too much for it")
    return found, truncate


def _dense(kernel: Kernel, first: int, count: int, share: int) -> Kernel:
    """Return the kernels of some groups as one, whose weights between groups are zeros."""
    depth = kernel.weights.shape[1]
    kernels = slice(first * share, (first + count) * share)
    given = kernel.weights[kernels]
    weights = np.zeros((count * share, count * depth, *given.shape[2:]), given.dtype)
    for group in range(count):
        part = slice(group * share, (group + 1) * share)
        weights[part, group * depth : (group + 1) * depth] = given[part]
    return kernel.part(kernels, weights)


def select_product(op: tri.Requantize, selection: NvdlaSelection) -> None:
    """Select a product with a constant matrix: a convolution of single pixels, or whole images."""
    total, bias = op.x, None
    covered: list[Op] = []
    if isinstance(added := selection.rewriter.find_producer(total), tri.Add):
        selection.sole(total, tri.Add)
        total, bias = added.a, selection.constant(added.b, "biases")
        covered.append(added)
    product = selection.sole(total, tri.MatMul)
    matrix = selection.constant(product.b, "weights").astype(np.int64)
    shape = tensor_of(op.y.type).shape
    if matrix.ndim != 2 or len(shape) != 2:
        raise NoMatch(f"{selection.description.name} multiplies rows by one matrix")
    source = selection.quantized_operand(product.a)
    image, sizes = flattened(source.value, selection)
    depth, kernels = matrix.shape
    weights = matrix.T.reshape(kernels, depth // (sizes[0] * sizes[1]), *sizes)
    biases = _row(bias, kernels)
    kernel = Kernel(weights, biases, *factors_of(op, kernels, 1), source.zero)
    covered += [*source.ops, product]
    with selection.place(*covered):
        window = KernelWindow(sizes)
        y = convolved(selection, image_of(image), kernel, window, ending_of(op, selection))
    selection.replaced(y, covered)


def flattened(rows: ir.Value, selection: NvdlaSelection) -> tuple[ir.Value, Shape]:
    """Return the images that rows are, and the rows and columns of an image."""
    made = selection.rewriter.find_producer(rows)
    if isinstance(made, tri.Reshape):
        before, after = tensor_of(made.x.type).shape, tensor_of(rows.type).shape
        if len(before) == 4 and before[0] == after[0] and max(before[2:]) <= HIGH:
            return made.x, before[2:]
    return rows, (1, 1)


def _row(bias: Array | None, columns: int) -> Integers:
    """Return one bias per column; raise NoMatch if rows differ."""
    if bias is None:
        return np.zeros(columns, np.int64)
    if bias.size not in (1, columns) or bias.shape[-1:] != (bias.size,) * bool(bias.ndim):
        raise NoMatch("adds other numbers to each row")
    return np.broadcast_to(bias.reshape(-1).astype(np.int64), (columns,))
