"""PNNX rules for recurrent layers: a torch module for a stack of them, or for one."""

from collections.abc import Sequence

import numpy as np

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.errors import Unsupported
from .....dialects.core.mlir import ir
from .....dialects.core.op import Op
from .....dialects.core.tensor import Array
from ....frontends.pnnx import Operand
from ....frontends.pnnx.format.parameters import Value
from ..graph import PnnxGraph, exports

MODULES: dict[type[Op], tuple[str, tuple[int, ...]]] = {
    tri.Rnn: ("nn.RNN", (0,)),
    tri.Gru: ("nn.GRU", (1, 0, 2)),
    tri.Lstm: ("nn.LSTM", (0, 2, 3, 1)),
}
"""Torch's module, and where torch's gates are among ours."""

Recurrent = tri.Rnn | tri.Gru | tri.Lstm


@exports(*MODULES)
def recurrent(op: Recurrent, graph: PnnxGraph) -> None:
    name, _ = MODULES[type(op)]
    nonlinearity = _nonlinearity(op)
    weights = _weights(op, graph)
    states = [op.initial_h, *([op.initial_c] if isinstance(op, tri.Lstm) else [])]
    if len({state is None for state in states}) > 1:
        raise Unsupported("has one initial state, torch takes both or none")
    length, directions, batch, size = tensor_of(op.y.type).shape
    side_by_side = graph.between(op.y, (length, batch, directions * size), "joined")
    results: list[ir.Value | Operand] = [side_by_side, *list(op.results)[1:]]
    kind: dict[str, Value] = {"nonlinearity": nonlinearity} if isinstance(op, tri.Rnn) else {}
    if isinstance(op, tri.Lstm):
        kind["proj_size"] = 0 if op.projection is None else size
    graph.add(
        name,
        [op.x, *(state for state in states if state is not None)],
        results,
        weights,
        input_size=tensor_of(op.x.type).shape[2],
        hidden_size=op.hidden_size,
        num_layers=1,
        bias=op.b is not None,
        batch_first=False,
        bidirectional=directions == 2,
        **kind,
    )
    apart = (length, batch, directions, size)
    made = graph.between(op.y, apart, "apart")
    graph.add("Tensor.reshape", {"input": side_by_side}, [made], shape=apart)
    graph.add("Tensor.permute", {"input": made}, [op.y], dims=(0, 2, 1, 3))


def _nonlinearity(op: Recurrent) -> str:
    """Refuse options that torch's modules lack, and return the activation of a plain cell."""
    directions = 2 if op.direction == "bidirectional" else 1
    usual = {
        tri.Rnn: ("Tanh",),
        tri.Gru: ("Sigmoid", "Tanh"),
        tri.Lstm: ("Sigmoid", "Tanh", "Tanh"),
    }[type(op)] * directions
    given = op.activations or usual
    relu = isinstance(op, tri.Rnn) and given == ("Relu",) * directions
    if given != usual and not relu:
        raise Unsupported(f"has activations {given}, torch {usual}")
    if op.direction == "reverse" or op.layout or op.clip or op.sequence_lens is not None:
        raise Unsupported("is reverse, clipped, of layout 1 or of several lengths, torch is not")
    if isinstance(op, tri.Gru) and not op.linear_before_reset:
        raise Unsupported("resets the state itself, torch what is computed of it")
    if isinstance(op, tri.Lstm) and (op.input_forget or op.p is not None):
        raise Unsupported("has peepholes or coupled gates, which torch has not")
    return "relu" if relu else "tanh"


def _weights(op: Recurrent, graph: PnnxGraph) -> dict[str, Array]:
    projection = op.projection if isinstance(op, tri.Lstm) else None
    return _layer_weights(type(op), [op.w, op.r, op.b, projection], graph)


def _layer_weights(
    kind: type[Op], operands: Sequence[ir.Value | None], graph: PnnxGraph, layer: int = 0
) -> dict[str, Array]:
    """Return torch's weights of each direction: of inputs, of states, and two biases."""
    w, r, b, p = (graph.array(value) for value in operands)
    pairs = zip(operands, (w, r, b, p), strict=True)
    if w is None or r is None or any(v is not None and array is None for v, array in pairs):
        raise Unsupported("has weights that are not constant, torch's are")
    weights: dict[str, Array] = {}
    for direction, suffix in zip(range(len(w)), ("", "_reverse"), strict=False):
        end = f"l{layer}{suffix}"
        weights[f"weight_ih_{end}"] = _ordered(kind, w[direction])
        weights[f"weight_hh_{end}"] = _ordered(kind, r[direction])
        if p is not None:
            weights[f"weight_hr_{end}"] = p[direction]
        if b is not None:
            of_inputs, of_states = np.split(b[direction], 2)
            weights[f"bias_ih_{end}"] = _ordered(kind, of_inputs)
            weights[f"bias_hh_{end}"] = _ordered(kind, of_states)
    return weights


def _ordered(kind: type[Op], rows: Array) -> Array:
    """Put the rows of gates in torch's order."""
    _, order = MODULES[kind]
    gates = np.split(rows, len(order))
    return np.concatenate([gates[gate] for gate in order])


@exports(tri.RecurrentStack)
def recurrent_stack(op: tri.RecurrentStack, graph: PnnxGraph) -> None:
    kind = type(op.layer)
    weights: dict[str, Array] = {}
    for layer in range(len(op.w)):
        own = [each[layer] if each else None for each in (op.w, op.r, op.b, op.projection)]
        weights |= _layer_weights(kind, own, graph, layer)
    special: dict[str, Value] = {"nonlinearity": op.cell} if kind is tri.Rnn else {}
    if kind is tri.Lstm:
        shown = tensor_of(op.projection[0].type).shape[1] if op.projection else 0
        special["proj_size"] = shown
    graph.add(
        MODULES[kind][0],
        [op.x, *op.states],
        list(op.ys),
        weights,
        input_size=tensor_of(op.x.type).shape[2],
        hidden_size=op.hidden_size,
        num_layers=len(op.w),
        bias=bool(op.b),
        batch_first=op.batch_first,
        bidirectional=op.bidirectional,
        **special,
    )
