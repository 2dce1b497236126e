"""The walk of a recurrent layer along time, step by step, with the cells that it may have."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import cpu, tri
from .....dialects.core.tensor import Tensor
from ....kernels.arithmetic import compute_dtype
from ...kernels.approximation import sigmoid, tanh
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, for_each
from ...kernels.value import Value

ACTIVATIONS: dict[str, Callable[[Value], Value]] = {
    "Relu": lambda x: x.maximum(0),
    "Sigmoid": sigmoid,
    "Tanh": tanh,
}

RecurrentOp = tri.Recurrent | cpu.PackedRecurrent | tri.QuantizedLstm | cpu.DotLstm


def activations_of(
    op: RecurrentOp, defaults: tuple[str, ...], directions: int
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


@dataclass(frozen=True)
class Step:
    """Hold what one step of a direction reads and writes; it updates `states` in place."""

    layer: Layer
    time: IndexExpr
    states: Sequence[Buffer]
    y: Epilogue
    direction: IndexExpr

    def gate(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contribution of the inputs to a gate."""
        row = self.time * self.layer.batch + at[0]
        return self.layer.inputs.load([row, at[1] + which * self.layer.hidden], lanes)

    def total(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contributions of the inputs and of the state to a gate."""
        return self.gate(which, at, lanes) + self.layer.recalled(which, at, lanes)

    def store(self, output: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
        """Store the output, which is the first state too."""
        self.states[0].store(output, at, lanes)
        self.y.store(output, [self.time, self.direction, *at], lanes)


Functions = Sequence[Callable[[Value], Value]]

Cell = Callable[[Functions, Allocate], Callable[[Step], None]]
"""Make the function that emits a step of a cell with some activations."""


def plain_cell(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
    """Make the step of a plain cell."""
    (f,) = functions

    def emit(step: Step) -> None:
        step.layer.recall(step.states[0], 0)
        step.layer.each(lambda at, lanes: step.store(f(step.total(0, at, lanes)), at, lanes))

    return emit


def lstm_cell(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
    """Make the step of long short-term memory."""
    f, g, show = functions

    def emit(step: Step) -> None:
        h, c = step.states
        step.layer.recall(h, 0)

        def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
            taken, shown, kept, new = (step.total(i, at, lanes) for i in range(4))
            memory = f(kept) * c.load(at, lanes) + f(taken) * g(new)
            output = f(shown) * show(memory)
            c.store(memory, at, lanes)
            step.store(output, at, lanes)

        step.layer.each(unit)

    return emit


Bias = Callable[[IndexExpr, list[IndexExpr], Lanes | None], Value]
"""Load the bias of the contribution of the state to the hidden part, of a direction."""


def gru_cell(linear_before_reset: bool, bias: Bias | None) -> Cell:
    """Return the cell of gated recurrent units.

    With `linear_before_reset` the state is multiplied by all weights at once, otherwise by those of
    the gates and of the hidden part one after the other.
    """

    def recalled_hidden(step: Step, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        recalled = step.layer.recalled(2, at, lanes)
        return recalled if bias is None else recalled + bias(step.direction, at, lanes)

    def linear(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
        f, g = functions

        def emit(step: Step) -> None:
            (h,) = step.states
            step.layer.recall(h, 0)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                z, reset = (f(step.total(i, at, lanes)) for i in range(2))
                recalled = reset * recalled_hidden(step, at, lanes)
                new = g(step.gate(2, at, lanes) + recalled)
                step.store((1 - z) * new + z * h.load(at, lanes), at, lanes)

            step.layer.each(unit)

        return emit

    def scaled(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
        f, g = functions
        update, kept = allocate(), allocate()

        def emit(step: Step) -> None:
            (h,) = step.states
            step.layer.recall(h, 0)

            def gates(at: list[IndexExpr], lanes: Lanes | None) -> None:
                z, reset = (f(step.total(i, at, lanes)) for i in range(2))
                update.store(z, at, lanes)
                kept.store(reset * h.load(at, lanes), at, lanes)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                recalled = recalled_hidden(step, at, lanes)
                new = g(step.gate(2, at, lanes) + recalled)
                z = update.load(at, lanes)
                step.store((1 - z) * new + z * h.load(at, lanes), at, lanes)

            step.layer.each(gates)
            step.layer.recall(kept, 1)
            step.layer.each(unit)

        return emit

    return linear if linear_before_reset else scaled


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
        emit = self.cell([ACTIVATIONS[name] for name in activations], self.allocate)
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
            time = direction.time(i, layer.length)
            emit(Step(layer, time, self.states, self.y, direction.number))

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
        op: RecurrentOp,
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
