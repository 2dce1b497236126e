"""ONNX rules for binary operators before opset 7, whose attributes define how `b` broadcasts."""

from collections.abc import Callable

from .....dialects import tri
from .....dialects.core.errors import Invalid
from .....dialects.core.op import Op
from .....dialects.core.tensor import normalize_axis
from ...core.values import tensor
from ..registry import Value, onnx_op

BINARY: tuple[tuple[str, int, type[Op]], ...] = (
    ("Add", 6, tri.Add),
    ("And", 1, tri.And),
    ("Div", 6, tri.Div),
    ("Equal", 1, tri.Equal),
    ("Greater", 1, tri.Greater),
    ("Less", 1, tri.Less),
    ("Mul", 6, tri.Mul),
    ("Or", 1, tri.Or),
    ("Pow", 1, tri.Pow),
    ("Sub", 6, tri.Sub),
    ("Xor", 1, tri.Xor),
)
"""Operators whose `b` broadcasts one way: ONNX's name, version, op."""


def _one_way(op: type[Op]) -> Callable[..., Op]:
    def rule(a: Value, b: Value, *, axis: int | None = None, broadcast: int = 0) -> Op:
        if not broadcast and tensor(a).shape != tensor(b).shape:
            shapes = f"{list(tensor(a).shape)} and {list(tensor(b).shape)}"
            raise Invalid(f"has operands of shapes {shapes}, must be the same without 'broadcast'")
        return op.build(a, b if axis is None else _placed(b, axis, tensor(a).rank))

    return rule


def _placed(b: Value, axis: int, rank: int) -> Value:
    """Put the first axis of `b` at an axis of a tensor of some rank."""
    shape = tensor(b).shape
    after = rank - normalize_axis(axis, rank) - len(shape)
    if after < 0:
        raise Invalid(f"places {len(shape)} axes at axis {axis} of {rank}, which is too far")
    return b if after == 0 else tri.Reshape.build(b, shape=(*shape, *[1] * after)).y


for _op_type, _since, _op in BINARY:
    onnx_op(_op_type, since=_since)(_one_way(_op))


@onnx_op("PRelu", since=6)
def prelu(x: Value, slope: Value) -> tri.Prelu:
    """Take one slope for all, or one for each channel."""
    if tensor(slope).size > 1:
        slope = _placed(slope, 1, tensor(x).rank)
    return tri.Prelu.build(x, slope)
