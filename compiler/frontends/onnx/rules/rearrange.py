"""ONNX rules for operators that rearrange elements in blocks, triangles or steps of time."""

from .....dialects import tri
from .....dialects.core.errors import Invalid
from ...core.values import tensor
from ..registry import Size, Value, onnx_op


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
def trilu(x: Value, k: Size | None = None, *, upper: int = 1) -> tri.Trilu:
    return tri.Trilu.build(x, k=0 if k is None else k, upper=bool(upper))
