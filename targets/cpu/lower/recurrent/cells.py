"""The cells of recurrent layers: what a step computes of the inputs and the state."""

from collections.abc import Callable

from .....dialects import cpu, tri
from ...kernels.buffer import Buffer, Lanes
from ...kernels.index import IndexExpr
from ...kernels.value import Value
from ..products.matmul import Finish
from .recurrence import Allocate, Cell, Functions, Step


def plain_cell(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
    """Make the step of a plain cell."""
    (f,) = functions

    def emit(step: Step) -> None:
        step.layer.recall(step.states[0], 0)

        def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
            step.store(step.activate(f, step.total(0, at, lanes)), at, lanes)

        step.layer.each(unit)

    return emit


Project = Callable[[IndexExpr, Buffer, Finish], None]
"""Multiply the outputs of a step, [batch, hidden], by the weights of a direction."""


def lstm_cell(
    op: tri.Lstm | tri.QuantizedLstm | cpu.PackedLstm | cpu.DotLstm,
    p: Buffer | None = None,
    project: Project | None = None,
) -> Cell:
    """Return the cell of long short-term memory; `p` are the weights of its peepholes."""

    def cell(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
        f, g, show = functions
        shown = None if project is None else allocate()

        def emit(step: Step) -> None:
            h, c = step.states
            step.layer.recall(h, 0)

            def gate(which: int, memory: Value, at: list[IndexExpr], lanes: Lanes | None) -> Value:
                total = step.total(which, at, lanes)
                if p is not None:
                    column = at[1] + which * op.hidden_size
                    total = total + p.load([step.direction.number, column], lanes) * memory
                return step.activate(f, total)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                memory = c.load(at, lanes)
                taken = gate(0, memory, at, lanes)
                kept = 1 - taken if op.input_forget else gate(2, memory, at, lanes)
                new = step.activate(g, step.total(3, at, lanes))
                memory = kept * memory + taken * new
                output = gate(1, memory, at, lanes) * show(memory)
                step.keep(1, memory, at, lanes)
                if shown is None:
                    step.store(output, at, lanes)
                else:
                    shown.store(output, at, lanes)

            step.layer.each(unit)
            if project is not None and shown is not None:
                direction = step.direction.number
                project(direction, shown, lambda i, j, y, lanes: step.store(y, [i, j], lanes))

        return emit

    return cell


Bias = Callable[[IndexExpr, list[IndexExpr], Lanes | None], Value]
"""Load the bias of the contribution of the state to the hidden part, of a direction."""


def gru_cell(linear_before_reset: bool, bias: Bias | None) -> Cell:
    """Return the cell of gated recurrent units.

    With `linear_before_reset` the state is multiplied by all weights at once, otherwise by those of
    the gates and of the hidden part one after the other.
    """

    def recalled_hidden(step: Step, at: list[IndexExpr], lanes: Lanes | None) -> Value:
        recalled = step.layer.recalled(2, at, lanes)
        return recalled if bias is None else recalled + bias(step.direction.number, at, lanes)

    def linear(functions: Functions, allocate: Allocate) -> Callable[[Step], None]:
        f, g = functions

        def emit(step: Step) -> None:
            (h,) = step.states
            step.layer.recall(h, 0)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                z, reset = (step.activate(f, step.total(i, at, lanes)) for i in range(2))
                recalled = reset * recalled_hidden(step, at, lanes)
                new = step.activate(g, step.gate(2, at, lanes) + recalled)
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
                z, reset = (step.activate(f, step.total(i, at, lanes)) for i in range(2))
                update.store(z, at, lanes)
                kept.store(reset * h.load(at, lanes), at, lanes)

            def unit(at: list[IndexExpr], lanes: Lanes | None) -> None:
                recalled = recalled_hidden(step, at, lanes)
                new = step.activate(g, step.gate(2, at, lanes) + recalled)
                z = update.load(at, lanes)
                step.store((1 - z) * new + z * h.load(at, lanes), at, lanes)

            step.layer.each(gates)
            step.layer.recall(kept, 1)
            step.layer.each(unit)

        return emit

    return linear if linear_before_reset else scaled
