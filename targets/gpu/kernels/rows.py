"""A tensor as rows: the dims that an op combines are their columns, in any order in memory."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ....dialects.core.sizes.dim import lowest
from ....dialects.core.sizes.substitution import likely
from ....dialects.core.tensor import Shape, Tensor
from ...kernels.arithmetic import compute_dtype
from ..schedule.candidates import row_settings
from ..schedule.product_blocks import next_power
from ..schedule.row_plan import RowPlan
from .buffer import Buffer
from .builder import KernelBuilder
from .coordinates import Axis, Coordinates
from .loop import loop
from .reductions import Reduction
from .value import Value, full, scalar

ROWS, COLUMNS, PARTS = "ROWS", "COLUMNS", "PARTS"

Element = Callable[["Columns", Buffer], Value]
"""Return the elements of a block of columns, from the buffer of the rows."""


@dataclass(frozen=True)
class Layout:
    """Split the dims of a tensor into kept ones and combined ones, both in their memory's order.

    `along` is whether adjacent elements in memory belong to one row.
    """

    shape: Shape
    kept: tuple[int, ...]
    combined: tuple[int, ...]
    along: bool

    @staticmethod
    def of(x: Buffer, axes: Sequence[int]) -> "Layout":
        dims = [dim for dim, size in enumerate(x.shape) if size != 1]
        dims.sort(key=lambda dim: -likely(x.strides[dim]))
        kept = tuple(dim for dim in dims if dim not in axes)
        combined = tuple(dim for dim in dims if dim in axes)
        return Layout(x.shape, kept, combined, not kept or dims[-1] in axes)

    @property
    def rows(self) -> int:
        return math.prod(self.shape[dim] for dim in self.kept)

    @property
    def length(self) -> int:
        return math.prod(self.shape[dim] for dim in self.combined)


class Rows:
    """Walk the rows of a program in a kernel. All buffers that it reads have the layout's shape.

    A program's columns are those from `first` on, `plan.span` of them.
    """

    def __init__(
        self, kernel: KernelBuilder, layout: Layout, plan: RowPlan, first: Value | int = 0
    ) -> None:
        self.layout, self.plan, self.first = layout, plan, first
        kernel.warps = plan.warps
        self.index = kernel.axis(layout.rows, ROWS, plan.rows, name="rows")
        kernel.block_of(COLUMNS, plan.columns)
        kernel.candidates = row_settings(plan)
        self._kernel = kernel
        self._known: Columns | None = None

    def reduce(self, reduction: Reduction, element: "Callable[[Columns], Value]") -> list[Value]:
        """Combine the elements of each row; returns numbers for each row."""
        if self.layout.length == 0:
            return reduction.identity(ROWS)
        if self.plan.whole:
            columns = self._whole()
            return reduction.reduce(element(columns), columns)

        def step(offset: Value, *state: Value) -> list[Value]:
            columns = self.columns(offset + self.first)
            return reduction.combine(state, reduction.initial(element(columns), columns))

        start = reduction.identity(ROWS, COLUMNS)
        return reduction.combine_lanes(
            loop(0, self.plan.span, self.plan.columns, start, step, "offset")
        )

    def each(self, body: "Callable[[Columns], None]") -> None:
        """Visit all columns, in blocks."""
        if self.plan.whole:
            body(self._whole())
            return

        def step(offset: Value) -> list[Value]:
            body(self.columns(offset + self.first))
            return []

        loop(0, self.plan.span, self.plan.columns, [], step, "offset")

    def _whole(self) -> "Columns":
        if self._known is None:
            self._known = self.columns(self.first)
        return self._known

    def columns(self, first: Value | int) -> "Columns":
        """Return a block of columns, from some column on."""
        index = self._kernel.indices(first, COLUMNS, "columns")
        return Columns(self, index.expand(0))


@dataclass(frozen=True)
class Columns:
    """A block of columns of a program's rows."""

    rows: Rows
    index: Value
    _loaded: dict[tuple[Buffer, float], Value] = field(
        default_factory=dict[tuple[Buffer, float], Value]
    )

    @property
    def at(self) -> Coordinates:
        """Return where the elements are in a tensor of the layout's shape."""
        layout = self.rows.layout
        axes = (Axis(layout.kept, self.rows.index.expand(1)), Axis(layout.combined, self.index))
        return Coordinates(layout.shape, axes)

    def load(self, buffer: Buffer, pad: float = 0.0) -> Value:
        """Load the elements of a buffer, once; elements out of bounds are `pad`."""
        if (buffer, pad) not in self._loaded:
            # The index of the one row would keep loads from being wide.
            at = self.at if self.rows.layout.kept else replace(self.at, axes=self.at.axes[1:])
            found = buffer.load_raw(at, float(pad) if _is_exact(pad) else 0.0, whole=True)
            number = found.cast(compute_dtype(buffer.dtype))
            while len(number.shape) < 2:  # one row, or rows of one element
                number = number.expand(0)
            self._loaded[buffer, pad] = number if _is_exact(pad) else self.only(number, pad)
        return self._loaded[buffer, pad]

    def only(self, number: Value, otherwise: float) -> Value:
        """Replace the elements beyond the end of a row."""
        end = self._end
        return number if end is None else self.index.less(end).select(number, otherwise)

    def moved(self, offset: int) -> "Columns":
        """Return the columns at some distance."""
        return Columns(self.rows, self.index + offset)

    def count(self, dtype: str) -> Value:
        """Return how many elements of a row are there, when the plan has all that is read."""
        rows, length = self.rows, self.rows.layout.length
        if not isinstance(rows.first, Value):
            return full(lowest(rows.plan.span, length), dtype)
        return (scalar(length) - rows.first).minimum(rows.plan.span).cast(dtype)

    @property
    def _end(self) -> int | None:
        """Return the length of a row, or None when all columns are within it."""
        plan, length = self.rows.plan, self.rows.layout.length
        fixed = plan.whole and not isinstance(self.rows.first, Value)
        return None if fixed and plan.columns == length else length


