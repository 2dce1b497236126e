"""ONNX rules for softmax and its kin.

Before opset 13 they saw a matrix: all axes before `axis` as its rows, the others as its columns.
"""

import math
from collections.abc import Callable

from .....dialects import tri
from .....dialects.core.tensor import normalize_axis
from ...core.values import tensor
from ..registry import Value, onnx_op

OPS: tuple[tuple[str, type[tri.Distribution]], ...] = (
    ("Softmax", tri.Softmax),
    ("LogSoftmax", tri.LogSoftmax),
    ("Hardmax", tri.Hardmax),
)


def _along_axis(op: type[tri.Distribution]) -> Callable[..., Value]:
    def rule(x: Value, *, axis: int = -1) -> Value:
        return op.build(x, axis=normalize_axis(axis, tensor(x).rank)).y

    return rule


def _of_matrix(op: type[tri.Distribution]) -> Callable[..., Value]:
    def rule(x: Value, *, axis: int = 1) -> Value:
        shape = tensor(x).shape
        # ONNX allowed axis = rank here: a matrix of one column.
        split = axis if axis == len(shape) else normalize_axis(axis, len(shape))
        if split == len(shape) - 1:
            return op.build(x, axis=split).y
        matrix = (math.prod(shape[:split]), math.prod(shape[split:]))
        flat = op.build(tri.Reshape.build(x, shape=matrix).y, axis=1).y
        return tri.Reshape.build(flat, shape=shape).y

    return rule


for _op_type, _op in OPS:
    onnx_op(_op_type, since=1)(_of_matrix(_op))
    onnx_op(_op_type, since=13)(_along_axis(_op))
