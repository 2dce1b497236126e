"""Kernels that learn something of each row of a tensor, and then change its elements by that."""

from collections.abc import Callable, Sequence

from ..schedule.row_plan import normalization_plan
from .buffer import Buffer
from .builder import KernelBuilder
from .epilogue import Sink
from .reductions import Fold
from .rows import Columns, Layout, Rows, fold_parts, merge_parts
from .value import Number

Element = Callable[[Number], Number]
Prepare = Callable[[list[Number]], list[Number]]
Change = Callable[[Columns, Number, list[Number]], Number]
"""Return new elements of a block: from its columns, its elements, and numbers for each row."""


def change_rows(
    kernel: KernelBuilder,
    x: Buffer,
    axes: Sequence[int],
    sink: Sink,
    fold: Fold,
    change: Change,
    element: Element = lambda x: x,
    prepare: Prepare = lambda state: state,
) -> None:
    """Fold what `element` makes of the elements along some dims, then change each of them.

    `prepare` makes of the state of each row what `change` needs. A row that fits in registers is
    read once. A longer one is read twice: by one program where there are many rows, else by many
    programs, in two kernels.
    """
    if 0 in x.shape:
        return
    layout = Layout.of(x, axes)
    plan = normalization_plan(layout.rows, layout.length, layout.along)

    def load(columns: Columns, source: Buffer) -> Number:
        return columns.load(source, fold.identities[0])

    def fold_element(columns: Columns, source: Buffer) -> Number:
        return element(load(columns, source))

    if plan.parts == 1:
        rows = Rows(kernel, layout, plan)
        state = rows.fold(fold, lambda columns: fold_element(columns, x))
    else:
        parts = fold_parts(kernel, x, layout, plan, fold, fold_element)
        part = kernel.programs(plan.parts).named("part")
        rows = Rows(kernel, layout, plan, (part * plan.span).named("begin"))
        state = merge_parts(kernel, fold, parts, rows.index)
    numbers = [number.expand(1) for number in prepare(state)]
    rows.each(lambda columns: sink.store(change(columns, load(columns, x), numbers), columns.at))