def reduce_rows(
    kernel: KernelBuilder,
    x: Buffer,
    layout: Layout,
    plan: RowPlan,
    reduction: Reduction,
    element: Element,
) -> "tuple[Value, list[Value]]":
    """Reduce rows, in two kernels if the plan splits rows into parts.

    Returns the indices of a program's rows, and the state of each.
    """
    if plan.parts == 1:
        rows = Rows(kernel, layout, plan)
        return rows.index, rows.reduce(reduction, lambda columns: element(columns, x))
    parts = reduce_parts(kernel, x, layout, plan, reduction, element)
    index = kernel.axis(layout.rows, ROWS, plan.rows, name="rows")
    return index, combine_parts(kernel, reduction, parts, index)


def reduce_parts(
    kernel: KernelBuilder,
    x: Buffer,
    layout: Layout,
    plan: RowPlan,
    reduction: Reduction,
    element: Element,
) -> list[Buffer]:
    """Add a prior kernel that reduces parts of rows; returns their states, as [parts, rows]."""
    first = kernel.prior_kernel("partial")
    source = first.import_buffer(x)
    with first:
        part = first.programs(plan.parts).named("part")
        rows = Rows(first, layout, plan, (part * plan.span).named("begin"))
        state = rows.reduce(reduction, lambda columns: element(columns, source))
        shape = (plan.parts, layout.rows)
        made = [first.intermediate(Tensor(shape, dtype)) for dtype in reduction.dtypes]
        for buffer, number in zip(made, state, strict=True):
            buffer.store(number, [part, rows.index])
    return [kernel.import_buffer(buffer) for buffer in made]


def combine_parts(
    kernel: KernelBuilder, reduction: Reduction, parts: Sequence[Buffer], index: Value
) -> list[Value]:
    """Combine the states of the parts of the rows at some indices."""
    count = parts[0].shape[0]
    fixed = (PARTS, next_power(count))
    kernel.block_of(*fixed)
    kernel.candidates = [replace(c, blocks=(*c.blocks, fixed)) for c in kernel.candidates]
    part = kernel.indices(0, PARTS, "part").expand(0)
    found = [buffer.load([part, index.expand(1)]) for buffer in parts]
    if count != next_power(count):
        pairs = zip(found, reduction.identities, strict=True)
        found = [part.less(count).select(number, identity) for number, identity in pairs]
    return reduction.combine_lanes(found)


def _is_exact(pad: float) -> bool:
    """Return whether a pad is the same as a float of 64 bits: the greatest integers are not."""
    return math.isinf(pad) or math.isnan(pad) or int(float(pad)) == pad
