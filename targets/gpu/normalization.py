"""Kernels that learn something of each row of a tensor, and then change its elements by that."""

from collections.abc import Callable, Sequence

from .buffer import Buffer
from .coordinates import Axis, Coordinates
from .folds import Fold
from .kernel import KernelBuilder
from .number import Number, compute_dtype
from .row_costs import normalization_plan
from .rows import Columns, Layout, Rows, fold_parts, merge_parts
from .sink import Sink

Change = Callable[[Columns, Number, list[Number]], Number]
"""Return new elements of a block: from its columns, the elements, and the state of each row."""


def change_rows(
    kernel: KernelBuilder,
    x: Buffer,
    axes: Sequence[int],
    sink: Sink,
    fold: Fold,
    prepare: Callable[[list[Number]], list[Number]],
    change: Change,
) -> None:
    """Fold the elements along some dims, then change each of them.

    A row that fits in registers is read once. A longer one is read twice: by one program where
    there are many rows, else by many programs and two kernels. `prepare` makes of a row's state
    what `change` needs.
    """
    if 0 in x.shape:
        return
    layout = Layout.of(x, axes)
    plan = normalization_plan(layout.rows, layout.length, layout.along)
    pad = fold.identities[0] if len(fold.identities) < _MOMENTS else 0.0

    def load(columns: Columns, source: Buffer) -> Number:
        return columns.load(source, pad).cast(compute_dtype(x.dtype))

    def store(columns: Columns, state: list[Number]) -> None:
        sink.store(change(columns, load(columns, x), state), columns.at)

    if plan.parts == 1:
        rows = Rows(kernel, layout, plan)
        state = prepare(rows.fold(fold, lambda columns: load(columns, x)))
        rows.each(lambda columns: store(columns, state))
        return
    parts = fold_parts(kernel, x, layout, plan, fold, load)
    part = kernel.programs(plan.parts).named("part")
    rows = Rows(kernel, layout, plan, (part * plan.span).named("begin"))
    state = prepare(merge_parts(kernel, fold, parts, rows.index))
    rows.each(lambda columns: store(columns, state))
