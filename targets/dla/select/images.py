"""Convert tensors to images [N, rows, columns, channels] and back."""

import math

from ....dialects import tri
from ....dialects.core.attributes import tensor_of
from ....dialects.core.mlir import ir
from ....dialects.core.op import Op
from ....dialects.core.tensor import Shape
from ....dialects.dla.dialect import TensorOp
from ....passes.building import reshape, transpose
from ....passes.rewriting import NoMatch, Rewriter


def image_of(x: ir.Value) -> ir.Value:
    """Build the image of a tensor [N, channels, rows, columns] or [N, channels, columns]."""
    shape = tensor_of(x.type).shape
    if len(shape) == 4:
        return transpose(x, 0, 2, 3, 1)
    if len(shape) != 3:
        raise NoMatch(f"images have rows and columns, not {len(shape) - 2} axes")
    return reshape(transpose(x, 0, 2, 1), shape[0], 1, shape[2], shape[1])


def tensor_from(image: ir.Value, shape: Shape) -> Op:
    """Build the tensor [N, channels, spatial…] of a shape from an image."""
    if len(shape) == 4:
        return tri.Transpose.build(image, permutation=(0, 3, 1, 2))
    rows = reshape(image, shape[0], shape[2], shape[1])
    return tri.Transpose.build(rows, permutation=(0, 2, 1))


def rows_shape(shape: Shape) -> Shape:
    """Return the shape of the image whose channels are the last axis of a tensor."""
    channels = shape[-1] if shape else 1
    if len(shape) == 3:
        return (shape[0], shape[1], 1, channels)
    return (1, math.prod(shape[:-1]), 1, channels)


def rows_of(x: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Build the image whose channels are the last axis of a tensor.

    A reshaped image with these channels is returned as it was before the reshape.
    """
    shape = tensor_of(x.type).shape
    made = rewriter.find_producer(x)
    if isinstance(made, tri.Reshape) and shape:
        before = tensor_of(made.x.type).shape
        inner = rewriter.find_producer(made.x)
        if isinstance(inner, TensorOp) and before[-1] == shape[-1]:
            return made.x
    return reshape(x, *rows_shape(shape))


def elements_of(x: ir.Value, rewriter: Rewriter) -> ir.Value:
    """Build an image of a tensor for an elementwise op."""
    return image_of(x) if tensor_of(x.type).rank == 4 else rows_of(x, rewriter)


def elements_from(image: ir.Value, shape: Shape) -> Op:
    """Build the tensor of a shape from an image that `elements_of` made."""
    return tensor_from(image, shape) if len(shape) == 4 else tri.Reshape.build(image, shape=shape)


def is_made_here(x: ir.Value, rewriter: Rewriter) -> bool:
    """Report whether an op of the accelerator makes the image of a tensor."""
    made = rewriter.find_producer(x)
    while isinstance(made, (tri.Reshape, tri.Transpose)):
        made = rewriter.find_producer(made.x)
    return isinstance(made, TensorOp)
