"""Kernels that learn something of each row of a tensor, and then change its elements by that."""

from collections.abc import Callable, Sequence

from ..schedule.row_plan import normalization_plan
from .buffer import Buffer
from .builder import KernelBuilder
from .epilogue import Epilogue
from .reductions import Reduction
from .rows import Columns, Layout, Rows, combine_parts, reduce_parts
from .value import Value

Element = Callable[[Value], Value]
Prepare = Callable[[list[Value]], list[Value]]
Change = Callable[[Columns, Value, list[Value]], Value]
"""Return new elements of a block: from its columns, its elements, and numbers for each row."""


def change_rows(
    kernel: KernelBuilder,
    x: Buffer,
    axes: Sequence[int],
    epilogue: Epilogue,
    reduction: Reduction,
    change: Change,
    element: Element = lambda x: x,
    prepare: Prepare = lambda state: state,
) -> None:
    """Reduce `element` of the elements along some dims, then change each element.

    `prepare` makes of the state of each row what `change` needs. A row that fits in registers is
    read once. A longer one is read twice: by one program where there are many rows, else by many
    programs, in two kernels.
    """
    if 0 in x.shape:
        return
    layout = Layout.of(x, axes)
    plan = normalization_plan(layout.rows, layout.length, layout.along)

    def load(columns: Columns, source: Buffer) -> Value:
        return columns.load(source, reduction.identities[0])

    def load_element(columns: Columns, source: Buffer) -> Value:
        return element(load(columns, source))

    if plan.parts == 1:
        rows = Rows(kernel, layout, plan)
        state = rows.reduce(reduction, lambda columns: load_element(columns, x))
    else:
        parts = reduce_parts(kernel, x, layout, plan, reduction, load_element)
        part = kernel.programs(plan.parts).named("part")
        rows = Rows(kernel, layout, plan, (part * plan.span).named("begin"))
        state = combine_parts(kernel, reduction, parts, rows.index)
    numbers = [number.expand(1) for number in prepare(state)]
    rows.each(
        lambda columns: epilogue.store(change(columns, load(columns, x), numbers), columns.at)
    )
