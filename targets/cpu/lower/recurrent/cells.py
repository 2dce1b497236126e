"""The cells of recurrent layers: what a step computes of the inputs and the state."""

from collections.abc import Callable, Sequence

from .....dialects import cpu, tri
from ...kernels.buffer import Buffer, Lanes
from ...kernels.index import IndexExpr
from ...kernels.loops import Piece
from ...kernels.value import Value
from ..products.matmul import Finish
from .recurrence import Allocate, Cell, Functions, Recalled, Stage, Step


def plain_cell(functions: Functions, allocate: Allocate) -> Sequence[Stage]:
    """Make the only stage of a plain cell."""
    (f,) = functions

    def stage(step: Step) -> Sequence[Piece]:
        def unit(at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled) -> None:
            step.store(step.activate(f, step.total(0, at, lanes, recalled)), at, lanes)

        return step.units(step.before[0], 0, unit)

    return [stage]


Project = Callable[[IndexExpr, Buffer, Finish], None]
"""Multiply the outputs of a step, [batch, hidden], by the weights of a direction."""


def lstm_cell(
    op: tri.Lstm | tri.QuantizedLstm | cpu.PackedLstm | cpu.DotLstm,
    p: Buffer | None = None,
    project: Project | None = None,
) -> Cell:
    """Return the cell of long short-term memory; `p` are the weights of its peepholes."""

    def cell(functions: Functions, allocate: Allocate) -> Sequence[Stage]:
        f, g, show = functions
        shown = None if project is None else allocate()

        def units(step: Step) -> Sequence[Piece]:
            h, c = step.before

            def unit(at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled) -> None:
                def gate(which: int, memory: Value) -> Value:
                    total = step.total(which, at, lanes, recalled)
                    if p is not None:
                        column = at[1] + which * op.hidden_size
                        total = total + p.load([step.direction.number, column], lanes) * memory
                    return step.activate(f, total)

                memory = c.load(at, lanes)
                taken = gate(0, memory)
                kept = 1 - taken if op.input_forget else gate(2, memory)
                new = step.activate(g, step.total(3, at, lanes, recalled))
                memory = kept * memory + taken * new
                output = gate(1, memory) * show(memory)
                step.keep(1, memory, at, lanes)
                if shown is None:
                    step.store(output, at, lanes)
                else:
                    shown.store(output, at, lanes)

            return step.units(h, 0, unit)

        if project is None or shown is None:
            return [units]
        return [units, _projection(project, shown)]

    return cell


def _projection(project: Project, shown: Buffer) -> Stage:
    """Return the stage that projects the outputs of a step."""

    def stage(step: Step) -> Sequence[Piece]:
        direction, store = step.direction.number, step.store

        def whole(_: IndexExpr) -> None:
            project(direction, shown, lambda i, j, y, lanes: store(y, [i, j], lanes))

        return [Piece(1, whole)]

    return stage


Bias = Callable[[IndexExpr, list[IndexExpr], Lanes | None], Value]
"""Load the bias of the contribution of the state to the hidden part, of a direction."""


def gru_cell(linear_before_reset: bool, bias: Bias | None) -> Cell:
    """Return the cell of gated recurrent units.

    With `linear_before_reset` the state is multiplied by all weights at once, otherwise by those of
    the gates and of the hidden part one after the other.
    """

    def biased(recalled: Value, step: Step, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        return recalled if bias is None else recalled + bias(step.direction.number, at, lanes)

    def linear(functions: Functions, allocate: Allocate) -> Sequence[Stage]:
        f, g = functions

        def stage(step: Step) -> Sequence[Piece]:
            (h,) = step.before

            def unit(at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled) -> None:
                z, reset = (step.activate(f, step.total(i, at, lanes, recalled)) for i in range(2))
                hidden = reset * biased(recalled(2), step, at, lanes)
                new = step.activate(g, step.gate(2, at, lanes) + hidden)
                step.store((1 - z) * new + z * h.load(at, lanes), at, lanes)

            return step.units(h, 0, unit)

        return [stage]

    def scaled(functions: Functions, allocate: Allocate) -> Sequence[Stage]:
        f, g = functions
        update, kept = allocate(), allocate()

        def gates(step: Step) -> Sequence[Piece]:
            (h,) = step.before

            def unit(at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled) -> None:
                z, reset = (step.activate(f, step.total(i, at, lanes, recalled)) for i in range(2))
                update.store(z, at, lanes)
                kept.store(reset * h.load(at, lanes), at, lanes)

            return step.units(h, 0, unit)

        def hidden(step: Step) -> Sequence[Piece]:
            (h,) = step.before

            def unit(at: list[IndexExpr], lanes: Lanes | None, recalled: Recalled) -> None:
                own = biased(recalled(0), step, at, lanes)
                new = step.activate(g, step.gate(2, at, lanes) + own)
                z = update.load(at, lanes)
                step.store((1 - z) * new + z * h.load(at, lanes), at, lanes)

            return step.units(kept, 1, unit)

        return [gates, hidden]

    return linear if linear_before_reset else scaled
