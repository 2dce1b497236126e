"""The walk of a recurrent layer along time, step by step, with the cells that it may have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import cpu, tri
from .....dialects.core.tensor import Tensor
from ...kernels.approximation import sigmoid, tanh
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each
from ...kernels.value import Value, compute_dtype

ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "Relu": lambda x: x.maximum(0),
    "Sigmoid": sigmoid,
    "Tanh": tanh,
}


def activations_of(
    op: tri.Recurrent | cpu.PackedRecurrent, defaults: tuple[str, ...], directions: int
) -> list[tuple[str, ...]]:
    """Return the names of the activations of each direction: `defaults` if the op names none."""
    names, count = op.activations or defaults * directions, len(defaults)
    return [names[first : first + count] for first in range(0, len(names), count)]


Allocate = Callable[[], Buffer]
"""Get memory for a state, [batch, hidden]."""


@dataclass(frozen=True)
class Layer:
    """Hold the buffers of a direction of a layer, and the product with its weights.

    `inputs` is [steps * batch, gates * hidden]: the inputs, already multiplied. `recall` multiplies
    a state by the weights of one part of the gates, into `totals`, [batch, gates * hidden].
    """

    kernel: KernelBuilder
    length: int
    batch: int
    hidden: int
    inputs: Buffer
    totals: Buffer
    recall: Callable[[Buffer, int], None]
    dtype: str

    def gate(self, which: int, step: IndexExpr, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contribution of the inputs of a step to a gate."""
        row = step * self.batch + at[0]
        return self.inputs.load([row, at[1] + which * self.hidden], lanes)

    def recalled(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contribution of the state to a gate."""
        return self.totals.load([at[0], at[1] + which * self.hidden], lanes)

    def each(self, body: Callable[[list[IndexExpr], Lanes | None], None]) -> None:
        each_vector((self.batch, self.hidden), self.kernel.lanes(self.dtype), body)


@dataclass(frozen=True)
class Direction:
    """Hold the number of a direction of a layer, and map its steps to times."""

    number: IndexExpr
    back: IndexExpr  # 1 where the last time comes first, else 0

    def time(self, step: IndexExpr, length: int) -> IndexExpr:
        """Return the time of a step."""
        if self.back.known is not None:
            return IndexExpr(length - 1) - step if self.back.known else step
        return step + self.back * (IndexExpr(length - 1) - step * 2)


Step = Callable[[Layer, IndexExpr, Sequence[Buffer], Epilogue, IndexExpr], None]
"""Emit one step of a cell: from layer, time, states (updated in place), output and direction."""

Functions = Sequence[Callable[[Value], Value]]

Cell = Callable[[Functions, Allocate], Step]
"""Make the step of a cell with some activations."""


def plain_cell(functions: Functions, allocate: Allocate) -> Step:
    """Make the step of a plain cell."""
    (f,) = functions

    def step(
        layer: Layer, time: IndexExpr, states: Sequence[Buffer], out: Epilogue, direction: IndexExpr
    ) -> None:
        (h,) = states
        layer.recall(h, 0)

        def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
            new = f(layer.gate(0, time, at, lanes) + layer.recalled(0, at, lanes))
            h.store(new, at, lanes)
            out.store(new, [time, direction, *at], lanes)

        layer.each(unit)

    return step


def lstm_cell(functions: Functions, allocate: Allocate) -> Step:
    """Make the step of long short-term memory."""
    f, g, show = functions

    def step(
        layer: Layer, time: IndexExpr, states: Sequence[Buffer], out: Epilogue, direction: IndexExpr
    ) -> None:
        h, c = states
        layer.recall(h, 0)

        def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
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


Bias = Callable[[IndexExpr, list[IndexExpr], Lanes | None], Value]
"""Load the bias of the contribution of the state to the hidden part, of a direction."""


def gru_cell(linear_before_reset: bool, bias: Bias | None) -> Cell:
    """Return the cell of gated recurrent units.

    With `linear_before_reset` the state is multiplied by all weights at once, otherwise by those of
    the gates and of the hidden part one after the other.
    """

    def recalled_hidden(
        layer: Layer, direction: IndexExpr, at: list[IndexExpr], lanes: Lanes | None
    ) -> Value:
        recalled = layer.recalled(2, at, lanes)
        return recalled if bias is None else recalled + bias(direction, at, lanes)

    def linear(functions: Functions, allocate: Allocate) -> Step:
        f, g = functions

        def step(
            layer: Layer,
            time: IndexExpr,
            states: Sequence[Buffer],
            out: Epilogue,
            direction: IndexExpr,
        ) -> None:
            (h,) = states
            layer.recall(h, 0)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                z, reset = _gates(layer, time, f, at, lanes)
                recalled = reset * recalled_hidden(layer, direction, at, lanes)
                new = g(layer.gate(2, time, at, lanes) + recalled)
                output = (1 - z) * new + z * h.load(at, lanes)
                h.store(output, at, lanes)
                out.store(output, [time, direction, *at], lanes)

            layer.each(unit)

        return step

    def scaled(functions: Functions, allocate: Allocate) -> Step:
        f, g = functions
        update, kept = allocate(), allocate()

        def step(
            layer: Layer,
            time: IndexExpr,
            states: Sequence[Buffer],
            out: Epilogue,
            direction: IndexExpr,
        ) -> None:
            (h,) = states
            layer.recall(h, 0)

            def gates(at: list[IndexExpr], lanes: Lanes | None) -> None:
                z, reset = _gates(layer, time, f, at, lanes)
                update.store(z, at, lanes)
                kept.store(reset * h.load(at, lanes), at, lanes)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                recalled = recalled_hidden(layer, direction, at, lanes)
                new = g(layer.gate(2, time, at, lanes) + recalled)
                z = update.load(at, lanes)
                output = (1 - z) * new + z * h.load(at, lanes)
                h.store(output, at, lanes)
                out.store(output, [time, direction, *at], lanes)

            layer.each(gates)
            layer.recall(kept, 1)
            layer.each(unit)

        return step

    return linear if linear_before_reset else scaled


def _gates(
    layer: Layer,
    time: IndexExpr,
    f: Callable[[Value], Value],
    at: list[IndexExpr],
    lanes: Lanes | None,
) -> tuple[Value, Value]:
    """Compute the update and the reset gate."""
    z, reset = (f(layer.gate(i, time, at, lanes) + layer.recalled(i, at, lanes)) for i in range(2))
    return z, reset


def columns_of(matrix: Buffer, first: IndexExpr, count: int) -> Buffer:
    """View some neighbouring columns of a matrix."""
    tensor = Tensor((matrix.shape[0], count), matrix.dtype)
    return Buffer(matrix.memory, tensor, matrix.strides, matrix.offset + first)


@dataclass(frozen=True)
class Walk:
    """Emit the steps of the directions of a layer, from the initial states to the last ones.

    Directions share `states`; initial states that are not given are zero.
    """

    cell: Cell
    allocate: Allocate
    states: Sequence[Buffer]
    initial: Sequence[Buffer | None]
    y: Epilogue
    last: Sequence[Epilogue]

    def emit(self, layer: Layer, activations: Sequence[str], direction: Direction) -> None:
        """Emit one direction."""
        step = self.cell([ACTIVATIONS[name] for name in activations], self.allocate)
        for state, given in zip(self.states, self.initial, strict=True):

            def begin(
                at: list[IndexExpr],
                lanes: Lanes | None,
                state: Buffer = state,
                given: Buffer | None = given,
            ) -> None:
                if given is None:
                    state.store(zero(layer.dtype, lanes), at, lanes)
                else:
                    state.store(given.load([direction.number, *at], lanes), at, lanes)

            layer.each(begin)

        def one(i: IndexExpr) -> None:
            step(layer, direction.time(i, layer.length), self.states, self.y, direction.number)

        for_each(layer.length, one)
        for state, epilogue in zip(self.states, self.last, strict=True):

            def finish(
                at: list[IndexExpr],
                lanes: Lanes | None,
                state: Buffer = state,
                epilogue: Epilogue = epilogue,
            ) -> None:
                epilogue.store(state.load(at, lanes), [direction.number, *at], lanes)

            layer.each(finish)


class RecurrentLayer:
    """Hold the sizes of a layer on its inputs.

    A state is multiplied by the weights in `parts`, so many columns at a time.
    """

    def __init__(
        self,
        op: tri.Recurrent | cpu.PackedRecurrent,
        kernel: KernelBuilder,
        x: Buffer,
        parts: Sequence[int],
    ) -> None:
        self.op, self.kernel, self.x, self.parts = op, kernel, x, parts
        self.length, self.batch, _ = x.shape
        self.hidden, self.width = op.hidden_size, sum(parts)
        self.dtype = compute_dtype(x.dtype)

    def layer(self, inputs: Buffer, totals: Buffer, recall: Callable[[Buffer, int], None]) -> Layer:
        sizes = (self.length, self.batch, self.hidden)
        return Layer(self.kernel, *sizes, inputs, totals, recall, self.dtype)
