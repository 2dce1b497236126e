"""PNNX rules for layers: products, convolutions, norms."""

import math
from collections.abc import Mapping

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Array, Shape, is_float, numpy_dtype
from ....frontends.pnnx import Operand
from ..graph import PnnxGraph, exports
from ..windows import padded
from .moves import cut

Values = Mapping[str, ir.Value | None]


@exports(tri.Conv)
def conv(op: tri.Conv, graph: PnnxGraph) -> None:
    x, padding = padded(op.x, op.pads, graph)
    rank, outputs = len(op.strides), tensor_of(op.w.type).shape[0]
    channels = tensor_of(op.x.type).shape[1]
    sizes = {"stride": op.strides, "dilation": op.dilations, "groups": op.group}
    weights = _weights(graph, {"weight": op.w, "bias": op.b})
    if weights is None:
        inputs = {"input": x, "weight": op.w, "bias": op.b}
        graph.add(f"F.conv{rank}d", inputs, [op.y], padding=padding, **sizes)
        return
    graph.add(
        f"nn.Conv{rank}d",
        [x],
        [op.y],
        weights,
        bias=op.b is not None,
        in_channels=channels,
        out_channels=outputs,
        kernel_size=tensor_of(op.w.type).shape[2:],
        padding=padding,
        padding_mode="zeros",
        **sizes,
    )


@exports(tri.ConvTranspose)
def conv_transpose(op: tri.ConvTranspose, graph: PnnxGraph) -> None:
    """Cut the lesser padding off, as torch does on both sides alike, and the rest by a slice."""
    rank = len(op.strides)
    begins, ends = op.pads[:rank], op.pads[rank:]
    padding = tuple(map(min, begins, ends))
    limits = tuple(map(max, op.strides, op.dilations))
    if any(extra >= limit for extra, limit in zip(op.output_padding, limits, strict=True)):
        raise Unsupported(f"has output_padding {op.output_padding}, torch takes less than {limits}")
    y, shape = op.y, tensor_of(op.y.type).shape
    more = [b + e - 2 * p for b, e, p in zip(begins, ends, padding, strict=True)]
    full = (*shape[:2], *(size + extra for size, extra in zip(shape[2:], more, strict=True)))
    made = graph.between(op.y, full, "full") if any(more) else y
    weights = _weights(graph, {"weight": op.w, "bias": op.b})
    sizes = {"stride": op.strides, "dilation": op.dilations, "groups": op.group}
    sizes |= {"padding": padding, "output_padding": op.output_padding}
    if weights is None:
        inputs = {"input": op.x, "weight": op.w, "bias": op.b}
        graph.add(f"F.conv_transpose{rank}d", inputs, [made], **sizes)
    else:
        graph.add(
            f"nn.ConvTranspose{rank}d",
            [op.x],
            [made],
            weights,
            bias=op.b is not None,
            in_channels=tensor_of(op.x.type).shape[1],
            out_channels=shape[1],
            kernel_size=tensor_of(op.w.type).shape[2:],
            **sizes,
        )
    if not isinstance(made, ir.Value):
        starts = (0, 0, *(b - p for b, p in zip(begins, padding, strict=True)))
        cut(graph, made, full, op.y, starts, shape)


def _weights(graph: PnnxGraph, values: Values) -> dict[str, Array] | None:
    """Return the arrays of values that are constants or absent, None if any is neither."""
    arrays = {key: graph.array(value) for key, value in values.items() if value is not None}
    known = {key: array for key, array in arrays.items() if array is not None}
    return known if len(known) == len(arrays) else None


# -- products ---------------------------------------------------------------------------------


@exports(tri.MatMul)
def mat_mul(op: tri.MatMul, graph: PnnxGraph) -> None:
    graph.add("torch.matmul", {"input": op.a, "other": op.b}, [op.y])


