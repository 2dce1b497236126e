"""Rules of ONNX Runtime for operators that ONNX has, too, under their own names or others."""

import numpy as np

from ......dialects import tri
from ......dialects.core.errors import Invalid
from ......dialects.core.sizes.atoms import Size
from ......dialects.core.tensor import Array, normalize_axis, numpy_dtype
from ....core.values import constant, tensor
from ...registry import Node, Value, onnx_op
from ...windows import Ints
from ..constant import range_
from ..conv import conv_transpose
from ..images.pad import pad
from ..images.resize import grid_sample
from ..index import gather_nd
from ..quantize import dequantize_linear, quantize_linear
from ..rearrange import trilu
from ..selection import unique
from . import DOMAIN
from .fused import fused_matmul

for name, rule in (
    ("DequantizeLinear", dequantize_linear),
    ("GridSample", grid_sample),
    ("QuantizeLinear", quantize_linear),
    ("TransposeMatMul", fused_matmul),
    ("Trilu", trilu),
):
    onnx_op(name, since=1, domain=DOMAIN)(rule)


@onnx_op("GatherND", since=1, domain=DOMAIN)
def gather_nd_1(x: Value, indices: Value) -> tri.GatherNd:
    return gather_nd(x, indices)


@onnx_op("Pad", since=1, domain=DOMAIN)
def pad_1(
    x: Value, pads: Value, value: Value | None = None, *, mode: str = "constant", node: Node
) -> tri.Pad | Value:
    """Pad by a list, or a matrix of one row."""
    listed = tri.Reshape.build(pads, shape=(tensor(pads).size,)).y
    return pad(x, listed, value, mode=mode, node=node)


@onnx_op("Range", since=1, domain=DOMAIN)
def range_1(start: Value, limit: Value, delta: Value | None = None, *, node: Node) -> Array | Value:
    """Count from start to limit, in steps of 1 unless others are given."""
    if delta is None:
        delta = constant(np.ones((), numpy_dtype(tensor(start).dtype)))
    return range_(start, limit, delta, node=node)


@onnx_op("ExpandDims", since=1, domain=DOMAIN)
def expand_dims(x: Value, axis: Size) -> tri.Reshape:
    shape = tensor(x).shape
    at = normalize_axis(axis, len(shape) + 1)
    return tri.Reshape.build(x, shape=(*shape[:at], 1, *shape[at:]))


@onnx_op("Unique", since=1, domain=DOMAIN)
def unique_1(x: Value, *, node: Node) -> tuple[Array | Value, ...]:
    """Return the elements in the order in which they come, the place of each, and the counts."""
    if tensor(x).rank != 1:
        raise Invalid(f"input is {tensor(x)}, must be of rank 1")
    found = unique(x, sorted=0, node=node)
    results = found if isinstance(found, tuple) else found.results
    return results[0], results[2], results[3]


@onnx_op("ConvTransposeWithDynamicPads", since=1, domain=DOMAIN)
def conv_transpose_with_dynamic_pads(
    x: Value,
    w: Value,
    pads: Array | None = None,
    b: Value | None = None,
    *,
    auto_pad: str = "NOTSET",
    dilations: Ints | None = None,
    group: int = 1,
    kernel_shape: Ints | None = None,
    output_padding: Ints | None = None,
    strides: Ints | None = None,
) -> tri.ConvTranspose:
    return conv_transpose(
        x,
        w,
        b,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        output_padding=output_padding,
        pads=None if pads is None else tuple(int(each) for each in pads.reshape(-1)),
        strides=strides,
    )
