"""ONNX rules for layers: products, convolutions, norms, attention, recurrence."""

from math import prod

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, numpy_dtype
from ..graph import OnnxGraph, exports


@exports(tri.Conv)
def conv(op: tri.Conv, graph: OnnxGraph) -> None:
    kernel = tensor_of(op.w.type).shape[2:]
    graph.add("Conv", graph.values(op), [op.y], kernel_shape=kernel, **op.attributes)


@exports(tri.ConvTranspose)
def conv_transpose(op: tri.ConvTranspose, graph: OnnxGraph) -> None:
    kernel = tensor_of(op.w.type).shape[2:]
    graph.add("ConvTranspose", graph.values(op), [op.y], kernel_shape=kernel, **op.attributes)


@exports(tri.DeformConv)
def deform_conv(op: tri.DeformConv, graph: OnnxGraph) -> None:
    inputs = [op.x, op.w, op.offset, op.b, op.mask]
    kernel = tensor_of(op.w.type).shape[2:]
    graph.add("DeformConv", inputs, [op.y], since=19, kernel_shape=kernel, **op.attributes)


@exports(tri.MatMul)
def mat_mul(op: tri.MatMul, graph: OnnxGraph) -> None:
    graph.add("MatMul", [op.a, op.b], [op.y])


@exports(tri.Gemm)
def gemm(op: tri.Gemm, graph: OnnxGraph) -> None:
    flags = {"transA": int(op.trans_a), "transB": int(op.trans_b)}
    graph.add("Gemm", graph.values(op), [op.y], alpha=op.alpha, beta=op.beta, **flags)


@exports(tri.Einsum)
def einsum(op: tri.Einsum, graph: OnnxGraph) -> None:
    terms = op.equation.replace(" ", "").partition("->")[0].split(",")
    ranks = [tensor_of(x.type).rank for x in op.xs]
    dots = [r - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True) if "." in t]
    if len(set(dots)) > 1:
        raise Unsupported(f"has ellipses of {dots} axes in '{op.equation}', ONNX wants as many")
    graph.add("Einsum", list(op.xs), [op.y], equation=op.equation)


@exports(tri.Softmax, tri.LogSoftmax, tri.Hardmax)
def softmax(op: tri.Softmax | tri.LogSoftmax | tri.Hardmax, graph: OnnxGraph) -> None:
    graph.add(type(op).__name__, [op.x], [op.y], axis=op.axis)


# -- norms ------------------------------------------------------------------------------------


@exports(tri.BatchNorm)
def batch_norm(op: tri.BatchNorm, graph: OnnxGraph) -> None:
    inputs = [op.x, op.scale, op.bias, op.mean, op.var]
    graph.add("BatchNormalization", inputs, [op.y], epsilon=op.epsilon)


@exports(tri.LayerNorm)
def layer_norm(op: tri.LayerNorm, graph: OnnxGraph) -> None:
    inputs = [op.x, _scale(op), op.bias]
    graph.add("LayerNormalization", inputs, [op.y], axis=op.axis, epsilon=op.epsilon)


@exports(tri.RmsNorm)
def rms_norm(op: tri.RmsNorm, graph: OnnxGraph) -> None:
    attributes = {"axis": op.axis, "epsilon": op.epsilon}
    graph.add("RMSNormalization", [op.x, _scale(op)], [op.y], since=23, **attributes)


def _scale(op: tri.LayerNorm | tri.RmsNorm) -> ir.Value | Array:
    """Return the scale of a norm; ONNX must have one."""
    if op.scale is not None:
        return op.scale
    x = tensor_of(op.x.type)
    return np.ones(x.shape[op.axis :], numpy_dtype(x.dtype))


@exports(tri.GroupNorm)
def group_norm(op: tri.GroupNorm, graph: OnnxGraph) -> None:
    attributes = {"num_groups": op.groups, "epsilon": op.epsilon}
    graph.add("GroupNormalization", graph.values(op), [op.y], since=21, **attributes)


@exports(tri.InstanceNorm)
def instance_norm(op: tri.InstanceNorm, graph: OnnxGraph) -> None:
    graph.add("InstanceNormalization", graph.values(op), [op.y], epsilon=op.epsilon)


@exports(tri.LpNormalize)
def lp_normalize(op: tri.LpNormalize, graph: OnnxGraph) -> None:
    if op.epsilon:
        raise Unsupported(f"has epsilon {op.epsilon}, ONNX none")
    graph.add("LpNormalization", [op.x], [op.y], axis=op.axis, p=op.p)


@exports(tri.Lrn)
def lrn(op: tri.Lrn, graph: OnnxGraph) -> None:
    graph.add("LRN", [op.x], [op.y], **op.attributes)