@exports(tri.Linear)
def linear(op: tri.Linear, graph: PnnxGraph) -> None:
    values: Values = {"weight": op.w, "bias": op.b}
    weights = _weights(graph, values)
    if weights is None:
        graph.add("F.linear", {"input": op.x, **values}, [op.y])
        return
    outputs, inputs = tensor_of(op.w.type).shape
    sizes = {"in_features": inputs, "out_features": outputs}
    graph.add("nn.Linear", [op.x], [op.y], weights, bias=op.b is not None, **sizes)


@exports(tri.Gemm)
def gemm(op: tri.Gemm, graph: PnnxGraph) -> None:
    plain = op.alpha == 1 and (op.c is None or op.beta == 1) and not op.trans_a
    weights = _weights(graph, {"weight": op.b, "bias": op.c})
    columns = tensor_of(op.y.type).shape[1]
    if plain and weights is not None and (op.c is None or tensor_of(op.c.type).shape == (columns,)):
        weight = weights["weight"] if op.trans_b else np.ascontiguousarray(weights["weight"].T)
        sizes = {"in_features": weight.shape[1], "out_features": columns}
        has_bias = op.c is not None
        graph.add("nn.Linear", [op.a], [op.y], weights | {"weight": weight}, bias=has_bias, **sizes)
        return
    a = _turned(op.a, graph) if op.trans_a else op.a
    b = _turned(op.b, graph) if op.trans_b else op.b
    if op.alpha == 1 and op.c is None:
        graph.add("torch.mm", {"input": a, "mat2": b}, [op.y])
        return
    dtype = tensor_of(op.a.type).dtype
    if not is_float(dtype):
        raise Unsupported(f"adds to or scales a product of {dtype}, which torch does otherwise")
    c = op.c or graph.constant("zero", np.zeros(1, numpy_dtype(dtype)))
    beta = 0.0 if op.c is None else op.beta
    inputs = {"input": c, "mat1": a, "mat2": b}
    graph.add("torch.addmm", inputs, [op.y], alpha=op.alpha, beta=beta)


def _turned(value: ir.Value, graph: PnnxGraph) -> Operand:
    shape = tensor_of(value.type).shape[::-1]
    made = graph.between(value, shape, "transposed")
    graph.add("torch.t", {"input": value}, [made])
    return made


@exports(tri.Einsum)
def einsum(op: tri.Einsum, graph: PnnxGraph) -> None:
    graph.add("torch.einsum", list(op.xs), [op.y], equation=op.equation.replace(" ", ""))


@exports(tri.Softmax, tri.LogSoftmax)
def softmax(op: tri.Softmax | tri.LogSoftmax, graph: PnnxGraph) -> None:
    name = "F.softmax" if isinstance(op, tri.Softmax) else "F.log_softmax"
    graph.add(name, {"input": op.x}, [op.y], dim=op.axis)


# -- norms ------------------------------------------------------------------------------------


@exports(tri.BatchNorm)
def batch_norm(op: tri.BatchNorm, graph: PnnxGraph) -> None:
    values: Values = {
        "weight": op.scale,
        "bias": op.bias,
        "running_mean": op.mean,
        "running_var": op.var,
    }
    x = tensor_of(op.x.type)
    weights, rank = _weights(graph, values), {2: 1, 3: 1, 4: 2, 5: 3}.get(x.rank)
    if weights is None or rank is None:
        graph.add("F.batch_norm", {"input": op.x, **values}, [op.y], eps=op.epsilon)
        return
    sizes = {"num_features": x.shape[1], "affine": True}
    graph.add(f"nn.BatchNorm{rank}d", [op.x], [op.y], weights, eps=op.epsilon, **sizes)


