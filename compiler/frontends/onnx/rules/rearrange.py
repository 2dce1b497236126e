"""ONNX rules for operators that rearrange elements in blocks, triangles or steps of time."""

import numpy as np

from .....dialects import tri
from .....dialects.core.errors import Invalid
from ...core.values import cast, constant, counted, only, tensor
from ..registry import Node, Value, onnx_op


@onnx_op("DepthToSpace", since=1)
def depth_to_space(x: Value, *, blocksize: int, mode: str = "DCR") -> tri.DepthToSpace:
    return tri.DepthToSpace.build(x, blocksize=blocksize, mode=mode)


@onnx_op("SpaceToDepth", since=1)
def space_to_depth(x: Value, *, blocksize: int, mode: str = "DCR") -> Value:
    y = tri.SpaceToDepth.build(x, blocksize=blocksize).y
    if mode == "DCR":
        return y
    if mode != "CRD":
        raise Invalid(f"has mode '{mode}', must be DCR or CRD")
    n, c = tensor(x).shape[:2]
    out = tensor(y).shape
    split = tri.Reshape.build(y, shape=(n, blocksize**2, c, *out[2:])).y
    swapped = tri.Transpose.build(split, permutation=(0, 2, 1, 3, 4)).y
    return tri.Reshape.build(swapped, shape=out).y


@onnx_op("ReverseSequence", since=10)
def reverse_sequence(
    x: Value, sequence_lens: Value, *, batch_axis: int = 1, time_axis: int = 0
) -> tri.ReverseSequence:
    return tri.ReverseSequence.build(x, sequence_lens, batch_axis=batch_axis, time_axis=time_axis)


@onnx_op("Trilu", since=14)
def trilu(x: Value, k: Value | None = None, *, upper: int = 1, node: Node) -> Value:
    if k is None or None not in node.found.known(k):
        diagonal = 0 if k is None else only(node.sizes(k, "input 'k'"))
        return tri.Trilu.build(x, k=diagonal, upper=bool(upper)).y
    if tensor(x).rank < 2 or tensor(k).size != 1:
        raise Invalid(f"has input {tensor(x)} and k {tensor(k)}, must be a matrix and one number")
    *_, rows, columns = tensor(x).shape
    distance = tri.Sub.build(counted(columns, (1, columns)), counted(rows, (rows, 1))).y
    first = tri.Reshape.build(cast(k, "i64"), shape=()).y
    compare = tri.GreaterEqual if upper else tri.LessEqual
    zero = cast(constant(np.zeros((), np.float32)), tensor(x).dtype)
    return tri.Where.build(compare.build(distance, first).y, x, zero).y
