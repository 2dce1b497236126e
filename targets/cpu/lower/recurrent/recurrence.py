"""The walk of a recurrent layer along time, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import cpu, tri
from .....dialects.core.tensor import Tensor
from .....dialects.tri.recurrent.recurrence import NamedActivation, named_activations
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, as_index, for_each, index_of
from ...kernels.value import Value
from .activations import function_of

RecurrentOp = tri.Recurrent | cpu.PackedRecurrent | tri.QuantizedLstm | cpu.DotLstm


def activations_of(
    op: RecurrentOp, defaults: tuple[str, ...], directions: int
) -> list[tuple[NamedActivation, ...]]:
    """Return the activations of each direction: `defaults` if the op names none."""
    count = len(defaults)
    named = named_activations(op.activations or defaults * directions, op.alphas, op.betas)
    return [tuple(named[first : first + count]) for first in range(0, len(named), count)]


Allocate = Callable[[], Buffer]
"""Get memory for numbers of the cells, [batch, hidden]."""


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
    clip: float

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

    def time(self, step: IndexExpr, length: IndexExpr) -> IndexExpr:
        """Return the time of a step."""
        if self.back.known is not None:
            return length - 1 - step if self.back.known else step
        return step + self.back * (length - 1 - step * 2)


@dataclass(frozen=True)
class Step:
    """Hold what one step of a direction reads and writes; it updates `states` in place.

    Rows of the batch have `lengths`, or all the whole one. Beyond it a row has no more steps: its
    state stays, and its output is zero.
    """

    layer: Layer
    number: IndexExpr
    states: Sequence[Buffer]
    y: Epilogue
    direction: Direction
    lengths: Buffer | None

    def place(self, row: IndexExpr) -> tuple[IndexExpr, Value | None]:
        """Return the time of a row, and whether it has this step where some may not have it."""
        whole = self.layer.length
        if self.lengths is None:
            return self.direction.time(self.number, as_index(whole)), None
        length = index_of(self.lengths.load([row])).minimum(whole)
        active = self.number.less(length)
        return self.direction.time(self.number, length).select(active, self.number), active

    def gate(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contribution of the inputs to a gate."""
        time, _ = self.place(at[0])
        row = time * self.layer.batch + at[0]
        return self.layer.inputs.load([row, at[1] + which * self.layer.hidden], lanes)

    def total(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contributions of the inputs and of the state to a gate."""
        return self.gate(which, at, lanes) + self.layer.recalled(which, at, lanes)

    def activate(self, function: Callable[[Value], Value], x: Value) -> Value:
        """Apply the activation of a gate, whose input the layer may clip."""
        limit = self.layer.clip
        return function(x.maximum(-limit).minimum(limit) if limit else x)

    def keep(self, part: int, value: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
        """Store a part of the state."""
        state = self.states[part]
        _, active = self.place(at[0])
        state.store(_where(active, value, lambda: state.load(at, lanes)), at, lanes)

    def store(self, output: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
        """Store the output, which is the first state too."""
        self.keep(0, output, at, lanes)
        time, active = self.place(at[0])
        shown = _where(active, output, lambda: output.like(0))
        self.y.store(shown, [time, self.direction.number, *at], lanes)


def _where(active: Value | None, value: Value, other: Callable[[], Value]) -> Value:
    return value if active is None else active.select(value, other())


Functions = Sequence[Callable[[Value], Value]]

Cell = Callable[[Functions, Allocate], Callable[[Step], None]]
"""Make the function that emits a step of a cell with some activations."""


def columns_of(matrix: Buffer, first: IndexExpr, count: int) -> Buffer:
    """View some neighbouring columns of a matrix."""
    tensor = Tensor((matrix.shape[0], count), matrix.dtype)
    return Buffer(matrix.memory, tensor, matrix.strides, matrix.offset + first)


@dataclass(frozen=True)
class Walk:
    """Emit the steps of the directions of a layer, from the initial states to the last ones.

    Directions share `states`; initial states that are not given are zero. `lengths` are those of
    the sequences, if they differ.
    """

    cell: Cell
    allocate: Allocate
    states: Sequence[Buffer]
    initial: Sequence[Buffer | None]
    y: Epilogue
    last: Sequence[Epilogue]
    lengths: Buffer | None

    def emit(
        self, layer: Layer, activations: Sequence[NamedActivation], direction: Direction
    ) -> None:
        """Emit one direction."""
        emit = self.cell([function_of(each) for each in activations], self.allocate)
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

            each_vector(state.shape, layer.kernel.lanes(layer.dtype), begin)

        def one(i: IndexExpr) -> None:
            emit(Step(layer, i, self.states, self.y, direction, self.lengths))

        for_each(layer.length, one)
        for state, epilogue in zip(self.states, self.last, strict=True):

            def finish(
                at: list[IndexExpr],
                lanes: Lanes | None,
                state: Buffer = state,
                epilogue: Epilogue = epilogue,
            ) -> None:
                epilogue.store(state.load(at, lanes), [direction.number, *at], lanes)

            each_vector(state.shape, layer.kernel.lanes(layer.dtype), finish)


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
        return Layer(self.kernel, *sizes, inputs, totals, recall, self.dtype, self.op.clip)