@exports(tri.LayerNorm, tri.RmsNorm)
def layer_norm(op: tri.LayerNorm | tri.RmsNorm, graph: PnnxGraph) -> None:
    shape = tensor_of(op.x.type).shape[op.axis :]
    names = ("weight", "bias") if isinstance(op, tri.LayerNorm) else ("weight",)
    values: Values = dict(zip(names, op.operand_groups()[1:], strict=True))
    weights = _weights(graph, values)
    sizes = {"normalized_shape": shape, "eps": op.epsilon}
    whole = len({value is None for value in values.values()}) == 1
    kind = "LayerNorm" if isinstance(op, tri.LayerNorm) else "RMSNorm"
    if weights is not None and whole:
        arrays = {key: _filled(array, shape) for key, array in weights.items()}
        affine = bool(arrays)
        graph.add(f"nn.{kind}", [op.x], [op.y], arrays, elementwise_affine=affine, **sizes)
        return
    for value in values.values():
        if value is not None and tensor_of(value.type).shape != shape:
            raise Unsupported(f"scales by {tensor_of(value.type)}, torch by {list(shape)}")
    name = "F.layer_norm" if isinstance(op, tri.LayerNorm) else "F.rms_norm"
    graph.add(name, {"input": op.x, **values}, [op.y], **sizes)


def _filled(array: Array, shape: Shape) -> Array:
    """Broadcast to the axes that are normalised."""
    spare = array.ndim - len(shape)
    if spare > 0 and set(array.shape[:spare]) == {1}:
        array = array.reshape(array.shape[spare:])
    try:
        return np.ascontiguousarray(np.broadcast_to(array, shape))
    except ValueError:
        given = list(array.shape)
        raise Unsupported(f"scales by a tensor of {given}, torch by {list(shape)}") from None


@exports(tri.GroupNorm)
def group_norm(op: tri.GroupNorm, graph: PnnxGraph) -> None:
    values: Values = {"weight": op.scale, "bias": op.bias}
    weights, x = _weights(graph, values), tensor_of(op.x.type)
    if x.size == op.groups:
        raise Unsupported(f"normalises {x} in {op.groups} groups, torch more than one element each")
    sizes = {"num_groups": op.groups, "eps": op.epsilon}
    if weights is None:
        graph.add("F.group_norm", {"input": op.x, **values}, [op.y], **sizes)
        return
    sizes |= {"num_channels": x.shape[1], "affine": True}
    graph.add("nn.GroupNorm", [op.x], [op.y], weights, **sizes)


@exports(tri.InstanceNorm)
def instance_norm(op: tri.InstanceNorm, graph: PnnxGraph) -> None:
    values: Values = {"weight": op.scale, "bias": op.bias}
    x, weights = tensor_of(op.x.type), _weights(graph, values)
    if math.prod(x.shape[2:]) < 2:
        raise Unsupported(f"normalises {x}, torch channels of more than one element")
    if weights is None or not 3 <= x.rank <= 5:
        graph.add("F.instance_norm", {"input": op.x, **values}, [op.y], eps=op.epsilon)
        return
    sizes = {"num_features": x.shape[1], "affine": True, "track_running_stats": False}
    graph.add(f"nn.InstanceNorm{x.rank - 2}d", [op.x], [op.y], weights, eps=op.epsilon, **sizes)


@exports(tri.Lrn)
def lrn(op: tri.Lrn, graph: PnnxGraph) -> None:
    if op.size % 2 == 0 or tensor_of(op.x.type).rank < 3:
        raise Unsupported(f"has size {op.size}, torch an odd one and operands of rank 3 or more")
    attributes = {"size": op.size, "alpha": op.alpha, "beta": op.beta, "k": op.bias}
    graph.add("nn.LocalResponseNorm", [op.x], [op.y], **attributes)


SMALLEST = {"f64": 5e-324, "f32": 1.401298464324817e-45}
"""Replaces an epsilon of 0, with which torch returns NaN for a norm of zero."""


@exports(tri.LpNormalize)
def lp_normalize(op: tri.LpNormalize, graph: PnnxGraph) -> None:
    dtype = tensor_of(op.x.type).dtype
    if not op.epsilon and dtype not in SMALLEST:
        raise Unsupported(f"takes {dtype} without an epsilon, torch has one")
    eps = op.epsilon or SMALLEST[dtype]
    graph.add("F.normalize", {"input": op.x}, [op.y], p=op.p, dim=op.axis, eps=eps)
