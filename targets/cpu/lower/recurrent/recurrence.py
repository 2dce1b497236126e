"""The walk of a recurrent layer along time, step by step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .....dialects import cpu, tri
from .....dialects.core.sizes.atoms import Size
from .....dialects.core.tensor import Tensor
from .....dialects.tri.recurrent.recurrence import NamedActivation, named_activations
from ....kernels.arithmetic import compute_dtype
from ...kernels.buffer import Buffer, Lanes, zero
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr, as_index, for_each, index_of
from ...kernels.loops import Piece, emit_pieces, in_order
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


Recalled = Callable[[int], Value]
"""Load what a state contributes to a gate, by its number in a part of the gates."""

Unit = Callable[[list[IndexExpr], Lanes | None, Recalled], None]
"""Emit some units of a row of the batch, at [row, unit]."""

Units = Callable[[IndexExpr, Buffer, int, Unit], Sequence[Piece]]
"""In a step, multiply a state by the weights of a part of the gates, and emit all units."""


@dataclass(frozen=True)
class Layer:
    """Hold the sizes of a direction of a layer, its inputs, and the product with its weights.

    `inputs` is [steps * batch, gates * hidden]: the inputs, already multiplied.
    """

    kernel: KernelBuilder
    length: Size
    batch: Size
    hidden: int
    inputs: Buffer
    units: Units
    dtype: str
    clip: float


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
    """Hold what one step of a direction reads and writes: the states before it and those after it.

    Rows of the batch have `lengths`, or all the whole one. Beyond it a row has no more steps: its
    state stays, and its output is zero.
    """

    layer: Layer
    number: IndexExpr
    before: Sequence[Buffer]
    after: Sequence[Buffer]
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

    def units(self, state: Buffer, part: int, unit: Unit) -> Sequence[Piece]:
        """Emit all units, once a state is multiplied by the weights of a part of the gates."""
        return self.layer.units(self.number, state, part, unit)

    def gate(self, which: int, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        """Load the contribution of the inputs to a gate."""
        time, _ = self.place(at[0])
        row = time * self.layer.batch + at[0]
        return self.layer.inputs.load([row, at[1] + which * self.layer.hidden], lanes)

    def total(
        self, which: int, at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled
    ) -> Value:
        """Return the contributions of the inputs and of the state to a gate."""
        return self.gate(which, at, lanes) + recalled(which)

    def activate(self, function: Callable[[Value], Value], x: Value) -> Value:
        """Apply the activation of a gate, whose input the layer may clip."""
        limit = self.layer.clip
        return function(x.maximum(-limit).minimum(limit) if limit else x)

    def keep(self, part: int, value: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
        """Store a part of the state."""
        _, active = self.place(at[0])
        kept = _where(active, value, lambda: self.before[part].load(at, lanes))
        self.after[part].store(kept, at, lanes)

    def store(self, output: Value, at: list[IndexExpr], lanes: Lanes | None) -> None:
        """Store the output, which is the first state too."""
        self.keep(0, output, at, lanes)
        time, active = self.place(at[0])
        shown = _where(active, output, lambda: output.like(0))
        self.y.store(shown, [time, self.direction.number, *at], lanes)


def _where(active: Value | None, value: Value, other: Callable[[], Value]) -> Value:
    return value if active is None else active.select(value, other())


Functions = Sequence[Callable[[Value], Value]]

Stage = Callable[[Step], Sequence[Piece]]
"""Emit a part of a step, in independent pieces, once all of the part before it is complete."""

Cell = Callable[[Functions, Allocate], Sequence[Stage]]
"""Make the stages of the steps of a cell with some activations."""


def columns_of(matrix: Buffer, first: IndexExpr | int, count: int) -> Buffer:
    """View some neighbouring columns of a matrix."""
    tensor = Tensor((matrix.shape[0], count), matrix.dtype)
    return Buffer(matrix.memory, tensor, matrix.strides, matrix.offset + first)


@dataclass(frozen=True)
class Walk:
    """Emit the steps of the directions of a layer, from the initial states to the last ones.

    Directions share `states`, [2, batch, elements]: steps read one of two and write the other.
    Initial states that are not given are zero. `lengths` are those of the sequences, if they
    differ.
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
        """Emit one direction. Threads share its steps, if these have one stage."""
        stages = self.cell([function_of(each) for each in activations], self.allocate)
        first, last = IndexExpr(0), as_index(layer.length)
        for state, given in zip(self._states(first), self.initial, strict=True):

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

        def step(i: IndexExpr) -> Step:
            before, after = self._states(i), self._states(i + 1)
            return Step(layer, i, before, after, self.y, direction, self.lengths)

        def all_stages(i: IndexExpr) -> None:
            for stage in stages:
                emit_pieces(stage(step(i)))

        if len(stages) == 1:
            in_order(layer.length, lambda i: stages[0](step(i)))
        else:
            for_each(layer.length, all_stages)
        for state, epilogue in zip(self._states(last), self.last, strict=True):

            def finish(
                at: list[IndexExpr],
                lanes: Lanes | None,
                state: Buffer = state,
                epilogue: Epilogue = epilogue,
            ) -> None:
                epilogue.store(state.load(at, lanes), [direction.number, *at], lanes)

            each_vector(state.shape, layer.kernel.lanes(layer.dtype), finish)

    def _states(self, number: IndexExpr) -> list[Buffer]:
        """Return the states before a step."""
        return [state.part([number % 2]) for state in self.states]


class RecurrentLayer:
    """Hold the sizes of a layer on its inputs.

    A state is multiplied by the weights of all gates of a part at a time; `parts` has their counts.
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
        self.hidden, self.width = op.hidden_size, sum(parts) * op.hidden_size
        self.dtype = compute_dtype(x.dtype)

    def layer(self, inputs: Buffer, units: Units) -> Layer:
        sizes = (self.length, self.batch, self.hidden)
        return Layer(self.kernel, *sizes, inputs, units, self.dtype, self.op.clip)

    def units(self, totals: Buffer, recall: Callable[[Buffer, int], None]) -> Units:
        """Return the units in one piece.

        `recall` multiplies a state by the weights of a part into `totals`, [batch, gates * hidden].
        """

        def units(step: IndexExpr, state: Buffer, part: int, unit: Unit) -> Sequence[Piece]:
            first = sum(self.parts[:part])

            def one(at: list[IndexExpr], lanes: Lanes | None) -> None:
                def recalled(which: int) -> Value:
                    return totals.load([at[0], at[1] + (first + which) * self.hidden], lanes)

                unit(at, lanes, recalled)

            def whole(_: IndexExpr) -> None:
                recall(state, part)
                each_vector((self.batch, self.hidden), self.kernel.lanes(self.dtype), one)

            return [Piece(1, whole)]

        return units
