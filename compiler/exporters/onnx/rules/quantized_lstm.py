"""The ONNX rule for an LSTM whose state is rounded to bytes: a scan for each direction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from .....dialects import tri
from .....dialects.core.attributes import tensor_of
from .....dialects.core.mlir import ir
from .....dialects.core.tensor import Tensor
from .....dialects.tri.recurrent.recurrence import NamedActivation, named_activations
from ..graph import Input, OnnxGraph, element_type, exports, ints, type_info

DTYPE = "f32"

PARAMETERS = {
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "LeakyRelu": ("alpha",),
    "ThresholdedRelu": ("alpha",),
}
"""What ONNX's operators call the parameters of activations that have any."""


@exports(tri.QuantizedLstm)
def quantized_lstm(op: tri.QuantizedLstm, graph: OnnxGraph) -> None:
    """Write standard operators: ONNX Runtime's own one also multiplies the inputs."""
    count = tensor_of(op.r.type).shape[0]
    defaults = tri.Lstm.cell.activations
    named = named_activations(op.activations or defaults * count, op.alphas, op.betas)
    made = [
        _direction(op, graph, number, named[number * len(defaults) :][: len(defaults)])
        for number in range(count)
    ]
    for parts, result, axis in zip(zip(*made, strict=True), op.results, (1, 0, 0), strict=True):
        stacked = [_made(graph, "Unsqueeze", [part, ints(axis)]) for part in parts]
        graph.add("Concat", stacked, [result], axis=axis)


def _direction(
    op: tri.QuantizedLstm, graph: OnnxGraph, number: int, activations: Sequence[NamedActivation]
) -> list[str]:
    """Add the scan of a direction; return its outputs, and the last states."""
    length, batch, _ = tensor_of(op.x.type).shape
    gates = 4 * op.hidden_size
    columns = ints(number * gates), ints((number + 1) * gates), ints(2)
    x = _made(graph, "Slice", [op.x, *columns])
    states = [_initial(op, graph, state, number) for state in (op.initial_h, op.initial_c)]
    weights = [_of_direction(graph, each, number) for each in (op.r, op.r_scale)]
    peepholes: Sequence[str] = ()
    if op.p is not None:
        all_of_them = _of_direction(graph, op.p, number)
        peepholes = [graph.named("peephole", DTYPE) for _ in range(3)]
        graph.add("Split", [all_of_them], peepholes, num_outputs=3, axis=0)
    backward = op.direction == "reverse" or number == 1
    scanned: list[Input] = [_turned(op, graph, x) if backward else x]
    if op.sequence_lens is not None:
        numbers = [np.array(0), graph.sizes.scalar(length), np.array(1)]
        scanned.append(_made(graph, "Range", numbers, "i64"))
    step = _Step(op, graph.inner(), weights, peepholes, activations)
    state = Tensor((batch, op.hidden_size), DTYPE)
    body = step.body(state, Tensor((batch, gates), DTYPE))
    outputs = [graph.named(hint, DTYPE) for hint in ("last_h", "last_c", "y")]
    reverse = int(backward and op.sequence_lens is None)
    graph.add(
        "Scan",
        [*states, *scanned],
        outputs,
        since=19,
        body=body,
        num_scan_inputs=len(scanned),
        scan_input_directions=[reverse] * len(scanned),
        scan_output_directions=[reverse],
    )
    last_h, last_c, y = outputs
    return [_turned(op, graph, y) if backward else y, last_h, last_c]


def _turned(op: tri.QuantizedLstm, graph: OnnxGraph, x: str) -> str:
    """Reverse sequences that have lengths: all begin together, so that one range rounds states."""
    if op.sequence_lens is None:
        return x
    lengths = _made(graph, "Cast", [op.sequence_lens], "i64", to=element_type("i64"))
    return _made(graph, "ReverseSequence", [x, lengths], batch_axis=1, time_axis=0)


def _initial(op: tri.QuantizedLstm, graph: OnnxGraph, state: ir.Value | None, number: int) -> str:
    if state is not None:
        return _of_direction(graph, state, number)
    batch = tensor_of(op.x.type).shape[1]
    shape = graph.sizes.vector((batch, op.hidden_size))
    return _made(graph, "Expand", [np.zeros(1, np.float32), shape])


def _of_direction(graph: OnnxGraph, value: ir.Value, number: int) -> str:
    dtype = tensor_of(value.type).dtype
    return _made(graph, "Gather", [value, np.array(number)], dtype, axis=0)


def _made(
    graph: OnnxGraph, op_type: str, inputs: Sequence[Input], dtype: str = DTYPE, **attributes: Any
) -> str:
    """Add a node; return the name of its result."""
    name = graph.named(op_type.lower(), dtype)
    graph.add(op_type, inputs, [name], **attributes)
    return name


