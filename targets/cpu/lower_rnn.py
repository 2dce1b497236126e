"""Lowerings of recurrent layers: one matrix product for all inputs, then a walk along time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...dialects import tri
from ...dialects.core.tensor import Tensor
from .approximation import sigmoid, tanh
from .buffer import Buffer, Lanes, zero
from .index import Index, for_each
from .kernel import KernelBuilder
from .lower_matmul import emit_matrix_product
from .number import Number, compute_dtype
from .sink import Sink, each_vector
from .target import CPU, template
from .transposition import store_transposed

_ACTIVATIONS: dict[str, Callable[[Number], Number]] = {
    "Relu": lambda x: x.maximum(0),
    "Sigmoid": sigmoid,
    "Tanh": tanh,
}
_RECURRENT = (tri.Rnn, tri.Gru, tri.Lstm)


@CPU.accepts(*_RECURRENT)
def common_activations(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only with the activations Relu, Sigmoid and Tanh"""
    return set(op.activations) <= set(_ACTIVATIONS)


@CPU.accepts(*_RECURRENT)
def plain_walk(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only without clip and sequence_lens, with layout 0"""
    return not op.clip and op.sequence_lens is None and op.layout == 0


@CPU.accepts(tri.Lstm)
def plain_lstm(op: tri.Lstm) -> bool:
    """Runs LSTM only without peepholes, projection and input_forget"""
    return op.p is None and op.projection is None and not op.input_forget


@dataclass(frozen=True)
class _Layer:
    """Hold what one direction of a layer works with, and the memory it works in."""

    kernel: KernelBuilder
    hidden: int
    batch: int
    weights: Buffer  # [elements of an input, gates * hidden]: transposed weights of the inputs
    inputs: Buffer  # [steps * batch, gates * hidden]: all inputs, already multiplied
    recurrent: Buffer  # [hidden, gates * hidden]: transposed weights of the state
    totals: Buffer  # [batch, gates * hidden]: the state, multiplied, at one step
    dtype: str

    def recall(self, state: Buffer, first: int, count: int) -> None:
        """Multiply the state by the weights of some gates, into `totals`."""
        columns = _columns(self.recurrent, first, count)
        into = _columns(self.totals, first, count)
        emit_matrix_product(
            self.kernel, state, columns, lambda i, j, n, lanes: into.store(n, [i, j], lanes)
        )

    def gate(self, which: int, step: Index, at: list[Index], lanes: Lanes | None) -> Number:
        """Load what the inputs of a step contribute to a gate."""
        row = step * self.batch + at[0]
        return self.inputs.load([row, at[1] + which * self.hidden], lanes)

    def recalled(self, which: int, at: list[Index], lanes: Lanes | None) -> Number:
        """Load what the state contributes to a gate."""
        return self.totals.load([at[0], at[1] + which * self.hidden], lanes)

    def each(self, body: Callable[[list[Index], Lanes | None], None]) -> None:
        each_vector((self.batch, self.hidden), self.kernel.lanes(self.dtype), body)


def _columns(matrix: Buffer, first: int, count: int) -> Buffer:
    """View some neighbouring columns of a matrix."""
    tensor = Tensor((matrix.shape[0], count), matrix.dtype)
    return Buffer(matrix.memory, tensor, matrix.strides, matrix.offset + first)


Cell = Callable[[_Layer, Index, Sequence[Buffer], Sink, Index], None]
"""Emit one step of a cell: from layer, time, states (updated in place), output and direction."""


@template(tri.Rnn)
def lower_rnn(
    op: tri.Rnn,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: None,
    initial_h: Buffer | None,
    y: Sink,
    y_h: Sink,
) -> None:
    def cell(functions: Sequence[str]) -> Cell:
        f = _ACTIVATIONS[functions[0]]

        def step(
            layer: _Layer, time: Index, states: Sequence[Buffer], out: Sink, direction: Index
        ) -> None:
            (h,) = states
            layer.recall(h, 0, layer.hidden)

            def unit(at: list[Index], lanes: Lanes | None) -> None:
                new = f(layer.gate(0, time, at, lanes) + layer.recalled(0, at, lanes))
                h.store(new, at, lanes)
                out.store(new, [time, direction, *at], lanes)

            layer.each(unit)

        return step

    _Recurrent(op, kernel, x, w, r, b, gates=1).run(
        ("Tanh",), cell, [initial_h], y, [y_h], recurrent_bias=1
    )


@template(tri.Lstm)
def lower_lstm(
    op: tri.Lstm,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: None,
    projection: None,
    y: Sink,
    y_h: Sink,
    y_c: Sink,
) -> None:
    def cell(functions: Sequence[str]) -> Cell:
        f, g, show = (_ACTIVATIONS[name] for name in functions)

        def step(
            layer: _Layer, time: Index, states: Sequence[Buffer], out: Sink, direction: Index
        ) -> None:
            h, c = states
            layer.recall(h, 0, 4 * layer.hidden)

            def unit(at: list[Index], lanes: Lanes | None) -> None:
                taken, shown, kept, new = (
                    layer.gate(i, time, at, lanes) + layer.recalled(i, at, lanes) for i in range(4)
                )
                memory = f(kept) * c.load(at, lanes) + f(taken) * g(new)
                output = f(shown) * show(memory)
                c.store(memory, at, lanes)
                h.store(output, at, lanes)
                out.store(output, [time, direction, *at], lanes)

            layer.each(unit)

        return step

    _Recurrent(op, kernel, x, w, r, b, gates=4).run(
        ("Sigmoid", "Tanh", "Tanh"), cell, [initial_h, initial_c], y, [y_h, y_c], recurrent_bias=4
    )


@template(tri.Gru)
def lower_gru(
    op: tri.Gru,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: None,
    initial_h: Buffer | None,
    y: Sink,
    y_h: Sink,
) -> None:
    work = _Recurrent(op, kernel, x, w, r, b, gates=3)
    hidden = op.hidden_size
    update, scaled = (kernel.scratch((x.shape[1], hidden), work.dtype) for _ in range(2))

    def cell(functions: Sequence[str]) -> Cell:
        f, g = (_ACTIVATIONS[name] for name in functions)

        def step(
            layer: _Layer, time: Index, states: Sequence[Buffer], out: Sink, direction: Index
        ) -> None:
            (h,) = states
            layer.recall(h, 0, (3 if op.linear_before_reset else 2) * hidden)

            def bias(at: list[Index], lanes: Lanes | None) -> Number:
                assert b is not None
                return b.load([direction, at[1] + 5 * hidden], lanes)

            def recalled_hidden(at: list[Index], lanes: Lanes | None) -> Number:
                recalled = layer.recalled(2, at, lanes)
                return recalled if b is None else recalled + bias(at, lanes)

            def gates(at: list[Index], lanes: Lanes | None) -> None:
                z, reset = (
                    f(layer.gate(i, time, at, lanes) + layer.recalled(i, at, lanes))
                    for i in range(2)
                )
                update.store(z, at, lanes)
                of = recalled_hidden(at, lanes) if op.linear_before_reset else h.load(at, lanes)
                scaled.store(reset * of, at, lanes)

            def unit(at: list[Index], lanes: Lanes | None) -> None:
                inner = scaled if op.linear_before_reset else None
                recalled = inner.load(at, lanes) if inner else recalled_hidden(at, lanes)
                new = g(layer.gate(2, time, at, lanes) + recalled)
                z = update.load(at, lanes)
                output = (1 - z) * new + z * h.load(at, lanes)
                h.store(output, at, lanes)
                out.store(output, [time, direction, *at], lanes)

            layer.each(gates)
            if not op.linear_before_reset:
                layer.recall(scaled, 2 * hidden, hidden)
            layer.each(unit)

        return step

    work.run(("Sigmoid", "Tanh"), cell, [initial_h], y, [y_h], recurrent_bias=2)


class _Recurrent:
    """Emit what all recurrent layers share: both directions, the input product, the walk."""

    def __init__(
        self,
        op: tri.Recurrent,
        kernel: KernelBuilder,
        x: Buffer,
        w: Buffer,
        r: Buffer,
        b: Buffer | None,
        gates: int,
    ) -> None:
        self.op, self.kernel, self.gates = op, kernel, gates
        self.x, self.w, self.r, self.b = x, w, r, b
        self.length, self.batch, _ = x.shape
        self.hidden = op.hidden_size
        self.dtype = compute_dtype(x.dtype)

    def run(
        self,
        defaults: tuple[str, ...],
        cell: Callable[[Sequence[str]], Cell],
        initial: Sequence[Buffer | None],
        y: Sink,
        last: Sequence[Sink],
        recurrent_bias: int,
    ) -> None:
        """Emit the layer; the first `recurrent_bias` gates add the state's bias to the inputs'."""
        directions = self.w.shape[0]
        names = self.op.activations or defaults * directions
        layer = self._layer()
        states = [self.kernel.scratch((self.batch, self.hidden), self.dtype) for _ in initial]
        for number in range(directions):
            reverse = number == 1 or self.op.direction == "reverse"
            functions = names[number * len(defaults) : (number + 1) * len(defaults)]
            self._prepare(layer, Index(number), recurrent_bias)
            self._start(states, initial, Index(number))
            step = cell(functions)

            def walk(i: Index, step: Cell = step, at: int = number, back: bool = reverse) -> None:
                time = Index(self.length - 1) - i if back else i
                step(layer, time, states, y, Index(at))

            for_each(self.length, walk)
            for state, sink in zip(states, last, strict=True):
                self._finish(state, sink, Index(number))

    def _layer(self) -> _Layer:
        width = self.gates * self.hidden
        return _Layer(
            self.kernel,
            self.hidden,
            self.batch,
            self.kernel.scratch((self.x.shape[2], width), self.dtype),
            self.kernel.scratch((self.length * self.batch, width), self.dtype),
            self.kernel.scratch((self.hidden, width), self.dtype),
            self.kernel.scratch((self.batch, width), self.dtype),
            self.dtype,
        )

    def _prepare(self, layer: _Layer, direction: Index, recurrent_bias: int) -> None:
        """Multiply all inputs; transposes the weights first, as they are read along the gates."""
        lanes = self.kernel.lanes(self.dtype)
        rows = self.x.reshape((self.length * self.batch, self.x.shape[2]))
        store_transposed(self.w.part([direction]), layer.weights, lanes)
        bias = self._bias(direction, recurrent_bias)

        def finish(i: Index, j: Index, number: Number, lanes: Lanes) -> None:
            total = number if bias is None else number + bias.load([j], lanes)
            layer.inputs.store(total, [i, j], lanes)

        emit_matrix_product(self.kernel, rows, layer.weights, finish)
        store_transposed(self.r.part([direction]), layer.recurrent, lanes)

    def _bias(self, direction: Index, recurrent_bias: int) -> Buffer | None:
        """Add the state's bias to that of the inputs, for the first gates."""
        if self.b is None:
            return None
        width = self.gates * self.hidden
        halves = self.b.reshape((self.b.shape[0], 2, width))
        total = self.kernel.scratch((width,), self.dtype)
        for first, last, both in (
            (0, recurrent_bias * self.hidden, True),
            (recurrent_bias * self.hidden, width, False),
        ):

            def add(i: Index, both: bool = both) -> None:
                number = halves.load([direction, Index(0), i])
                if both:
                    number = number + halves.load([direction, Index(1), i])
                total.store(number, [i])

            for_each(last, add, start=first)
        return total

    def _start(
        self, states: Sequence[Buffer], initial: Sequence[Buffer | None], direction: Index
    ) -> None:
        """Set the states to what they begin with: what is given, or zero."""
        for state, given in zip(states, initial, strict=True):

            def begin(
                at: list[Index],
                lanes: Lanes | None,
                state: Buffer = state,
                given: Buffer | None = given,
            ) -> None:
                number = zero(self.dtype, lanes)
                if given is not None:
                    number = given.load([direction, *at], lanes)
                state.store(number, at, lanes)

            each_vector(state.shape, self.kernel.lanes(self.dtype), begin)

    def _finish(self, state: Buffer, sink: Sink, direction: Index) -> None:
        each_vector(
            state.shape,
            self.kernel.lanes(self.dtype),
            lambda at, lanes: sink.store(state.load(at, lanes), [direction, *at], lanes),
        )