# -- attention --------------------------------------------------------------------------------


@exports(tri.Attention)
def attention(op: tri.Attention, graph: OnnxGraph) -> None:
    """Write operands of rank 4 as they are; others are reshaped before and after.

    ONNX has one mask, and -inf in place of scores.
    """
    if op.is_chain:
        raise Unsupported("replaces scores by numbers, or has several masks, ONNX has one of -inf")
    flat = tensor_of(op.q.type).rank != 4
    operands = [_batched(value, graph) if flat else value for value in (op.q, op.k, op.v)]
    made = graph.between(op.y, "batched") if flat else op.y
    causal = int(op.causal) or None
    inputs = [*operands, _mask(op, graph)]
    graph.add("Attention", inputs, [made], since=24, scale=op.scale, is_causal=causal)
    if flat:
        graph.reshape(made, tensor_of(op.y.type).shape, op.y)


def _mask(op: tri.Attention, graph: OnnxGraph) -> ir.Value | str | None:
    """Return the mask with all keys: ONNX hides those that a mask does not reach."""
    if not op.masks:
        return None
    (value,) = op.masks
    mask, rank = tensor_of(value.type), tensor_of(op.q.type).rank
    if mask.rank > 3 and rank != 4:
        raise Unsupported(f"has operands of rank {rank} and a mask of rank {mask.rank}")
    keys = tensor_of(op.k.type).shape[-2]
    if mask.rank >= 2 and mask.shape[-1] == keys:
        return value
    name = graph.between(value, "expanded")
    shape = (*(1,) * (2 - mask.rank), *mask.shape[:-1], keys)
    graph.add("Expand", [value, graph.sizes.vector(shape)], [name])
    return name


def _batched(value: ir.Value, graph: OnnxGraph) -> str:
    shape = tensor_of(value.type).shape
    name = graph.between(value, "batched")
    graph.reshape(value, (prod(shape[:-3]), *shape[-3:]), name)
    return name


# -- recurrence -------------------------------------------------------------------------------

RECURRENT: dict[type[Op], str] = {tri.Rnn: "RNN", tri.Gru: "GRU", tri.Lstm: "LSTM"}


@exports(*RECURRENT)
def recurrent(op: tri.Rnn | tri.Gru | tri.Lstm, graph: OnnxGraph) -> None:
    if isinstance(op, tri.Lstm) and op.projection is not None:
        raise Unsupported("has a projection, which ONNX does not")
    special = {
        key: int(op.attributes[key])
        for key in ("linear_before_reset", "input_forget")
        if key in op.attributes
    }
    graph.add(
        RECURRENT[type(op)],
        graph.values(op),
        list(op.results),
        since=22,
        hidden_size=op.hidden_size,
        direction=op.direction,
        activations=op.activations or None,
        activation_alpha=op.alphas or None,
        activation_beta=op.betas or None,
        clip=op.clip or None,
        layout=op.layout,
        **special,
    )


@exports(tri.LinearAttention)
def linear_attention(op: tri.LinearAttention, graph: OnnxGraph) -> None:
    """Write it with the heads side by side, as ONNX wants them, and apart again."""
    if not op.scale:
        raise Unsupported("has scale 0, which ONNX takes for the default")
    heads = {"q_num_heads": _heads(op.q), "kv_num_heads": _heads(op.k)}
    packed = [_together(value, graph) for value in (op.q, op.k, op.v)]
    rates = [None if v is None else _rate(op, v, graph) for v in (op.decay, op.beta)]
    gated, delta = op.decay is not None, op.beta is not None
    rule = "_".join(word for word, has in (("gated", gated), ("delta", delta)) if has)
    made = graph.between(op.y, "packed")
    graph.add(
        "LinearAttention",
        [*packed, op.state, *rates],
        [made, op.last_state],
        since=27,
        scale=op.scale,
        update_rule=rule or "linear",
        **heads,
    )
    graph.reshape(made, tensor_of(op.y.type).shape, op.y)


def _heads(value: ir.Value) -> int:
    return tensor_of(value.type).shape[2]


def _together(value: ir.Value, graph: OnnxGraph) -> str:
    batch, length, heads, size = tensor_of(value.type).shape
    name = graph.between(value, "packed")
    graph.reshape(value, (batch, length, heads * size), name)
    return name


def _rate(op: tri.LinearAttention, rate: ir.Value, graph: OnnxGraph) -> str:
    keys, shape = tensor_of(op.k.type).shape, tensor_of(rate.type).shape
    if shape[:2] != keys[:2] or shape[2:] not in ((keys[2], keys[3]), (keys[2], 1)):
        raise Unsupported(f"has a rate {tensor_of(rate.type)} that ONNX does not broadcast")
    return _together(rate, graph)