@dataclass(frozen=True)
class _Step:
    """Write the body of a scan: one step of a direction, whose weights are named around it."""

    op: tri.QuantizedLstm
    graph: OnnxGraph
    weights: Sequence[str]
    peepholes: Sequence[str]
    activations: Sequence[NamedActivation]

    def body(self, state: Tensor, inputs: Tensor) -> onnx.GraphProto:
        """Return the graph: it takes the state, inputs and perhaps a number, and puts out `y`."""
        names = [self.graph.named(hint, DTYPE) for hint in ("h", "c", "x")]
        hidden, memory, x = names
        taken = [type_info(n, t) for n, t in zip(names, (state, state, inputs), strict=True)]
        new_hidden, new_memory = self._cell(hidden, memory, x)
        y = new_hidden
        if self.op.sequence_lens is not None:
            number = self.graph.named("number", "i64")
            taken.append(type_info(number, Tensor((), "i64")))
            goes_on = self._goes_on(number, self.op.sequence_lens)
            y = self._add("Where", goes_on, new_hidden, np.zeros(1, np.float32))
            new_hidden = self._add("Where", goes_on, new_hidden, hidden)
            new_memory = self._add("Where", goes_on, new_memory, memory)
        made = [self._add("Identity", each) for each in (new_hidden, new_memory, y)]
        results = [type_info(name, state) for name in made]
        return helper.make_graph(self.graph.nodes, "step", taken, results)

    def _cell(self, hidden: str, memory: str, x: str) -> tuple[str, str]:
        f, g, h = self.activations
        gates = [self.graph.named("gate", DTYPE) for _ in range(4)]
        total = self._add("Add", x, self._recalled(hidden))
        self.graph.add("Split", [total], gates, num_outputs=4, axis=1)
        gate_i, gate_o, gate_f, gate_c = gates
        taken = self._activated(f, self._peep(gate_i, memory, 0))
        if self.op.input_forget:
            kept = self._add("Sub", np.ones(1, np.float32), taken)
        else:
            kept = self._activated(f, self._peep(gate_f, memory, 2))
        fresh = self._add("Mul", taken, self._activated(g, gate_c))
        new = self._add("Add", self._add("Mul", kept, memory), fresh)
        shown = self._activated(f, self._peep(gate_o, new, 1))
        return self._add("Mul", shown, self._apply(h, new)), new

    def _recalled(self, hidden: str) -> str:
        """Round the state to bytes, and multiply it by the weights as integers."""
        r, scales = self.weights
        rounded, zero = (self.graph.named(hint, "ui8") for hint in ("rounded", "zero"))
        step = self.graph.named("step", DTYPE)
        self.graph.add("DynamicQuantizeLinear", [hidden], [rounded, step, zero])
        wide = [self._cast(each, "i32") for each in (rounded, zero)]
        centred = _made(self.graph, "Sub", wide, "i32")
        product = _made(self.graph, "MatMul", [centred, r], "i32")
        return self._add("Mul", self._cast(product, DTYPE), self._add("Mul", scales, step))

    def _peep(self, gate: str, memory: str, number: int) -> str:
        if not self.peepholes:
            return gate
        return self._add("Add", gate, self._add("Mul", self.peepholes[number], memory))

    def _activated(self, activation: NamedActivation, x: str) -> str:
        if self.op.clip:
            limits = (np.array(limit, np.float32) for limit in (-self.op.clip, self.op.clip))
            x = self._add("Clip", x, *limits)
        return self._apply(activation, x)

    def _apply(self, activation: NamedActivation, x: str) -> str:
        name, values = activation
        if name in ("Affine", "ScaledTanh"):
            alpha, beta = (np.array(value, np.float32) for value in values)
            if name == "Affine":
                return self._add("Add", self._add("Mul", x, alpha), beta)
            return self._add("Mul", self._add("Tanh", self._add("Mul", x, beta)), alpha)
        attributes: dict[str, Any] = dict(zip(PARAMETERS.get(name, ()), values, strict=True))
        return _made(self.graph, name, [x], **attributes)

    def _goes_on(self, number: str, lengths: ir.Value) -> str:
        """Test for each sequence that it has the element of a number, [batch, 1]."""
        test = _made(self.graph, "Less", [number, self._cast(lengths, "i64")], "i1")
        return _made(self.graph, "Unsqueeze", [test, ints(1)], "i1")

    def _cast(self, x: Input, dtype: str) -> str:
        return _made(self.graph, "Cast", [x], dtype, to=element_type(dtype))

    def _add(self, op_type: str, *inputs: Input) -> str:
        return _made(self.graph, op_type, inputs)
