"""PNNX rules for activation functions: as torch's functions, or expressions."""

import math

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array, is_float
from ....frontends.pnnx.format.parameters import Value
from ..graph import PnnxGraph, exports
from .elementwise import LITERALS

FUNCTIONS: dict[type[Op], str] = {
    tri.Hardswish: "F.hardswish",
    tri.Mish: "F.mish",
    tri.Relu: "F.relu",
    tri.Sigmoid: "F.sigmoid",
    tri.Silu: "F.silu",
    tri.Softsign: "F.softsign",
}


@exports(*FUNCTIONS)
def function(op: Op, graph: PnnxGraph) -> None:
    _activate(op, graph, FUNCTIONS[type(op)])


def _activate(op: Op, graph: PnnxGraph, type: str, **parameters: Value) -> None:
    (x,) = op.operation.operands
    graph.add(type, {"input": x}, op.results, **parameters)


@exports(tri.LeakyRelu)
def leaky_relu(op: tri.LeakyRelu, graph: PnnxGraph) -> None:
    _activate(op, graph, "F.leaky_relu", negative_slope=op.alpha)


@exports(tri.Elu)
def elu(op: tri.Elu, graph: PnnxGraph) -> None:
    _activate(op, graph, "F.elu", alpha=op.alpha)


@exports(tri.Celu)
def celu(op: tri.Celu, graph: PnnxGraph) -> None:
    _activate(op, graph, "F.celu", alpha=op.alpha)


@exports(tri.Gelu)
def gelu(op: tri.Gelu, graph: PnnxGraph) -> None:
    _activate(op, graph, "F.gelu", approximate=op.approximate)


@exports(tri.Selu)
def selu(op: tri.Selu, graph: PnnxGraph) -> None:
    usual = tri.Selu.fields.attributes
    if any(np.float32(op.attribute(f)) != np.float32(f.default) for f in usual):
        raise Unsupported(f"has alpha {op.alpha} and gamma {op.gamma}, which torch has fixed")
    _activate(op, graph, "F.selu")


@exports(tri.HardSigmoid)
def hard_sigmoid(op: tri.HardSigmoid, graph: PnnxGraph) -> None:
    if np.float32(op.alpha) == np.float32(1 / 6) and op.beta == 0.5:
        _activate(op, graph, "F.hardsigmoid")
        return
    if tensor_of(op.x.type).dtype not in LITERALS:
        raise Unsupported(f"has alpha {op.alpha} and beta {op.beta}, torch 1/6 and 1/2")
    line = f"add(mul(@0,{op.alpha!r}),{op.beta!r})"
    graph.add("pnnx.Expression", [op.x], [op.y], expr=f"minimum(maximum({line},0.0),1.0)")


@exports(tri.Swish)
def swish(op: tri.Swish, graph: PnnxGraph) -> None:
    if tensor_of(op.x.type).dtype not in LITERALS:
        raise Unsupported(f"has alpha {op.alpha}, torch's silu has 1")
    shape = tensor_of(op.x.type).shape
    scaled, gate = (graph.between(op.x, shape, hint) for hint in ("scaled", "gate"))
    graph.add("pnnx.Expression", [op.x], [scaled], expr=f"mul(@0,{op.alpha!r})")
    graph.add("F.sigmoid", {"input": scaled}, [gate])
    graph.add("pnnx.Expression", [op.x, gate], [op.y], expr="mul(@0,@1)")


@exports(tri.Softplus)
def softplus(op: tri.Softplus, graph: PnnxGraph) -> None:
    """Above the threshold torch takes x itself: 40 is beyond the digits of f64."""
    wide = tensor_of(op.x.type).dtype == "f64"
    _activate(op, graph, "F.softplus", beta=1.0, threshold=40.0 if wide else 20.0)


@exports(tri.Shrink)
def shrink(op: tri.Shrink, graph: PnnxGraph) -> None:
    if op.bias not in (0, op.threshold) or not is_float(tensor_of(op.x.type).dtype):
        raise Unsupported(f"has bias {op.bias}, torch's shrinks 0 or the threshold, of floats")
    name = "F.softshrink" if op.bias else "F.hardshrink"
    _activate(op, graph, name, lambd=op.threshold)


@exports(tri.ThresholdedRelu)
def thresholded_relu(op: tri.ThresholdedRelu, graph: PnnxGraph) -> None:
    _activate(op, graph, "F.threshold", threshold=op.alpha, value=0.0)


@exports(tri.Clip)
def clip(op: tri.Clip, graph: PnnxGraph) -> None:
    low, high = (None if math.isinf(limit) else limit for limit in (op.min, op.max))
    if low is None and high is None:
        graph.add("torch.clone", {"input": op.x}, [op.y])
        return
    _activate(op, graph, "torch.clamp", min=low, max=high)


@exports(tri.Prelu)
def prelu(op: tri.Prelu, graph: PnnxGraph) -> None:
    """Write torch's op when the slope is of channels, a choice of two otherwise."""
    slope, x = graph.array(op.slope), tensor_of(op.x.type)
    if not is_float(x.dtype):
        raise Unsupported(f"takes {x.dtype}, which torch does not")
    channels = None if slope is None else _of_channels(slope, x.shape)
    if channels is not None:
        graph.add("nn.PReLU", [op.x], [op.y], {"weight": channels}, num_parameters=channels.size)
        return
    negative = graph.between(op.x, x.shape, "negative")
    negative.dtype = "bool"
    scaled = graph.between(op.x, x.shape, "scaled")
    graph.add("torch.lt", {"input": op.x}, [negative], other=0)
    graph.add("pnnx.Expression", [op.x, op.slope], [scaled], expr="mul(@0,@1)")
    inputs = {"condition": negative, "input": scaled, "other": op.x}
    graph.add("torch.where", inputs, [op.y])


def _of_channels(slope: Array, shape: tuple[int, ...]) -> Array | None:
    """Return one slope, or one for each element of axis 1, if that is what a slope is."""
    if not shape:
        return None
    if slope.size == 1:
        return slope.reshape(1)
    axis = len(shape) - slope.ndim
    along = [d for d in range(slope.ndim) if slope.shape[d] != 1]
    return slope.reshape(-1) if [d + axis for d in along] == [1] else None
