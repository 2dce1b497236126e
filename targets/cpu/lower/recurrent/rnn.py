"""Lowerings of recurrent layers whose weights are not known: these are transposed first.

For each direction one matrix product multiplies all inputs, and the walk along time follows.
"""

from collections.abc import Sequence
from functools import partial

from .....dialects import cpu, tri
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue
from ...kernels.index import IndexExpr, for_each
from ...kernels.transposition import store_transposed
from ...kernels.value import Value
from ...registry import accepts, template
from ..products.matmul import Finish, emit_matrix_product
from .cells import gru_cell, lstm_cell, plain_cell
from .recurrence import (
    Cell,
    Direction,
    Layer,
    RecurrentLayer,
    Walk,
    activations_of,
    columns_of,
)


@accepts(tri.Rnn, tri.Gru, tri.Lstm)
def sequence_first(op: tri.Recurrent) -> bool:
    """Runs recurrent layers only with layout 0, which the pass sequence-first gives others"""
    return op.layout == 0


@template(tri.Rnn)
def lower_rnn(
    op: tri.Rnn,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    layer = _PlainLayer(op, kernel, x, w, r, b, parts=(1,), added=1)
    layer.run(("Tanh",), plain_cell, [initial_h], y, [y_h], sequence_lens)


@template(tri.Lstm)
def lower_lstm(
    op: tri.Lstm,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    initial_c: Buffer | None,
    p: Buffer | None,
    projection: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
    y_c: Epilogue,
) -> None:
    layer = _PlainLayer(op, kernel, x, w, r, b, parts=(4,), added=4)

    def project(direction: IndexExpr, shown: Buffer, finish: Finish) -> None:
        assert projection is not None
        weights = projection.part([direction]).transpose((1, 0))
        emit_matrix_product(kernel, shown, weights, finish)

    cell = lstm_cell(op, p, None if projection is None else project)
    functions = ("Sigmoid", "Tanh", "Tanh")
    layer.run(functions, cell, [initial_h, initial_c], y, [y_h, y_c], sequence_lens)


@template(tri.Gru)
def lower_gru(
    op: tri.Gru,
    kernel: KernelBuilder,
    x: Buffer,
    w: Buffer,
    r: Buffer,
    b: Buffer | None,
    sequence_lens: Buffer | None,
    initial_h: Buffer | None,
    y: Epilogue,
    y_h: Epilogue,
) -> None:
    def bias(direction: IndexExpr, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        assert b is not None
        return b.load([direction, at[1] + 5 * op.hidden_size], lanes)

    cell = gru_cell(op.linear_before_reset, None if b is None else bias)
    parts = cpu.gru_parts(op.linear_before_reset)
    layer = _PlainLayer(op, kernel, x, w, r, b, parts, added=2)
    layer.run(("Sigmoid", "Tanh"), cell, [initial_h], y, [y_h], sequence_lens)


class _PlainLayer(RecurrentLayer):
    """Emit the directions of a layer, one after the other.

    The first `added` gates add the bias of the state to that of the inputs.
    """

    def __init__(
        self,
        op: tri.Recurrent,
        kernel: KernelBuilder,
        x: Buffer,
        w: Buffer,
        r: Buffer,
        b: Buffer | None,
        parts: Sequence[int],
        added: int,
    ) -> None:
        super().__init__(op, kernel, x, parts)
        self.w, self.r, self.b = w, r, b
        self.added = added * self.hidden

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
        directions = self.w.shape[0]
        weights = self._scratch(self.x.shape[2], self.width)
        recurrent = self._scratch(self.r.shape[2], self.width)
        layer = self._multiplied(recurrent)
        states = [self._scratch(2, self.batch, each.shape[-1]) for each in last]
        allocate = partial(self._scratch, self.batch, self.hidden)
        walk = Walk(cell, allocate, states, initial, y, last, lengths)
        for number, names in enumerate(activations_of(self.op, defaults, directions)):
            self._prepare(layer.inputs, weights, recurrent, IndexExpr(number))
            back = number == 1 or self.op.direction == "reverse"
            walk.emit(layer, names, Direction(IndexExpr(number), IndexExpr(int(back))))

    def _scratch(self, *shape: int) -> Buffer:
        return self.kernel.scratch(shape, self.dtype)

    def _multiplied(self, recurrent: Buffer) -> Layer:
        totals = self._scratch(self.batch, self.width)

        def recall(state: Buffer, part: int) -> None:
            first, count = (n * self.hidden for n in (sum(self.parts[:part]), self.parts[part]))
            into = columns_of(totals, first, count)
            columns = columns_of(recurrent, first, count)
            emit_matrix_product(
                self.kernel, state, columns, lambda i, j, n, lanes: into.store(n, [i, j], lanes)
            )

        inputs = self._scratch(self.length * self.batch, self.width)
        return self.layer(inputs, self.units(totals, recall))

    def _prepare(
        self, inputs: Buffer, weights: Buffer, recurrent: Buffer, direction: IndexExpr
    ) -> None:
        """Multiply all inputs; transpose the weights first, as they are read along the gates."""
        lanes = self.kernel.lanes(self.dtype)
        rows = self.x.reshape((self.length * self.batch, self.x.shape[2]))
        store_transposed(self.w.part([direction]), weights, lanes)
        bias = self._bias(direction)

        def finish(i: IndexExpr, j: IndexExpr, value: Value, lanes: Lanes) -> None:
            total = value if bias is None else value + bias.load([j], lanes)
            inputs.store(total, [i, j], lanes)

        emit_matrix_product(self.kernel, rows, weights, finish)
        store_transposed(self.r.part([direction]), recurrent, lanes)

    def _bias(self, direction: IndexExpr) -> Buffer | None:
        """Add the bias of the state to that of the inputs, for the first gates."""
        if self.b is None:
            return None
        halves = self.b.reshape((self.b.shape[0], 2, self.width))
        total = self._scratch(self.width)
        for first, last, both in ((0, self.added, True), (self.added, self.width, False)):

            def add(i: IndexExpr, both: bool = both) -> None:
                value = halves.load([direction, IndexExpr(0), i])
                if both:
                    value = value + halves.load([direction, IndexExpr(1), i])
                total.store(value, [i])

            for_each(last, add, start=first)
        return total
