"""Select convolutions and products of matrices."""

from dataclasses import dataclass

import numpy as np

from ....dialects import dla, tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Array
from ....passes.rewriting import NoMatch
from .images import image_of, rows_of, tensor_from
from .selection import BYTE, HIGH, LOW, QuantizedOperand, Selection
from .windows import KernelWindow

MOST_SUM = (1 << 31) - 1


@dataclass(frozen=True)
class ConvKernel:
    """Weights of a convolution, [rows, columns, channels, filters], and biases.

    Weights of a depthwise convolution are [rows, columns, channels].
    """

    weights: Array
    bias: Array

    @property
    def mode(self) -> str:
        return "dense" if self.weights.ndim == 4 else "depthwise"


def convolve(
    selection: Selection,
    x: ir.Value,
    zero: int,
    kernel: ConvKernel,
    window: KernelWindow,
    end: tri.Requantize,
) -> dla.Conv:
    """Build the convolution of an image and its requantization; NoMatch beyond limits."""
    window.check()
    _limit_sums(kernel, zero)
    if kernel.weights.min() < LOW or kernel.weights.max() > HIGH:
        extent = f"from {kernel.weights.min()} to {kernel.weights.max()}"
        raise NoMatch(f"{selection.description.name} has weights of {BYTE}, not {extent}")
    return selection.build(
        dla.Conv,
        x,
        selection.build_constant(kernel.weights.astype(np.int8), "weights"),
        selection.build_constant(kernel.bias.astype(np.int32), "bias"),
        mode=kernel.mode,
        strides=window.strides,
        dilations=window.dilations,
        pads=window.pads,
        source_zero=zero,
        multiplier=end.multiplier,
        shift=end.shift,
        **selection.scaling(end),
    )


def select_conv(op: tri.Requantize, selection: Selection) -> None:
    """Select a convolution: dense, depthwise, or grouped."""
    conv = selection.sole(op.x, tri.Conv)
    _need_channels(op, 1)
    source = selection.quantized_operand(conv.x)
    weights = selection.constant(conv.w, "weights")
    filters = weights.shape[0]
    bias = np.zeros(filters) if conv.b is None else selection.constant(conv.b, "biases")
    kernel = ConvKernel(_grouped(_image_weights(weights), conv.group), bias)
    window = KernelWindow.of(weights.shape[2:], conv.strides, conv.dilations, conv.pads)
    selection.scaling(op)
    covered = (*source.ops, conv)
    with selection.place(*covered):
        image = image_of(source.value)
        made = convolve(selection, image, source.zero, kernel, window, op)
        new = tensor_from(made.y, tensor_of(op.y.type).shape)
    selection.replace(new, covered)


def select_product(op: tri.Requantize, selection: Selection) -> None:
    """Select a product with a constant matrix, as a 1x1 convolution or one of whole images."""
    total, bias = op.x, None
    covered: list[Op] = []
    if isinstance(added := selection.rewriter.find_producer(total), tri.Add):
        selection.sole(total, tri.Add)
        total, bias = added.a, selection.constant(added.b, "biases")
        covered.append(added)
    product = selection.sole(total, tri.MatMul)
    rank = tensor_of(op.y.type).rank
    _need_channels(op, rank - 1)
    matrix = selection.constant(product.b, "weights")
    if matrix.ndim != 2 or rank < 2:
        raise NoMatch(f"{selection.description.name} multiplies by one matrix, not by several")
    source = selection.quantized_operand(product.a)
    biases = _row(bias, matrix.shape[1])
    selection.scaling(op)
    covered += [*source.ops, product]
    with selection.place(*covered):
        try:
            made = _whole_image(selection, source, matrix, biases, op)
        except NoMatch:
            image = rows_of(source.value, selection.rewriter)
            kernel = ConvKernel(matrix[None, None], biases)
            made = convolve(selection, image, source.zero, kernel, KernelWindow(), op)
        new = tri.Reshape.build(made.y, shape=tensor_of(op.y.type).shape)
    selection.replace(new, covered)


def _whole_image(
    selection: Selection, source: QuantizedOperand, matrix: Array, bias: Array, op: tri.Requantize
) -> dla.Conv:
    """Multiply flattened images: the matrix is a kernel of their size."""
    flat = selection.rewriter.producer(source.value, tri.Reshape)
    before, after = tensor_of(flat.x.type).shape, tensor_of(flat.y.type).shape
    if len(before) != 4 or len(after) != 2 or before[0] != after[0]:
        raise NoMatch("operand is no flattened image")
    channels, rows, columns = before[1:]
    weights = matrix.reshape(channels, rows, columns, -1).transpose(1, 2, 0, 3)
    kernel, window = ConvKernel(weights, bias), KernelWindow((rows, columns))
    return convolve(selection, image_of(flat.x), source.zero, kernel, window, op)


def _image_weights(weights: Array) -> Array:
    """Return weights [filters, channels, spatial…] as [rows, columns, channels, filters]."""
    if weights.ndim == 3:
        weights = weights[:, :, None]
    if weights.ndim != 4:
        raise NoMatch(f"convolves over {weights.ndim - 2} axes, must be rows and columns")
    return weights.transpose(2, 3, 1, 0)


def _grouped(weights: Array, groups: int) -> Array:
    """Return dense weights with zeros between groups, or depthwise weights."""
    rows, columns, depth, filters = weights.shape
    if groups == 1:
        return weights
    if depth == 1 and filters == groups:
        return weights[:, :, 0]
    whole = np.zeros((rows, columns, depth * groups, filters), weights.dtype)
    share = filters // groups
    for group in range(groups):
        part = slice(group * share, (group + 1) * share)
        whole[:, :, group * depth : (group + 1) * depth, part] = weights[..., part]
    return whole


def _limit_sums(kernel: ConvKernel, zero: int) -> None:
    """Raise NoMatch if sums, partial ones included, may exceed 32 bits."""
    axes = tuple(range(kernel.weights.ndim - 1)) if kernel.mode == "dense" else (0, 1)
    wide = kernel.weights.astype(np.int64)
    folded = kernel.bias.astype(np.int64) - zero * wide.sum(axis=axes)
    most = int((np.abs(folded) + -LOW * np.abs(wide).sum(axis=axes)).max())
    if most > MOST_SUM:
        raise NoMatch(f"sums may reach {most}, must fit in 32 bits")


def _need_channels(op: tri.Requantize, axis: int) -> None:
    rank = tensor_of(op.y.type).rank
    if len(op.multiplier) > 1 and op.axis % rank != axis:
        raise NoMatch(f"has multipliers along axis {op.axis}, must be that of filters, {axis}")


def _row(bias: Array | None, columns: int) -> Array:
    """Return one bias per column; raise NoMatch if rows differ."""
    if bias is None:
        return np.zeros(columns, np.int64)
    if bias.size not in (1, columns) or bias.shape[-1:] != (bias.size,) * bool(bias.ndim):
        raise NoMatch("adds other numbers to each row")
    return np.broadcast_to(bias.reshape(-1), (columns,))
