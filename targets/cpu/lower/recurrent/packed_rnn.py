"""Lowerings of recurrent layers on packed weights: the walk along time is all that is left."""

from collections.abc import Sequence
from functools import partial

from .....dialects import cpu
from .....dialects.core.sizes.atoms import is_symbolic
from .....dialects.core.tensor import COMPUTED
from .....dialects.tri.recurrent.recurrence import NamedActivation
from ....element_types import PACKED, ElementTypes
from ...kernels.buffer import Buffer, Lanes
from ...kernels.builder import KernelBuilder
from ...kernels.epilogue import Epilogue, each_vector
from ...kernels.index import IndexExpr
from ...kernels.loops import Piece, cut, each_of
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
    Unit,
    Units,
    Walk,
    activations_of,
    columns_of,
)


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
    layer = PackedLayer(op, kernel, x, r, (1,))
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
    layer = PackedLayer(op, kernel, x, r, (4,))

    def project(direction: IndexExpr, shown: Buffer, finish: Finish) -> None:
        assert projection is not None
        panels = _panels(projection, direction)
        layer.multiply(shown, panels, IndexExpr(0), y_h.shape[-1], finish)

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
    parts = cpu.gru_parts(op.linear_before_reset)
    layer = PackedLayer(op, kernel, x, r, parts)
    layer.run(("Sigmoid", "Tanh"), cell, [initial_h], y, [y_h], sequence_lens)


class PackedLayer(RecurrentLayer):
    """Emit both directions of a layer: in parallel if their cells are the same."""

    def __init__(
        self,
        op: RecurrentOp,
        kernel: KernelBuilder,
        x: Buffer,
        r: Buffer,
        parts: Sequence[int],
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
        states = [self.memory((2, self.batch, each.shape[-1]), self.dtype) for each in last]
        allocate = partial(self.memory, (self.batch, self.hidden), self.dtype)
        walk = Walk(cell, allocate, states, initial, y, last, lengths)

        def emit(number: IndexExpr, names: Sequence[NamedActivation]) -> None:
            back = IndexExpr(1) if self.op.direction == "reverse" else number
            walk.emit(self._direction(number), names, Direction(number, back))

        if same:
            each_of(directions, lambda number: emit(number, functions[0]))
        else:
            for number, names in enumerate(functions):
                emit(IndexExpr(number), names)

    def _direction(self, number: IndexExpr) -> Layer:
        rows = self.length * self.batch
        whole = self.x.reshape((rows, self.x.shape[2]))
        inputs = columns_of(whole, number * self.width, self.width)
        return self.layer(inputs, self.direction_units(number))

    def direction_units(self, number: IndexExpr) -> Units:
        """Return the units of a direction: those of a panel of its weights are a piece.

        If a cache does not keep all of them, each step reads the panels in the order opposite to
        that of the step before: those that it begins with are still near. Otherwise they stay in
        order, for a product reads first the units of a state that were computed first.
        """
        panels, least = _panels(self.r, number), self.r.shape[4]
        totals = self.kernel.private((self.batch, panels.shape[2]), self.dtype)
        _, cache = self.kernel.machine.core.caches
        turns = 2 * panels.tensor.size_bytes > cache

        def units(step: IndexExpr, state: Buffer, part: int, unit: Unit) -> Sequence[Piece]:
            block = cpu.units_of_panel(self.parts, part, least)
            before = sum(cpu.panels_of_parts(self.hidden, self.parts, least)[:part])
            back = step % 2 if turns else IndexExpr(0)

            def emit(number: IndexExpr, count: int) -> None:
                """Emit so many units of a panel."""
                self.multiply(
                    state,
                    panels,
                    number + before,
                    self.parts[part] * block,
                    lambda i, j, total, lanes: totals.store(total, [i, j], lanes),
                    skipped=back * -2,
                )

                def one(at: list[IndexExpr], lanes: Lanes | None) -> None:
                    def recalled(which: int) -> Value:
                        return totals.load([at[0], at[1] + which * block], lanes)

                    unit([at[0], number * block + at[1]], lanes, recalled)

                each_vector((self.batch, count), self.kernel.lanes(self.dtype), one)

            full, rest, some = cut(self.hidden, block)

            def turned(number: IndexExpr) -> IndexExpr:
                return number + back * (IndexExpr(full - 1) - number * 2)

            return [
                Piece(full, lambda number: emit(turned(number), block)),
                Piece(some, lambda _: emit(IndexExpr(full), rest)),
            ]

        return units

    def multiply(
        self,
        state: Buffer,
        panels: Buffer,
        first: IndexExpr,
        columns: int,
        finish: Finish,
        skipped: IndexExpr | None = None,
    ) -> None:
        """Multiply a state by some columns, which a first panel and those behind it hold.

        A tile is as wide as a panel, where the registers suffice. The panel that is read next is
        `skipped` ones behind the one that follows.
        """
        rows = 0 if is_symbolic(self.batch) else self.batch
        depth, width = panels.shape[1:]
        tile = fit_tile(self.kernel.machine, self.dtype, self.batch, width, rows)
        Contraction(
            self.batch,
            columns,
            (depth,),
            self.dtype,
            lambda rows, i, k: state.load([rows.first + i, *k]),
            StoredPanel(panels, (depth,), tile, first, skipped=skipped or IndexExpr(0)),
            finish,
        ).emit(tile)


def _panels(weights: Buffer, direction: IndexExpr) -> Buffer:
    """Return the panels of a direction, [panels, depth, columns]."""
    _, panels, depth, gates, units = weights.shape
    return weights.part([direction]).reshape((panels, depth, gates * units))
