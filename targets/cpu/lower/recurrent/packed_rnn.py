"""Lowerings of recurrent layers on packed weights: the walk along time is all that is left."""

from collections.abc import Callable, Sequence
from functools import partial

from .....dialects import cpu
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import COMPUTED, Shape
from .....dialects.tri.recurrent.recurrence import NamedActivation
from ....element_types import PACKED, ElementTypes
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr
from ...kernels.loops import each_of
from ...kernels.products.contraction import Contraction
from ...kernels.products.panels import StoredPanel
from ...kernels.value import Value
from ...registry import STATES, template
from ...schedule.tiles import fit_tile
from ..products.matmul import Finish
from .cells import gru_cell, lstm_cell, plain_cell
from .recurrence import (
    Cell,
    Direction,
    Layer,
    RecurrentLayer,
    RecurrentOp,
    Walk,
    activations_of,
    columns_of,
)

Recall = Callable[[Buffer, int], None]


@template(cpu.PackedRnn, types=STATES)
def lower_packed_rnn(
    op: cpu.PackedRnn,
    kernel: KernelBuilder,
    x: Buffer,
    r: Buffer,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    layer = PackedLayer(op, kernel, x, r, (op.hidden_size,))
    layer.run(("Tanh",), plain_cell, [initial_h], y, [y_h], sequence_lens)


@template(cpu.PackedLstm, types=ElementTypes(COMPUTED, layouts={"r": PACKED, "projection": PACKED}))
def lower_packed_lstm(
    op: cpu.PackedLstm,
    kernel: KernelBuilder,
    x: Buffer,
    r: Buffer,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: Buffer | None,
    projection: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
    y_c: Epilogue,
) -> None:
    layer = PackedLayer(op, kernel, x, r, (4 * op.hidden_size,))

    def project(direction: IndexExpr, shown: Buffer, finish: Finish) -> None:
        assert projection is not None
        layer.multiply(shown, projection.part([direction]), y_h.shape[-1], finish)

    cell = lstm_cell(op, p, None if projection is None else project)
    functions = ("Sigmoid", "Tanh", "Tanh")
    layer.run(functions, cell, [initial_h, initial_c], y, [y_h, y_c], sequence_lens)


@template(cpu.PackedGru, types=STATES)
def lower_packed_gru(
    op: cpu.PackedGru,
    kernel: KernelBuilder,
    x: Buffer,
    r: Buffer,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    b: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    def bias(direction: IndexExpr, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        assert b is not None
        return b.load([direction, at[1]], lanes)

    cell = gru_cell(op.linear_before_reset, None if b is None else bias)
    parts = cpu.gru_parts(op.hidden_size, op.linear_before_reset)
    layer = PackedLayer(op, kernel, x, r, parts)
    layer.run(("Sigmoid", "Tanh"), cell, [initial_h], y, [y_h], sequence_lens)


class PackedLayer(RecurrentLayer):
    """Emit both directions of a layer: in parallel if their cells are the same."""

    def __init__(
        self, op: RecurrentOp, kernel: KernelBuilder, x: Buffer, r: Buffer, parts: Shape
    ) -> None:
        super().__init__(op, kernel, x, parts)
        self.r = r
        self.memory = kernel.scratch  # private where directions run in parallel

    def run(
        self,
        defaults: tuple[str, ...],
        cell: Cell,
        initial: Sequence[Buffer | None],
        y: Epilogue,
        last: Sequence[Epilogue],
        lengths: Buffer | None,
    ) -> None:
        """Emit the layer, with the activations that it has by default if it names none."""
        directions = self.r.shape[0]
        functions = activations_of(self.op, defaults, directions)
        same = len(set(functions)) == 1
        if directions > 1 and same:
            self.memory = self.kernel.private
        states = [self.memory((self.batch, each.shape[-1]), self.dtype) for each in last]
        allocate = partial(self.memory, (self.batch, self.hidden), self.dtype)
        walk = Walk(cell, allocate, states, initial, y, last, lengths)
        totals = self.memory((self.batch, self.width), self.dtype)

        def emit(number: IndexExpr, names: Sequence[NamedActivation]) -> None:
            back = IndexExpr(1) if self.op.direction == "reverse" else number
            walk.emit(self._direction(number, totals), names, Direction(number, back))

        if same:
            each_of(directions, lambda number: emit(number, functions[0]))
        else:
            for number, names in enumerate(functions):
                emit(IndexExpr(number), names)

    def _direction(self, number: IndexExpr, totals: Buffer) -> Layer:
        rows = self.length * self.batch
        whole = self.x.reshape((rows, self.x.shape[2]))
        inputs = columns_of(whole, number * self.width, self.width)
        return self.layer(inputs, totals, self.recalling(number, totals))

    def recalling(self, number: IndexExpr, totals: Buffer) -> Recall:
        """Return what multiplies a state of a direction by the weights of a part of its gates."""
        panels, columns = self.r.part([number]), self.r.shape[3]

        def recall(state: Buffer, part: int) -> None:
            before = sum(-(-count // columns) for count in self.parts[:part])
            first, count = sum(self.parts[:part]), self.parts[part]
            into = columns_of(totals, IndexExpr(first), count)
            self.multiply(
                state,
                panels,
                count,
                lambda i, j, total, lanes: into.store(total, [i, j], lanes),
                before,
            )

        return recall

    def multiply(
        self,
        state: Buffer,
        panels: Buffer,
        count: int,
        finish: Finish,
        before: int = 0,
    ) -> None:
        """Multiply a state by some columns, stored in panels behind those `before` them.

        A tile is as wide as a panel, where the registers suffice.
        """
        rows = 0 if is_symbolic(self.batch) else self.batch
        depth, columns = panels.shape[1:]
        tile = fit_tile(self.kernel.machine, self.dtype, self.batch, columns, rows)
        Contraction(
            self.batch,
            count,
            (depth,),
            self.dtype,
            lambda rows, i, k: state.load([rows.first + i, *k]),
            StoredPanel(panels, (depth,), tile, IndexExpr(before)),
            finish,
        ).emit(tile)
